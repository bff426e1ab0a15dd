// A small world whose every step can be taken: the person chooses what happens next.

const world = recording.graph;
// The states one has come through, each with the step that led there.
let path = [{ state: 0, step: null }];

function memberOf(site) {
  const { phase, state, view } = world.sites[site];
  return { phase, state, view };
}

// What is under way in a state.
function flightOf(state) {
  return world.states[state].sites.flatMap((site, to) => world.sites[site].mail.map(([from, kind, text]) => ({ from, to, kind, text })));
}

// The way so far as a run, a moment for each step.
function walked() {
  const start = world.states[0].sites.map(memberOf);
  const made = new Run({ ...recording, start, events: [], violations: [], in_all: path.length });
  let under = [];
  path.forEach(({ state, step }, place) => {
    const before = place === 0 ? state : path[place - 1].state;
    const sites = world.states[state].sites;
    const changed = sites.map((site, node) => ({ site, node })).filter(({ site, node }) => site !== world.states[before].sites[node]);
    const flight = flightOf(state);
    const text = step === null ? "the beginning" : world.texts[step[0]];
    const node = step === null || step[1] === null ? undefined : step[1];
    const moment = { time_ns: place * 1e6, what: "step", text, flight };
    if (node !== undefined) moment.node = node;
    moment.members = changed.map(({ site, node }) => ({ node, ...memberOf(site) }));
    made.add(moment);
    // Messages that are no longer there arrived or were lost in this step; new ones were sent in it.
    const same = (a, b) => a.from === b.from && a.to === b.to && a.kind === b.kind && a.text === b.text;
    const left = [...flight];
    under = under.filter((message) => {
      const at = left.findIndex((other) => same(message, other));
      if (at >= 0) { left.splice(at, 1); return true; }
      if (/^lose|^crash|^cut/.test(step[3])) message.lost = place; else message.arrived = place;
      return false;
    });
    for (const message of left) {
      const sent = { ...message, sent: place, arrived: null, lost: null };
      made.kind(sent.kind);
      made.messages.push(sent);
      under.push(sent);
    }
    const wrong = [step && step[4], world.states[state].wrong].filter(Boolean);
    if (wrong.length) made.blame({ event: made.first + place, text: wrong.join("; ") });
  });
  return made;
}

let offered = null;
function showSteps(place) {
  if (!world || place < 0 || !path[place]) return;
  if (offered === path[place]) return;
  offered = path[place];
  const state = world.states[path[place].state];
  const buttons = state.steps.map((step) => {
    const button = document.createElement("button");
    button.textContent = world.texts[step[0]];
    button.title = step[3];
    if (step[4]) { button.className = "violation"; button.title += ": " + step[4]; }
    button.addEventListener("click", () => take(place, step));
    return button;
  });
  const where = document.createElement("p");
  const length = buttons.length === 1 ? "1 step" : buttons.length + " steps";
  where.textContent = `State ${path[place].state} of ${world.states.length.toLocaleString("en")}, after ${place} steps; ${buttons.length ? length + " can be taken:" : "nothing can happen any more."}`;
  const schedule = document.createElement("p");
  schedule.className = "legend";
  schedule.id = "schedule";
  schedule.textContent = path.length > 1 ? "schedule: " + path.slice(1, place + 1).map(({ step }) => step[3]).join("; ") : "";
  // Where the keyboard was at a choice, it is at the next one.
  const chose = $("steps").contains(document.activeElement);
  $("steps").replaceChildren(where, ...buttons, schedule);
  if (chose) buttons[0]?.focus();
}

function take(place, step) {
  path = path.slice(0, place + 1);
  path.push({ state: step[2], step });
  beginWalk(path.length - 1);
}

function beginWalk(place) {
  run = walked();
  lanes.run = graph.run = run;
  recording.in_all = path.length;
  $("scrub").max = Math.max(0, run.last);
  $("next-violation").disabled = run.violations.size === 0;
  listed = -1;
  fillKinds();
  moveTo(place);
}
