// A live run: what is new is added at its end, and the person may interfere.

const live = recording.live;
let following = true;
let going = null;
let leftOut = 0;

// More events than this are not kept: then the oldest half is forgotten.
const MOST_LIVE = 40000;

// Simulated time passes at its pace also while nothing happens.
function showTime() {
  if (!going) return;
  if (live.processes) {
    const stretch = going.stretch === 1 ? "" : ` · clients stay and think ${Number(going.stretch.toPrecision(2))} times as long`;
    $("live-time").textContent = inTime(Math.round(going.now_ns / 1e6) * 1e6) + stretch;
    return;
  }
  const passed = going.stands ? 0 : (performance.now() - going.heard) * 1e6 * going.pace;
  $("live-time").textContent = `${inTime(going.now_ns + passed)} · ${Number(going.pace.toPrecision(2))} simulated seconds in a second`;
}

function listen() {
  const box = document.createElement("div");
  box.id = "live";
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", "Interfere with the run");
  box.innerHTML = `
    <span class="group"><b id="live-time"></b>
    <button id="live-stop">hold on</button><button id="live-step" title="one event">one event</button>
    <button id="live-slower">slower</button><button id="live-faster">faster</button>
    <label><input type="checkbox" id="live-follow" checked> follow</label></span>
    <span class="group"><label>member <select id="live-node"></select></label>
    <button id="live-ask">ask</button><button id="live-leave">leave</button>
    <button id="live-kill">kill</button><button id="live-pause">pause</button><button id="live-resume">resume</button>
    <button id="live-restart">restart</button><button id="live-isolate">isolate</button></span>
    <span class="group">links <label>with <select id="live-other"></select></label><button id="live-cut">cut</button>
    <button id="live-partition">halves</button><button id="live-heal">heal</button><button id="live-loss">lose 10%</button></span>
    <button id="live-finish">finish</button>
    <span id="live-message" role="status"></span>`;
  $("controls").before(box);
  for (let node = 0; node < run.nodes; node++) {
    $("live-node").append(option(node, node));
    $("live-other").append(option(node, node));
  }
  $("live-node").value = selected;
  $("live-node").addEventListener("change", () => select(Number($("live-node").value)));
  $("live-other").value = Math.min(1, run.nodes - 1);
  const on = (id, act) => $(id).addEventListener("click", () => send(act()));
  const fault = (words) => ({ act: "fault", words });
  on("live-stop", () => ({ act: $("live-stop").dataset.stands === "true" ? "go-on" : "stop" }));
  on("live-step", () => ({ act: "step" }));
  on("live-slower", () => ({ act: "faster", times: 0.5 }));
  on("live-faster", () => ({ act: "faster", times: 2 }));
  on("live-ask", () => ({ act: "ask", node: selected }));
  on("live-leave", () => ({ act: "leave", node: selected }));
  on("live-kill", () => fault(`kill ${selected}`));
  on("live-pause", () => fault(`pause ${selected}`));
  on("live-resume", () => fault(`resume ${selected}`));
  on("live-restart", () => fault(`restart ${selected} after 5ms`));
  on("live-isolate", () => fault(`isolate ${selected}`));
  on("live-cut", () => fault(`cut ${selected}-${$("live-other").value}`));
  on("live-partition", () => fault("partition halves"));
  on("live-heal", () => fault("heal"));
  const spell = live.processes ? "2s" : "20ms";
  $("live-loss").title = `every tenth datagram is lost, for ${spell}`;
  $("live-heal").title = "ends all cuts";
  on("live-loss", () => fault(`loss 10% on all for ${spell}`));
  on("live-finish", () => ({ act: "finish" }));
  if (live.processes) {
    $("live-step").disabled = true;
    $("live-step").title = "only the simulator can be stepped event by event";
    $("live-stop").title = "pauses every member";
    $("live-slower").title = "clients stay inside and think twice as long";
    $("live-faster").title = "clients stay inside and think half as long";
  }
  $("live-ask").disabled = $("live-leave").disabled = !live.manual;
  if (!live.manual) $("live-ask").title = $("live-leave").title = "with --workload manual, nobody asks but you";
  for (const [key, id] of LIVE_KEYS) {
    $(id).title = ($(id).title && $(id).title + " ") + `(${key})`;
    $(id).setAttribute("aria-keyshortcuts", key);
    const row = $("help").querySelector("table").insertRow();
    const head = document.createElement("th");
    head.textContent = key;
    row.append(head);
    row.insertCell().textContent = $(id).textContent;
  }
  $("live-follow").addEventListener("change", () => follows($("live-follow").checked));
  speak();
  setInterval(showTime, 100);
  const source = new EventSource("/events");
  source.onmessage = (event) => hear(JSON.parse(event.data), source);
  source.onerror = () => { if ($("live-message").textContent === "") $("live-message").textContent = "no connection"; };
  source.onopen = () => { if ($("live-message").textContent === "no connection") $("live-message").textContent = ""; };
}

// The keys of the buttons. What ends the run has none.
const LIVE_KEYS = new Map([
  ["p", "live-stop"], [".", "live-step"], ["<", "live-slower"], [">", "live-faster"], ["a", "live-ask"], ["l", "live-leave"],
  ["k", "live-kill"], ["s", "live-pause"], ["r", "live-resume"], ["R", "live-restart"], ["i", "live-isolate"],
  ["c", "live-cut"], ["h", "live-partition"], ["H", "live-heal"], ["o", "live-loss"],
]);

// Who moves looks at what was, and what is new no longer leads away from it; at the end one follows again.
function follows(is) {
  if (!live || following === is) return;
  following = is;
  if ($("live-follow")) $("live-follow").checked = is;
  speak();
}

async function send(act) {
  $("live-message").textContent = "";
  const answer = await fetch("/act", { method: "POST", body: JSON.stringify(act) });
  if (!answer.ok) $("live-message").textContent = await answer.text();
}

function hear(news, source) {
  if (news.refused) $("live-message").textContent = news.refused;
  if (news.status === "quiet") $("live-message").textContent = "nothing moves any more; finish, or do something";
  if (news.done) return over(news.done, source);
  if (news.pace !== undefined) {
    going = { ...news, heard: performance.now() };
    $("live-stop").textContent = news.stands ? "go on" : "hold on";
    $("live-stop").dataset.stands = news.stands;
  }
  const moments = news.moments || [];
  if (moments.length === 0) return;
  const before = run.events.length;
  const kinds = run.kinds.size + run.whats.size;
  for (const moment of moments) run.add(moment);
  for (const { moment, text } of news.violations) run.blame({ event: run.first + before + moment, text });
  if (news.skipped) {
    leftOut += news.skipped;
    $("live-message").textContent = `${leftOut} events came too fast to be shown`;
  }
  if (run.events.length > MOST_LIVE) forgetOldest();
  recording.in_all = run.first + run.last;
  $("scrub").max = Math.max(0, run.last);
  $("next-violation").disabled = run.violations.size === 0;
  if (run.kinds.size + run.whats.size !== kinds) fillKinds();
  if (following) {
    cursor = run.last;
    later();
  }
}

// The page begins later from now on.
function forgetOldest() {
  const from = run.events.length - MOST_LIVE / 2;
  const members = run.histories.map((history, node) => {
    const { phase, view, fields } = run.member(node, from - 1);
    return { phase, view, state: fields.map(({ name, value }) => [name, value]) };
  });
  const violations = [...run.violations].filter(([place]) => place >= from);
  recording.violations = violations.map(([place, text]) => ({ event: run.first + place, text }));
  recording.start = members;
  recording.events = run.events.slice(from);
  recording.first = run.first + from;
  run = new Run(recording);
  recording.events = [];
  lanes.run = graph.run = run;
  cursor = Math.max(0, cursor - from);
}

function over({ verdict, because, directory, scenario }, source) {
  source.close();
  const strong = document.createElement("b");
  strong.className = verdict;
  strong.textContent = verdict;
  $("verdict").replaceChildren("verdict: ", strong, because.length ? " · " + because.join(" · ") : "");
  const link = document.createElement("a");
  link.id = "live-scenario";
  link.href = "data:text/plain;charset=utf-8," + encodeURIComponent(scenario);
  link.download = "live.toml";
  link.textContent = "the scenario file that repeats it";
  $("live-message").className = "over";
  $("live-message").replaceChildren(`The run is over and in ${directory}; `, link);
  follows(false);
  for (const button of document.querySelectorAll("#live button")) button.disabled = true;
}
