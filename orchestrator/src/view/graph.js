// The members at one moment: where their pointers lead, their queues, the token, what is under way.

const SVG = "http://www.w3.org/2000/svg";

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
    this.place();
  }

  // A tree from its root downwards; everything else in a circle.
  place() {
    const { nodes, recording } = this.run;
    const tree = layered(nodes, recording.links);
    this.spots = tree || circle(nodes);
    const [left, right] = [Math.min, Math.max].map((of) => of(...this.spots.map(([x]) => x)));
    const bottom = Math.max(...this.spots.map(([, y]) => y));
    // Few members are not drawn larger than many, and on a circle there are words on both sides.
    const width = Math.max(700, right - left + (tree || nodes <= 2 ? 150 : 380));
    const aside = (width - right - left) / 2;
    this.spots = this.spots.map(([x, y]) => [x + aside, y]);
    this.svg.setAttribute("viewBox", `0 0 ${width} ${bottom + 75}`);
    // On a circle, words stand outside, where no arrow is.
    const [cx, cy] = [width / 2, (bottom + Math.min(...this.spots.map(([, y]) => y))) / 2];
    this.outward = this.spots.map(([x, y]) => (tree || nodes <= 2 ? [0, 1] : [x - cx, y - cy].map((d) => d / (Math.hypot(x - cx, y - cy) || 1))));
    this.radius = nodes > 60 ? 7 : nodes > 25 ? 11 : 17;
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
    svg.replaceChildren(this.heads());
    this.links(members);
    const words = [];
    members.forEach((member, node) => this.pointers(node, member, node === selected));
    this.flight(cursor);
    members.forEach((member, node) => {
      this.member(node, member, node === selected, select);
      words.push(describe(node, member));
    });
    // Pointers of the algorithm are named in the legend, each with the stroke it is drawn with.
    this.legend.replaceChildren(...[...this.names.keys()].map((name) => {
      const { colour, dash } = this.style(name);
      const span = document.createElement("span");
      const line = element("svg", { width: 34, height: 10 });
      line.append(element("line", { x1: 1, y1: 5, x2: 33, y2: 5, stroke: colour, "stroke-width": 2, "stroke-dasharray": dash }));
      span.append(line, " " + name);
      return span;
    }));
    svg.setAttribute("aria-label", words.join(". "));
  }

  heads() {
    const definitions = element("defs", {});
    const marker = element("marker", { id: "head", viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 7, markerHeight: 7, orient: "auto-start-reverse" });
    marker.append(element("path", { d: "M0 0 L10 5 L0 10 z", fill: "context-stroke" }));
    definitions.append(marker);
    return definitions;
  }

  // A link that one of its ends takes for down is drawn as cut.
  links(members) {
    const up = members.map((member) => (member.view.sets || []).find((set) => set.name === "links up"));
    for (const [a, b] of this.run.recording.links) {
      const cut = (up[a] && !up[a].nodes.includes(b)) || (up[b] && !up[b].nodes.includes(a));
      const [[x1, y1], [x2, y2]] = [this.spots[a], this.spots[b]];
      this.svg.append(element("line", { x1, y1, x2, y2, stroke: cut ? "var(--bad)" : "var(--rule)", "stroke-width": cut ? 2 : 1, "stroke-dasharray": cut ? "3 4" : "none" }));
      if (cut) this.svg.append(element("text", { x: (x1 + x2) / 2 - 4, y: (y1 + y2) / 2 + 4, fill: "var(--bad)" }, "✕"));
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
    for (const { name, nodes } of member.view.sets || []) {
      if (name === "links up") continue;
      nodes.filter((to) => to !== node).forEach((to, i) => this.arrow(node, to, name, -18 - 9 * this.names.size % 30, 0.9));
    }
  }

  arrow(from, to, name, bend, width) {
    const [[x1, y1], [x2, y2]] = [this.spots[from], this.spots[to]];
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
    const [x, y] = this.spots[node], r = this.radius;
    const { colour, dash } = this.style(name);
    const path = element("path", {
      d: `M${x - r * 0.7} ${y - r * 0.7} C${x - r * 2} ${y - r * 2.6} ${x + r * 2} ${y - r * 2.6} ${x + r * 0.7} ${y - r * 0.7}`,
      fill: "none", stroke: colour, "stroke-width": 1.5, "stroke-dasharray": dash, "marker-end": "url(#head)",
      class: "pointer", "data-name": name, "data-from": node, "data-to": node,
    });
    path.append(element("title", {}, `${node}: ${name} is itself`));
    this.svg.append(path);
  }

  flight(cursor) {
    const perLink = new Map();
    for (const message of this.run.inFlight(cursor).slice(0, 200)) {
      if (message.from === message.to) continue;
      const link = message.from + ">" + message.to;
      const many = perLink.get(link) || 0;
      perLink.set(link, many + 1);
      const [[x1, y1], [x2, y2]] = [this.spots[message.from], this.spots[message.to]];
      const part = Math.min(0.8, 0.5 + 0.12 * many);
      const [x, y] = [x1 + (x2 - x1) * part, y1 + (y2 - y1) * part];
      const colour = colourOf(this.run, message.kind);
      const group = element("g", { class: "flight", "data-kind": message.kind });
      group.append(element("line", { x1, y1, x2, y2, stroke: colour, "stroke-width": 0.8, "stroke-dasharray": "1 4" }));
      const angle = Math.atan2(y2 - y1, x2 - x1) * 180 / Math.PI;
      const token = message.kind === this.run.recording.token;
      group.append(element("path", { d: "M-7 -5 L7 0 L-7 5 z", transform: `translate(${x} ${y}) rotate(${angle})`, fill: token ? "var(--token)" : colour, stroke: "var(--ink)", "stroke-width": token ? 1.2 : 0.4 }));
      if (this.run.nodes <= 25) group.append(element("text", { x: x + 8, y: y - 5, class: "small" }, message.kind));
      group.append(element("title", {}, `${message.kind} from ${message.from} to ${message.to}: ${message.text || ""}`));
      this.svg.append(group);
    }
  }

  member(node, member, selected, select) {
    const [x, y] = this.spots[node], r = this.radius;
    const group = element("g", { class: "member", "data-node": node, "data-phase": member.phase, style: "cursor:pointer" });
    group.addEventListener("click", () => select(node));
    const fill = { idle: "var(--panel)", waiting: "var(--panel)", inside: "var(--inside)", dead: "var(--paper)" }[member.phase];
    group.append(element("circle", { cx: x, cy: y, r, fill, stroke: selected ? "var(--cursor)" : member.phase === "waiting" ? "var(--waiting)" : "var(--ink)", "stroke-width": selected ? 3 : member.phase === "waiting" ? 2.5 : 1, "stroke-dasharray": member.phase === "dead" ? "2 3" : member.phase === "waiting" ? "5 2" : "none" }));
    if (member.view.token !== undefined) {
      const token = element("path", { d: "M0 -8 L8 0 L0 8 L-8 0 z", transform: `translate(${x + r} ${y - r})`, fill: "var(--token)", stroke: "var(--ink)", class: "token" });
      token.append(element("title", {}, "the token " + member.view.token));
      group.append(token);
    }
    if (r >= 11) group.append(element("text", { x, y: y + 4.5, "text-anchor": "middle", class: "name", style: member.phase === "inside" ? "fill:var(--paper)" : "" }, node));
    if (this.run.nodes <= 30) {
      const lines = [];
      if (member.phase !== "idle") lines.push(member.phase);
      if (member.view.marks && member.view.marks.length) lines.push(member.view.marks.join(", "));
      for (const { name, nodes } of member.view.queues || []) if (nodes.length || selected) lines.push(`${name} ${shortened(nodes)}`);
      for (const { name, nodes } of member.view.sets || []) if (name !== "links up" && nodes.length && (selected || this.run.nodes <= 6)) lines.push(`${name} {${nodes.slice(0, 12).join(",")}}`);
      const [across, down] = this.outward[node];
      const beside = Math.abs(across) > 0.35;
      const anchor = beside ? (across > 0 ? "start" : "end") : "middle";
      const at = beside ? x + Math.sign(across) * (r + 6) : x;
      const top = beside ? y + 4 - 5.5 * (lines.length - 1) : down > 0 ? y + r + 12 : y - r - 16 - 11 * (lines.length - 1);
      lines.forEach((line, i) => group.append(element("text", { x: at, y: top + 11 * i, "text-anchor": anchor, class: "small" }, line)));
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
  return across.map((at, node) => [60 + at * step, 52 + level[node] * down]);
}

function circle(nodes) {
  if (nodes <= 2) return [[160, 90], [460, 90]].slice(0, nodes);
  const r = Math.max(130, Math.min(360, nodes * 17));
  return Array.from({ length: nodes }, (_, node) => {
    const angle = 2 * Math.PI * node / nodes - Math.PI / 2;
    // Room for words on both sides, above and below.
    return [r * 1.5 + 90 + 1.5 * r * Math.cos(angle), r + 75 + r * Math.sin(angle)];
  });
}
