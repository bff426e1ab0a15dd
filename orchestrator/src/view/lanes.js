// A lane for each member along the events, and the messages between them.

const COLOURS = {
  light: ["#0b57d0", "#b3261e", "#137333", "#8430ce", "#b06000", "#00796b", "#9c166b", "#5f6368"],
  dark: ["#8ab4f8", "#f28b82", "#81c995", "#d7aefb", "#fcad70", "#4dd0c0", "#ff8bcb", "#bdc1c6"],
};
const DASHES = [[], [7, 3], [2, 3], [9, 3, 2, 3], [4, 4], [12, 4], [1, 4], [6, 2, 1, 2, 1, 2]];

function dark() {
  return !document.documentElement.classList.contains("paper") && matchMedia("(prefers-color-scheme: dark)").matches;
}

function colourOf(run, kind) {
  const colours = dark() ? COLOURS.dark : COLOURS.light;
  return colours[run.kind(kind) % colours.length];
}

function dashOf(run, kind) {
  return DASHES[run.kind(kind) % DASHES.length];
}

class Lanes {
  constructor(canvas, run) {
    this.canvas = canvas;
    this.run = run;
    this.axis = "order";
    this.spacing = 22;
    this.left = 34;
  }

  get laneHeight() {
    return Math.max(7, Math.min(34, Math.floor(420 / this.run.nodes)));
  }

  // Where the middle of the picture is: the cursor, but not beyond the ends.
  frame(cursor) {
    const box = this.canvas.parentElement;
    const width = box.clientWidth;
    const height = this.run.nodes * this.laneHeight + 26;
    const scale = window.devicePixelRatio || 1;
    if (this.canvas.width !== Math.round(width * scale) || this.canvas.height !== Math.round(height * scale)) {
      this.canvas.width = Math.round(width * scale);
      this.canvas.height = Math.round(height * scale);
      this.canvas.style.height = height + "px";
    }
    const context = this.canvas.getContext("2d");
    context.setTransform(scale, 0, 0, scale, 0, 0);
    this.width = width;
    this.height = height;
    const room = width - this.left - 10;
    const total = this.position(this.run.last + 1);
    const middle = this.position(cursor);
    this.offset = Math.max(-this.spacing, Math.min(middle - room * 0.6, total - room));
    if (total < room) this.offset = -this.spacing;
    return context;
  }

  // How far from the beginning an event is drawn.
  position(place) {
    if (this.axis === "order") return place * this.spacing;
    const run = this.run;
    const perNs = this.spacing * Math.max(1, run.events.length) / Math.max(1, run.timeOf(run.last) - run.timeOf(0));
    return (run.timeOf(Math.min(place, run.last)) - run.timeOf(0)) * perNs;
  }

  x(place) {
    return this.left + this.position(place) - this.offset;
  }

  y(node) {
    return 12 + (node + 0.5) * this.laneHeight;
  }

  // The event that is drawn nearest to a point.
  placeAt(x) {
    const wanted = x - this.left + this.offset;
    let low = 0, high = this.run.last;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.position(middle) < wanted) low = middle + 1; else high = middle;
    }
    if (low > 0 && wanted - this.position(low - 1) < this.position(low) - wanted) low -= 1;
    return low;
  }

  nodeAt(y) {
    return Math.max(0, Math.min(this.run.nodes - 1, Math.floor((y - 12) / this.laneHeight)));
  }

  draw(cursor, selected) {
    const context = this.frame(cursor);
    const run = this.run;
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue("--" + name).trim();
    const from = Math.max(0, this.placeAt(this.left) - 1);
    const to = Math.min(run.last, this.placeAt(this.width) + 1);
    context.clearRect(0, 0, this.width, this.height);
    context.font = "11px system-ui, sans-serif";
    this.bands(context, colour, from, to);
    context.save();
    context.beginPath();
    context.rect(this.left - 4, 0, this.width, this.height);
    context.clip();
    for (let node = 0; node < run.nodes; node++) this.lane(context, colour, node, from, to);
    this.messages(context, colour, from, to);
    this.marks(context, colour, from, to);
    this.cursor(context, colour, cursor);
    context.restore();
    for (let node = 0; node < run.nodes; node++) {
      if (this.laneHeight < 11 && node % Math.ceil(12 / this.laneHeight) !== 0 && node !== selected) continue;
      context.fillStyle = colour(node === selected ? "cursor" : "ink");
      context.font = (node === selected ? "bold " : "") + "12px system-ui, sans-serif";
      context.textAlign = "right";
      context.fillText(String(node), this.left - 9, this.y(node) + 4);
    }
  }

  bands(context, colour, from, to) {
    const run = this.run;
    for (const band of run.bands) {
      const end = band.to === null ? run.last + 1 : band.to;
      if (end < from || band.from > to) continue;
      // What strikes a member or a link lies on its lanes, and all else on all.
      const { node } = band.event;
      const link = /^(\d+)(?:->|-)(\d+)$/.exec(band.event.target);
      const struck = node !== undefined ? [node] : link ? [Number(link[1]), Number(link[2])] : null;
      const x = Math.max(this.x(band.from), this.left);
      const width = Math.max(2, this.x(end) - x);
      context.fillStyle = colour("fault");
      if (struck === null) context.fillRect(x, 0, width, this.height - 14);
      else for (const one of struck) context.fillRect(x, this.y(one) - this.laneHeight / 2, width, this.laneHeight);
      context.fillStyle = colour("ink");
      context.textAlign = "left";
      const where = struck === null ? 10 : this.y(Math.min(...struck)) - this.laneHeight / 2 + 10;
      context.fillText("⚡ " + band.event.fault + " " + band.event.target, x + 3, where);
    }
  }

  lane(context, colour, node, from, to) {
    const { places, phases } = this.run.histories[node];
    const y = this.y(node);
    for (let at = this.run.at(node, from); at < places.length && places[at] <= to; at++) {
      const end = at + 1 < places.length ? this.x(places[at + 1]) : this.x(this.run.last + 1);
      const start = Math.max(this.x(places[at]), this.left - 4);
      const half = Math.min(8, this.laneHeight / 2 - 1);
      if (phases[at] === "inside") {
        context.fillStyle = colour("inside");
        context.fillRect(start, y - half, Math.max(2, end - start), 2 * half);
      } else if (phases[at] === "waiting") {
        context.strokeStyle = colour("waiting");
        context.lineWidth = 1;
        context.strokeRect(start, y - half / 2, Math.max(1, end - start), half);
      } else {
        context.strokeStyle = colour(phases[at]);
        context.lineWidth = phases[at] === "dead" ? 1 : 2;
        context.setLineDash(phases[at] === "dead" ? [2, 5] : []);
        context.beginPath();
        context.moveTo(start, y);
        context.lineTo(end, y);
        context.stroke();
        context.setLineDash([]);
      }
    }
  }

  messages(context, colour, from, to) {
    const run = this.run;
    context.lineWidth = 1.4;
    const labels = [];
    for (const message of run.messages) {
      const start = message.sent === null ? -1 : message.sent;
      const over = message.arrived !== null && message.arrived !== undefined ? message.arrived : message.lost;
      const end = over === null || over === undefined ? run.last + 1 : over;
      if (end < from || start > to || message.from === message.to) continue;
      const lost = message.lost !== null && message.lost !== undefined;
      const [x1, y1, y2] = [this.x(start), this.y(message.from), this.y(message.to)];
      // What is lost ends on its way, in a cross.
      const x2 = this.x(end);
      const part = lost ? 0.6 : 1;
      const [xe, ye] = [x1 + (x2 - x1) * part, y1 + (y2 - y1) * part];
      context.strokeStyle = context.fillStyle = colourOf(run, message.kind);
      context.setLineDash(dashOf(run, message.kind));
      context.beginPath();
      context.moveTo(x1, y1);
      context.lineTo(xe, ye);
      context.stroke();
      context.setLineDash([]);
      if (lost) {
        context.strokeStyle = colour("bad");
        context.beginPath();
        context.moveTo(xe - 5, ye - 5); context.lineTo(xe + 5, ye + 5);
        context.moveTo(xe - 5, ye + 5); context.lineTo(xe + 5, ye - 5);
        context.stroke();
      } else if (over !== null && over !== undefined) {
        const angle = Math.atan2(ye - y1, xe - x1);
        context.beginPath();
        context.moveTo(xe, ye);
        context.lineTo(xe - 7 * Math.cos(angle - 0.35), ye - 7 * Math.sin(angle - 0.35));
        context.lineTo(xe - 7 * Math.cos(angle + 0.35), ye - 7 * Math.sin(angle + 0.35));
        context.fill();
      }
      if (this.spacing >= 18 && this.laneHeight >= 16 && labels.length < 60 && x1 > this.left && xe - x1 > 6) {
        context.textAlign = "left";
        context.font = "9.5px system-ui, sans-serif";
        const [x, y] = [x1 + (xe - x1) * 0.3 + 3, y1 + (ye - y1) * 0.3 - 2];
        const width = context.measureText(message.kind).width;
        // One that would lie on another says nothing; the stroke says which kind it is.
        if (!labels.some((other) => Math.abs(other.y - y) < 9 && x < other.x + other.width && other.x < x + width)) {
          labels.push({ x, y, width });
          context.fillText(message.kind, x, y);
        }
      }
    }
  }

  marks(context, colour, from, to) {
    const run = this.run;
    for (let place = from; place <= to; place++) {
      const moment = run.events[place];
      if (run.violations.has(place)) {
        context.strokeStyle = context.fillStyle = colour("bad");
        context.lineWidth = 2;
        context.beginPath();
        context.moveTo(this.x(place), 0);
        context.lineTo(this.x(place), this.height - 14);
        context.stroke();
        context.font = "bold 13px system-ui, sans-serif";
        context.textAlign = "center";
        context.fillText("!", this.x(place) + 6, 11);
      }
      if (moment && moment.node !== undefined && this.spacing >= 8) {
        context.fillStyle = colour("ink");
        context.beginPath();
        context.arc(this.x(place), this.y(moment.node), 1.8, 0, 7);
        context.fill();
      }
    }
  }

  cursor(context, colour, cursor) {
    const x = this.x(cursor);
    context.strokeStyle = colour("cursor");
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(x, 0);
    context.lineTo(x, this.height - 12);
    context.stroke();
    const moment = this.run.events[cursor];
    if (moment && moment.node !== undefined) {
      context.beginPath();
      context.arc(x, this.y(moment.node), 5, 0, 7);
      context.stroke();
    }
    context.fillStyle = colour("faint");
    context.font = "11px system-ui, sans-serif";
    context.textAlign = x > this.width - 80 ? "right" : "left";
    context.fillText(inTime(this.run.timeOf(cursor)), x + (x > this.width - 80 ? -4 : 4), this.height - 2);
  }
}
