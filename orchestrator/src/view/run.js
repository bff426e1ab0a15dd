// The run as data: what every member is like after every event, and where messages begin and end.

const PHASES = ["idle", "waiting", "inside", "dead"];

class Run {
  constructor(recording) {
    this.recording = recording;
    this.nodes = recording.nodes;
    this.first = recording.first;
    this.events = [];
    this.violations = new Map();
    // For each node, the events after which something about it is different, and what it is like then.
    this.histories = recording.start.map((start) => ({
      names: start.state.map(([name]) => name),
      own: [],
      places: [-1],
      states: [start.state.map(([, value]) => value)],
      views: [start.view],
      phases: [start.phase],
    }));
    this.messages = [];
    this.underWay = new Map();
    this.bands = [];
    this.entries = [];
    this.kinds = new Map();
    this.whats = new Set();
    for (const moment of recording.events) this.add(moment);
    for (const violation of recording.violations) this.blame(violation);
  }

  blame({ event, text }) {
    const place = event - this.first;
    this.violations.set(place, this.violations.has(place) ? this.violations.get(place) + "; " + text : text);
  }

  get last() {
    return this.events.length - 1;
  }

  kind(name) {
    if (!this.kinds.has(name)) this.kinds.set(name, this.kinds.size);
    return this.kinds.get(name);
  }

  add(moment) {
    const place = this.events.length;
    this.events.push(moment);
    this.whats.add(moment.what);
    this.carry(moment, place);
    if (moment.what === "fault") this.bands.push({ from: place, to: null, event: moment });
    if (moment.what === "fault-over") {
      const same = (band) => band.to === null && band.event.fault === moment.fault && band.event.target === moment.target;
      const band = this.bands.find(same);
      if (band) band.to = place;
    }
    if (moment.what === "enter") this.entries.push(place);
    for (const member of moment.members || []) this.become(member, place);
    if (moment.node === undefined) return;
    const history = this.histories[moment.node];
    history.own.push(place);
    if (moment.members) return;
    const at = history.places.length - 1;
    const phase = moment.phase || after(history.phases[at], moment);
    const changes = moment.set && moment.set.length > 0;
    if (!changes && !moment.view && phase === history.phases[at]) return;
    const state = changes ? history.states[at].slice() : history.states[at];
    for (const [field, value] of moment.set || []) state[field] = value;
    history.places.push(place);
    history.states.push(state);
    history.views.push(moment.view || history.views[at]);
    history.phases.push(phase);
  }

  // A member is like this after the event at `place`.
  become({ node, phase, state, view }, place) {
    const history = this.histories[node];
    history.places.push(place);
    history.states.push(state.map(([, value]) => value));
    history.views.push(view);
    history.phases.push(phase);
  }

  // Messages are lines from where they are sent to where they arrive or are lost.
  carry(moment, place) {
    const { what, node, number } = moment;
    const key = (from, to) => from + ">" + to + "#" + number;
    if (what === "send" || what === "post") {
      const to = what === "post" ? node : moment.to;
      const message = { from: node, to, sent: place, arrived: null, lost: null, kind: moment.kind, text: moment.text };
      this.kind(moment.kind);
      this.messages.push(message);
      const waiting = this.underWay.get(key(node, to)) || [];
      waiting.push(message);
      this.underWay.set(key(node, to), waiting);
    } else if (what === "receive") {
      const waiting = this.underWay.get(key(moment.from, node)) || [];
      let message = waiting.shift();
      if (!message) {
        message = { from: moment.from, to: node, sent: null, kind: moment.kind };
        this.kind(moment.kind);
        this.messages.push(message);
      }
      message.arrived = place;
      moment.message = message;
    } else if (what === "lose") {
      const message = (this.underWay.get(key(node, moment.to)) || []).shift();
      if (message) message.lost = place;
    }
  }

  // The index into a node's history that is in force after the event at `place`.
  at(node, place) {
    const { places } = this.histories[node];
    let low = 0, high = places.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (places[middle] <= place) low = middle; else high = middle - 1;
    }
    return low;
  }

  // What a node is like after the event at `place`, and what that very event changed.
  member(node, place) {
    const history = this.histories[node];
    const at = this.at(node, place);
    const state = history.states[at];
    const before = at > 0 && history.places[at] === place ? history.states[at - 1] : state;
    return {
      phase: history.phases[at],
      view: history.views[at] || {},
      fields: history.names.map((name, i) => ({ name, value: state[i], before: before[i] })),
    };
  }

  // The next event of a node, if there is one.
  nextOf(node, place) {
    const own = this.histories[node].own;
    let low = 0, high = own.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (own[middle] > place) high = middle; else low = middle + 1;
    }
    return own[low];
  }

  inFlight(place) {
    if (this.events[place] && this.events[place].flight) return this.events[place].flight;
    return this.messages.filter((message) => message.sent !== null && message.sent <= place
      && (message.arrived === null || message.arrived > place) && (message.lost === null || message.lost > place));
  }

  // What a fault does, while it is in force.
  faultsAt(place) {
    return this.bands.filter((band) => band.from <= place && (band.to === null || band.to > place));
  }

  number(place) {
    return this.first + place;
  }

  timeOf(place) {
    return place < 0 ? (this.events[0] ? this.events[0].time_ns : 0) : this.events[place].time_ns;
  }

  // The last event that is not later.
  placeOfTime(time) {
    let low = -1, high = this.last;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.events[middle].time_ns <= time) low = middle; else high = middle - 1;
    }
    return low;
  }
}

function after(phase, moment) {
  switch (moment.what) {
    case "arrive": case "request": return phase === "idle" ? "waiting" : phase;
    case "enter": return "inside";
    case "release": return "idle";
    case "fault": return /^(kill|restart)\b/.test(moment.fault) ? "dead" : phase;
    default: return phase;
  }
}

function inTime(ns) {
  const units = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];
  const [size, unit] = units.find(([size]) => ns >= size) || [1, "ns"];
  return Number((ns / size).toPrecision(size === 1e9 ? 7 : 6)) + " " + unit;
}

// A message as its kind and what it carries: a text that begins with the kind does not say it twice.
function withContent(kind, text) {
  if (!kind || !text) return kind;
  const plain = (word) => word.replace(/[^a-z0-9]/gi, "").toLowerCase();
  const [first] = /^\w*/.exec(text);
  const rest = plain(first) === plain(kind) ? text.slice(first.length).trim() : text;
  return rest === "" ? kind : rest.startsWith("(") ? kind + rest : kind + " " + rest;
}

function inWords(moment) {
  const who = moment.node === undefined ? "" : moment.node + " ";
  const message = withContent(moment.kind, moment.text || (moment.message && moment.message.text));
  switch (moment.what) {
    case "arrive": return who + "has a client that wants in" + (moment.priority ? ", priority " + moment.priority : "");
    case "request": return who + "asks" + (moment.priority ? ", priority " + moment.priority : "");
    case "enter": return who + "enters" + (moment.fence == null ? "" : " with the fence " + moment.fence) + (moment.invited ? "" : " though it did not ask");
    case "release": return who + "leaves";
    case "retire": return who + "will not ask again";
    case "send": return who + "sends " + message + " to " + moment.to;
    case "hold": return who + "sends " + message + " to " + moment.to + ", held back by a fault";
    case "post": return who + "posts " + message + " to itself";
    case "receive": return who + "receives " + message + " from " + moment.from;
    case "lose": return moment.kind + " from " + moment.node + " to " + moment.to + " is lost";
    case "set-timer": return who + "sets the timer " + moment.timer;
    case "cancel-timer": return who + "cancels the timer " + moment.timer;
    case "timer": return who + "is woken by its timer " + moment.timer;
    case "peer-down": return who + "is told that " + moment.peer + " is down";
    case "peer-up": return who + "is told that " + moment.peer + " is back";
    case "link-down": return who + "is told that its link to " + moment.neighbour + " is down";
    case "link-up": return who + "is told that its link to " + moment.neighbour + " is up";
    case "note": return who + "notes " + moment.name + " = " + moment.value;
    case "protocol-error": return who + "says that this cannot be: " + moment.why;
    case "tamper": return "fault: " + moment.fault;
    case "suspect": return who + "takes " + moment.peer + " for dead";
    case "stall": return who + "waited for a fault";
    case "fault": return "fault: " + moment.fault + (String(moment.target) === "" ? "" : " on " + moment.target) + (moment.remark ? " (" + moment.remark + ")" : "");
    case "fault-over": return "over: " + moment.fault + " on " + moment.target;
    case "skipped": return moment.node === undefined ? moment.count + " events came too fast to be shown" : who + "after them";
    case "step": return moment.text;
    default: return who + moment.what;
  }
}
