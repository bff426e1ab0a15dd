// The members at one moment: where their pointers lead, their queues, the token, what is under way.

const SVG = "http://www.w3.org/2000/svg";
// In a window of fewer pixels than this the members stand closer together.
const NARROW = 560;
// More members than this are not all drawn, but at most so many around the chosen one.
const MOST_DRAWN = 60;
const MOST_AROUND = 30;

function element(name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

class Graph {
  constructor(svg, legend, run) {
    this.svg = svg;
    this.legend = legend;
    this.run = run;
    this.names = new Map();
    this.placed = null;
  }

  // Gives each of these members its spot: a tree from its root downwards, everything else in a circle.
  place(shown) {
    const narrow = innerWidth < NARROW;
    const key = narrow + ":" + shown.join(" ");
    if (this.placed === key) return;
    this.placed = key;
    const many = shown.length;
    const tree = many === this.run.nodes ? layered(many, this.run.recording.links) : null;
    const spots = tree ? tree.spots : circle(many, narrow);
    const [left, right] = [Math.min, Math.max].map((of) => of(...spots.map(([x]) => x)));
    const [top, bottom] = [Math.min, Math.max].map((of) => of(...spots.map(([, y]) => y)));
    // Few members are not drawn larger than many, and there are words on both sides.
    const [least, beside] = narrow ? [380, 300] : [700, tree || many <= 2 ? 190 : 380];
    const width = Math.max(least, right - left + beside);
    const aside = (width - right - left) / 2;
    this.svg.setAttribute("viewBox", `0 0 ${width} ${bottom + 75}`);
    // On a circle, words stand outside, where no arrow is; in a tree below a leaf, and else on the side away from its parent.
    const [cx, cy] = [width / 2, (bottom + top) / 2];
    const outside = (x, y) => [x - cx, y - cy].map((d) => d / (Math.hypot(x - cx, y - cy) || 1));
    [this.spots, this.outward] = [new Map(), new Map()];
    spots.forEach(([x, y], at) => {
      this.spots.set(shown[at], [x + aside, y]);
      this.outward.set(shown[at], tree ? tree.outward[at] : many <= 2 ? [0, 1] : outside(x + aside, y));
    });
    this.radius = many > 60 ? 7 : many > 25 ? 11 : 17;
  }

  // Of many members those around the chosen one are drawn: nobody could follow all.
  around(members, selected, flight) {
    const { nodes, recording } = this.run;
    if (nodes <= MOST_DRAWN) return members.map((_, node) => node);
    const shown = new Set([selected]);
    const add = (node) => { if (shown.size < MOST_AROUND) shown.add(node); };
    for (const [a, b] of recording.links) if (a === selected || b === selected) add(a === selected ? b : a);
    for (const { from, to } of flight) if (from === selected || to === selected) add(from === selected ? to : from);
    const related = ({ view }) => [...(view.points_to || []).map(({ to }) => to), ...[...(view.queues || []), ...(view.sets || [])].flatMap((list) => list.nodes)];
    related(members[selected]).forEach(add);
    members.forEach(({ view, phase }, node) => { if (phase === "inside" || view.token !== undefined) add(node); });
    members.forEach(({ view }, node) => { if ((view.points_to || []).some(({ to }) => to === selected)) add(node); });
    return [...shown].sort((a, b) => a - b);
  }

  style(name) {
    if (!this.names.has(name)) this.names.set(name, this.names.size);
    const at = this.names.get(name);
    const colours = dark() ? COLOURS.dark : COLOURS.light;
    return { colour: colours[at % colours.length], dash: DASHES[at % DASHES.length].join(" ") };
  }

  draw(cursor, selected, select) {
    const { run, svg } = this;
    const members = [];
    for (let node = 0; node < run.nodes; node++) members.push(run.member(node, cursor));
    const flight = run.inFlight(cursor);
    const shown = this.around(members, selected, flight);
    this.place(shown);
    svg.replaceChildren(this.heads());
    const faults = run.faultsAt(cursor);
    this.links(members, faults.flatMap(({ event }) => cutsOf(event)));
    const words = [];
    for (const node of shown) this.pointers(node, members[node], node === selected);
    this.flight(flight);
    for (const node of shown) {
      this.member(node, members[node], node === selected, select);
      words.push(describe(node, members[node]));
    }
    const told = faults.map(({ event }) => `⚡ ${event.fault} ${event.target}`);
    told.slice(0, 6).forEach((line, i) => svg.append(element("text", { x: 8, y: 16 + 14 * i, class: "fault" }, line)));
    if (told.length) words.unshift("in force: " + faults.map(({ event }) => `${event.fault} ${event.target}`).join(", "));
    if (shown.length < run.nodes) words.unshift(`${shown.length} of ${run.nodes} members: ${selected}, its neighbours, and who is inside or has the token`);
    this.explain(shown.length < run.nodes ? `${shown.length} of ${run.nodes.toLocaleString("en")} members are drawn: ${selected}, its neighbours, and who is inside or has the token` : "");
    svg.setAttribute("aria-label", words.join(". "));
  }

  heads() {
    const definitions = element("defs", {});
    const marker = element("marker", { id: "head", viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 7, markerHeight: 7, orient: "auto-start-reverse" });
    marker.append(element("path", { d: "M0 0 L10 5 L0 10 z", fill: "context-stroke" }));
    definitions.append(marker);
    return definitions;
  }

  // Pointers of the algorithm are named in the legend, each with the stroke it is drawn with.
  explain(part) {
    const key = [part, dark(), this.hadToken, ...this.names.keys()].join("|");
    if (this.explained === key) return;
    this.explained = key;
    this.legend.replaceChildren(...[...this.names.keys()].map((name) => {
      const { colour, dash } = this.style(name);
      const span = document.createElement("span");
      const line = element("svg", { width: 34, height: 10 });
      line.append(element("line", { x1: 1, y1: 5, x2: 33, y2: 5, stroke: colour, "stroke-width": 2, "stroke-dasharray": dash }));
      span.append(line, " " + name);
      return span;
    }), ...this.shapes(), part);
  }

  // What the shapes of members and messages mean.
  shapes() {
    const shape = (drawn, word) => {
      const span = document.createElement("span");
      const icon = element("svg", { width: 16, height: 14, viewBox: "-8 -7 16 14" });
      icon.append(drawn);
      span.append(icon, " " + word);
      return span;
    };
    const dot = (attributes) => element("circle", { r: 5.5, fill: "var(--panel)", stroke: "var(--ink)", ...attributes });
    const shapes = [
      shape(dot({ stroke: "var(--waiting)", "stroke-width": 2, "stroke-dasharray": "4 2" }), "waiting"),
      shape(dot({ fill: "var(--inside)" }), "inside"),
      shape(element("path", { d: "M-6 -4 L6 0 L-6 4 z", fill: "var(--faint)" }), "message under way"),
    ];
    if (this.run.recording.token || this.hadToken) shapes.push(shape(element("path", { d: "M0 -6 L6 0 L0 6 L-6 0 z", fill: "var(--token)", stroke: "var(--ink)" }), "token"));
    return shapes;
  }

  // A link is drawn as cut while a fault cuts it, or one of its ends takes it for down.
  links(members, cuts) {
    const up = members.map((member) => (member.view.sets || []).find((set) => set.name === "links up"));
    const { links } = this.run.recording;
    const unlinked = cuts.flatMap(({ pair }) => (pair && !links.some(([a, b]) => (a === pair[0] && b === pair[1]) || (a === pair[1] && b === pair[0])) ? [pair] : []));
    for (const [a, b] of [...links, ...unlinked]) {
      if (!this.spots.has(a) || !this.spots.has(b)) continue;
      const cut = cuts.some(({ cuts }) => cuts(a, b)) || (up[a] && !up[a].nodes.includes(b)) || (up[b] && !up[b].nodes.includes(a));
      const [[x1, y1], [x2, y2]] = [this.spots.get(a), this.spots.get(b)];
      this.svg.append(element("line", { x1, y1, x2, y2, stroke: cut ? "var(--bad)" : "var(--rule)", "stroke-width": cut ? 2 : 1, "stroke-dasharray": cut ? "3 4" : "none" }));
      if (cut) this.svg.append(element("text", { x: (x1 + x2) / 2 - 4, y: (y1 + y2) / 2 + 4, class: "cut" }, "✕"));
    }
  }

  pointers(node, member, selected) {
    const seen = new Map();
    for (const { name, to } of member.view.points_to || []) {
      const bend = seen.get(to) || 0;
      seen.set(to, bend + 1);
      if (to === node) this.loop(node, name); else this.arrow(node, to, name, 14 + 14 * bend, 1.8);
    }
    // Sets are thin lines, and of many only those of the chosen member are drawn.
    if (!selected) return;
    (member.view.sets || []).filter(({ name }) => name !== "links up").forEach(({ name, nodes }, set) => {
      nodes.filter((to) => to !== node).forEach((to) => this.arrow(node, to, name, 30 + 16 * set, 1.1));
    });
  }

  arrow(from, to, name, bend, width) {
    if (!this.spots.has(to)) return;
    const [[x1, y1], [x2, y2]] = [this.spots.get(from), this.spots.get(to)];
    const length = Math.hypot(x2 - x1, y2 - y1) || 1;
    const [ux, uy] = [(x2 - x1) / length, (y2 - y1) / length];
    const [cx, cy] = [(x1 + x2) / 2 - uy * bend, (y1 + y2) / 2 + ux * bend];
    const r = this.radius + 2;
    const { colour, dash } = this.style(name);
    const path = element("path", {
      d: `M${x1 + ux * r} ${y1 + uy * r} Q${cx} ${cy} ${x2 - ux * r} ${y2 - uy * r}`,
      fill: "none", stroke: colour, "stroke-width": width, "stroke-dasharray": dash, "marker-end": "url(#head)",
      class: "pointer", "data-name": name, "data-from": from, "data-to": to,
    });
    path.append(element("title", {}, `${from}: ${name} is ${to}`));
    this.svg.append(path);
  }

  loop(node, name) {
    const [x, y] = this.spots.get(node), r = this.radius;
    const { colour, dash } = this.style(name);
    const path = element("path", {
      d: `M${x - r * 0.7} ${y - r * 0.7} C${x - r * 2} ${y - r * 2.6} ${x + r * 2} ${y - r * 2.6} ${x + r * 0.7} ${y - r * 0.7}`,
      fill: "none", stroke: colour, "stroke-width": 1.5, "stroke-dasharray": dash, "marker-end": "url(#head)",
      class: "pointer", "data-name": name, "data-from": node, "data-to": node,
    });
    path.append(element("title", {}, `${node}: ${name} is itself`));
    this.svg.append(path);
  }

  // What is under way lies on its link; more of a kind on a link are drawn once and counted.
  flight(messages) {
    const links = new Map();
    for (const message of messages) {
      if (message.from === message.to || !this.spots.has(message.from) || !this.spots.has(message.to)) continue;
      const link = message.from + ">" + message.to;
      if (!links.has(link)) links.set(link, new Map());
      const kinds = links.get(link);
      kinds.set(message.kind, [...(kinds.get(message.kind) || []), message]);
    }
    for (const kinds of [...links.values()].slice(0, 200)) [...kinds].forEach(([kind, same], nth) => {
      const { from, to } = same[0];
      const [[x1, y1], [x2, y2]] = [this.spots.get(from), this.spots.get(to)];
      const part = Math.min(0.8, 0.5 + 0.14 * nth);
      const [x, y] = [x1 + (x2 - x1) * part, y1 + (y2 - y1) * part];
      const colour = colourOf(this.run, kind);
      const group = element("g", { class: "flight", "data-kind": kind });
      group.append(element("line", { x1, y1, x2, y2, stroke: colour, "stroke-width": 0.8, "stroke-dasharray": "1 4" }));
      const angle = Math.atan2(y2 - y1, x2 - x1) * 180 / Math.PI;
      const token = kind === this.run.recording.token;
      group.append(element("path", { d: "M-7 -5 L7 0 L-7 5 z", transform: `translate(${x} ${y}) rotate(${angle})`, fill: token ? "var(--token)" : colour, stroke: "var(--ink)", "stroke-width": token ? 1.2 : 0.4 }));
      // Words stand above their link, where those of a link beside it do not reach.
      const slope = (x2 - x1) * (y2 - y1);
      const [anchor, aside] = slope === 0 ? ["middle", 0] : slope < 0 ? ["end", -8] : ["start", 8];
      if (this.spots.size <= 25) group.append(element("text", { x: x + aside, y: y - (slope === 0 ? 9 : 4), "text-anchor": anchor, class: "small" }, kind + (same.length > 1 ? " ×" + same.length : "")));
      group.append(element("title", {}, same.map(({ text }) => `${kind} from ${from} to ${to}: ${text || ""}`).join("\n")));
      this.svg.append(group);
    });
  }

  member(node, member, selected, select) {
    const [x, y] = this.spots.get(node), r = this.radius;
    const group = element("g", { class: "member", "data-node": node, "data-phase": member.phase, style: "cursor:pointer" });
    group.addEventListener("click", () => select(node));
    const fill = { idle: "var(--panel)", waiting: "var(--panel)", inside: "var(--inside)", dead: "var(--paper)" }[member.phase];
    group.append(element("circle", { cx: x, cy: y, r, fill, stroke: selected ? "var(--cursor)" : member.phase === "waiting" ? "var(--waiting)" : "var(--ink)", "stroke-width": selected ? 3 : member.phase === "waiting" ? 2.5 : 1, "stroke-dasharray": member.phase === "dead" ? "2 3" : member.phase === "waiting" ? "5 2" : "none" }));
    if (member.view.token !== undefined) {
      this.hadToken = true;
      const token = element("path", { d: "M0 -8 L8 0 L0 8 L-8 0 z", transform: `translate(${x + r} ${y - r})`, fill: "var(--token)", stroke: "var(--ink)", class: "token" });
      token.append(element("title", {}, "the token " + member.view.token));
      group.append(token);
    }
    if (r >= 11) group.append(element("text", { x, y: y + 4.5, "text-anchor": "middle", class: "name", style: member.phase === "inside" ? "fill:var(--paper)" : "" }, node));
    if (this.spots.size <= 30) {
      const lines = [];
      if (member.phase !== "idle") lines.push(member.phase);
      if (member.view.marks && member.view.marks.length) lines.push(member.view.marks.join(", "));
      for (const { name, nodes } of member.view.queues || []) if (nodes.length || selected) lines.push(`${name} ${shortened(nodes)}`);
      for (const { name, nodes } of member.view.sets || []) if (name !== "links up" && nodes.length && (selected || this.spots.size <= 6)) lines.push(`${name} {${nodes.slice(0, 12).join(",")}}`);
      const [across, down] = this.outward.get(node);
      const beside = Math.abs(across) > 0.35;
      const anchor = beside ? (across > 0 ? "start" : "end") : "middle";
      const at = beside ? x + Math.sign(across) * (r + 6) : x;
      const top = beside ? y + 4 - 6 * (lines.length - 1) : down > 0 ? y + r + 13 : y - r - 16 - 12 * (lines.length - 1);
      lines.forEach((line, i) => group.append(element("text", { x: at, y: top + 12 * i, "text-anchor": anchor, class: "small" }, line)));
    }
    group.append(element("title", {}, describe(node, member)));
    this.svg.append(group);
  }
}

function shortened(nodes) {
  return "[" + nodes.slice(0, 10).join(" ") + (nodes.length > 10 ? " …" + nodes.length : "") + "]";
}

// A member in words, for those who do not see the picture.
function describe(node, { phase, view }) {
  const parts = [`member ${node} is ${phase}`];
  if (view.token !== undefined) parts.push("has the token");
  for (const mark of view.marks || []) parts.push(mark);
  for (const { name, to } of view.points_to || []) parts.push(`${name} is ${to === node ? "itself" : to}`);
  for (const { name, nodes } of [...(view.queues || []), ...(view.sets || [])]) {
    if (nodes.length) parts.push(`${name}: ${nodes.slice(0, 20).join(" ")}`);
  }
  return parts.join(", ");
}

// The levels of a tree, if the links are one.
function layered(nodes, links) {
  if (links.length !== nodes - 1 || nodes < 2) return null;
  const near = Array.from({ length: nodes }, () => []);
  for (const [a, b] of links) { near[a].push(b); near[b].push(a); }
  const level = Array(nodes).fill(-1), parent = Array(nodes).fill(-1), order = [0];
  level[0] = 0;
  for (const node of order) {
    for (const other of near[node]) if (level[other] < 0) { level[other] = level[node] + 1; parent[other] = node; order.push(other); }
  }
  if (order.length !== nodes) return null;
  const depth = Math.max(...level);
  const children = Array.from({ length: nodes }, () => []);
  for (const node of order.slice(1)) children[parent[node]].push(node);
  let leaves = 0;
  const across = Array(nodes).fill(0);
  for (const node of [...order].reverse()) if (children[node].length === 0) across[node] = null;
  // Leaves side by side, in the order one meets them going down; the others above their children.
  const walk = [[0, false]];
  while (walk.length) {
    const [node, done] = walk.pop();
    if (children[node].length === 0) { across[node] = leaves++; continue; }
    if (done) { across[node] = children[node].reduce((sum, child) => sum + across[child], 0) / children[node].length; continue; }
    walk.push([node, true]);
    for (const child of [...children[node]].reverse()) walk.push([child, false]);
  }
  const step = Math.max(44, Math.min(110, 760 / Math.max(1, leaves)));
  const down = Math.max(74, Math.min(105, 480 / Math.max(1, depth)));
  const outward = across.map((at, node) => {
    if (children[node].length === 0) return [0, 1];
    return [parent[node] >= 0 && at < across[parent[node]] ? -1 : 1, 0];
  });
  return { spots: across.map((at, node) => [60 + at * step, 52 + level[node] * down]), outward };
}

function circle(nodes, narrow) {
  if (nodes <= 2) return [[narrow ? 80 : 160, 90], [narrow ? 250 : 460, 90]].slice(0, nodes);
  const r = Math.max(narrow ? 110 : 130, Math.min(360, nodes * 17));
  const stretch = narrow ? 1 : 1.5;
  return Array.from({ length: nodes }, (_, node) => {
    const angle = 2 * Math.PI * node / nodes - Math.PI / 2;
    // Room for words on both sides, above and below.
    return [r * stretch + 90 + stretch * r * Math.cos(angle), r + 75 + r * Math.sin(angle)];
  });
}

// The nodes of "0..2,5".
function nodesOf(words) {
  return new Set(words.split(",").flatMap((word) => {
    const [first, last] = word.split("..").map(Number);
    return last === undefined ? [first] : Array.from({ length: last - first + 1 }, (_, i) => first + i);
  }));
}

// What a fault cuts: one link, "0-1" or "0->1", or all links between groups, "0..2|3..5".
function cutsOf({ fault, target }) {
  if (!/^(cut|partition|isolate)\b/.test(fault)) return [];
  return String(target).split(" ").flatMap((words) => {
    const link = /^(\d+)(?:->|-)(\d+)$/.exec(words);
    if (link) {
      const pair = [Number(link[1]), Number(link[2])];
      return [{ pair, cuts: (a, b) => pair.includes(a) && pair.includes(b) }];
    }
    if (!/^[\d.,|]+$/.test(words)) return [];
    const groups = words.split("|").map(nodesOf);
    const groupOf = (node) => groups.findIndex((group) => group.has(node));
    return [{ cuts: (a, b) => groupOf(a) >= 0 && groupOf(b) >= 0 && groupOf(a) !== groupOf(b) }];
  });
}
