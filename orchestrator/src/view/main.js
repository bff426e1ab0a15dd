// The page: one cursor, and everything that shows what it points at.

addEventListener("error", (event) => { document.body.dataset.error = event.message; });
const $ = (id) => document.getElementById(id);
const recording = JSON.parse($("recording").textContent);
let run = new Run(recording);
const lanes = new Lanes($("lanes"), run);
const graph = new Graph($("graph"), $("graph-legend"), run);
const PAGE = 200;

let cursor = run.events.length ? 0 : -1;
let selected = 0;
let playing = null;
let listed = -1;
let drawn = false;

function option(value, text) {
  const made = document.createElement("option");
  made.value = value;
  made.textContent = text;
  return made;
}

function moveTo(place, { follow = true } = {}) {
  cursor = Math.max(run.last < 0 ? -1 : 0, Math.min(run.last, place));
  const moment = run.events[cursor];
  if (follow && moment && moment.node !== undefined) selected = moment.node;
  if (live) follows(cursor === run.last);
  later();
}

function select(node) {
  selected = node;
  later();
}

// Many moves between two frames are drawn once.
function later() {
  if (drawn) return;
  drawn = true;
  requestAnimationFrame(() => {
    drawn = false;
    show();
  });
}

function show() {
  lanes.draw(cursor, selected);
  reveal();
  graph.draw(cursor, selected, select);
  const moment = run.events[cursor];
  const violation = run.violations.get(cursor);
  const where = moment
    ? `event ${run.number(cursor).toLocaleString("en")} of ${recording.in_all.toLocaleString("en")} · ${inTime(moment.time_ns)} · ${inWords(moment)}`
    : "nothing happened";
  $("now").textContent = violation ? `${where} · violation: ${violation}` : where;
  $("now").className = violation ? "bad" : "";
  $("scrub").value = cursor;
  $("scrub").setAttribute("aria-valuetext", where);
  $("node").value = selected;
  if ($("live-node")) $("live-node").value = selected;
  showState();
  showEvents();
  showSteps(cursor);
  remember();
  document.body.dataset.cursor = cursor;
}

// Of many lanes the chosen one is brought into sight when it is chosen.
let revealed = null;
function reveal() {
  if (revealed === selected) return;
  revealed = selected;
  // Few lanes are all in sight, and asking where they are costs time in every frame.
  if (lanes.height < innerHeight / 2) return;
  const box = $("lanes-box");
  const y = lanes.y(selected);
  if (y < box.scrollTop + lanes.laneHeight || y > box.scrollTop + box.clientHeight - lanes.laneHeight) box.scrollTop = y - box.clientHeight / 2;
}

function showState() {
  const { phase, view, fields } = run.member(selected, cursor);
  const parts = [];
  const line = document.createElement("p");
  line.textContent = `${selected} is ${phase}` + (view.token === undefined ? "" : " and has the token" + (view.token ? ": " + view.token : ""));
  parts.push(line);
  if (fields.length && fields[0].value !== undefined) {
    const table = document.createElement("table");
    for (const { name, value, before } of fields) {
      const row = table.insertRow();
      row.dataset.field = name;
      const head = document.createElement("th");
      head.scope = "row";
      head.textContent = name;
      const cell = document.createElement("td");
      cell.append(...folded(value, before));
      if (before !== value) row.className = "changed";
      const box = cell.querySelector("details");
      if (box) {
        // What was unfolded stays so from event to event.
        box.open = unfolded.has(name);
        box.addEventListener("toggle", () => (box.open ? unfolded.add(name) : unfolded.delete(name)));
      }
      row.append(head, cell);
    }
    parts.push(table);
  } else {
    const none = document.createElement("p");
    none.textContent = recording.traced ? "No state is known here." : "A run made with --trace shows the algorithm's state here.";
    parts.push(none);
  }
  const next = run.nextOf(selected, cursor);
  if (next !== undefined) {
    const then = document.createElement("p");
    const link = document.createElement("a");
    link.href = "#" + address(next, selected);
    link.textContent = `${inTime(run.timeOf(next))}: ${inWords(run.events[next])}`;
    then.append("Its next event: ", link);
    parts.push(then);
  }
  $("state").replaceChildren(...parts);
}

// Where two long values differ: pieces of the one that the other has not, and the other way round.
function differences(value, before) {
  const pieces = (text) => text.match(/[^,{}()[\]]+|[,{}()[\]]/g) || [];
  const [now, was] = [pieces(value), pieces(before)];
  let from = 0, now_to = now.length, was_to = was.length;
  while (from < now_to && from < was_to && now[from] === was[from]) from++;
  while (now_to > from && was_to > from && now[now_to - 1] === was[was_to - 1]) { now_to--; was_to--; }
  const [rows, columns] = [now_to - from, was_to - from];
  if (rows * columns > 200000) return [{ now: now.slice(from, now_to).join(""), was: was.slice(from, was_to).join("") }];
  // How many pieces the rests have in common, from every pair of places on.
  const common = Array.from({ length: rows + 1 }, () => new Uint16Array(columns + 1));
  for (let i = rows - 1; i >= 0; i--) for (let j = columns - 1; j >= 0; j--) {
    common[i][j] = now[from + i] === was[from + j] ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
  }
  const found = [];
  let i = 0, j = 0, open = null;
  while (i < rows || j < columns) {
    if (i < rows && j < columns && now[from + i] === was[from + j]) { open = null; i++; j++; continue; }
    if (!open) {
      // The field it is in is named before it.
      let name = from + i;
      while (name > 0 && name > from + i - 6 && !now[name - 1].includes(":")) name--;
      const named = name > 0 && now[name - 1].includes(":") ? now.slice(name - 1, from + i).join("") : "";
      open = { now: named, was: named };
      found.push(open);
    }
    if (j >= columns || (i < rows && common[i + 1][j] >= common[i][j + 1])) open.now += now[from + i++];
    else open.was += was[from + j++];
  }
  return found;
}

// A long value is folded: what changed in it, or how it begins, is seen; all of it on a click.
const LONG = 150;
const unfolded = new Set();
function folded(value, before) {
  const whole = document.createElement("span");
  whole.textContent = value;
  const was = document.createElement("del");
  was.textContent = before;
  const parts = [whole];
  if (value.length > LONG || before.length > LONG) {
    const changes = before === value ? [] : differences(value, before);
    const box = document.createElement("details");
    const summary = document.createElement("summary");
    const told = (side) => "… " + changes.map((change) => change[side].trim().slice(0, LONG)).join(" … ") + " …";
    summary.textContent = changes.length ? told("now") : value.slice(0, 90) + (value.length > 90 ? " …" : "");
    summary.title = "a long value; unfold to see all of it";
    was.textContent = told("was");
    box.append(summary, whole);
    parts[0] = box;
  }
  if (before !== value) parts.push(" was ", was);
  return parts;
}

// The events around the cursor as text. While one scrubs over many of them it waits for the hand to rest.
let resting = null;
let movedAt = 0;
function showEvents() {
  const hurried = performance.now() - movedAt < 120;
  movedAt = performance.now();
  const page = Math.floor(Math.max(0, cursor) / PAGE);
  clearTimeout(resting);
  if (hurried && page !== listed) resting = setTimeout(listEvents, 120);
  else listEvents();
}

function listEvents() {
  const page = Math.max(0, Math.floor(Math.max(0, cursor) / PAGE));
  const list = $("events");
  if (page !== listed || list.dataset.count !== String(run.events.length)) {
    listed = page;
    list.dataset.count = run.events.length;
    list.start = run.number(page * PAGE);
    list.replaceChildren(...run.events.slice(page * PAGE, (page + 1) * PAGE).map((moment, i) => {
      const item = document.createElement("li");
      const time = document.createElement("span");
      time.className = "time";
      time.textContent = inTime(moment.time_ns);
      item.append(time, inWords(moment));
      const violation = run.violations.get(page * PAGE + i);
      if (violation) {
        item.className = "bad";
        item.append(` · violation: ${violation}`);
      }
      item.addEventListener("click", () => moveTo(page * PAGE + i));
      return item;
    }));
    $("earlier").disabled = page === 0;
    $("later").disabled = (page + 1) * PAGE >= run.events.length;
  }
  list.querySelector("[aria-current]")?.removeAttribute("aria-current");
  const current = list.children[cursor - page * PAGE];
  if (current) {
    current.setAttribute("aria-current", "true");
    const top = current.offsetTop - list.offsetTop;
    if (top < list.scrollTop || top > list.scrollTop + list.clientHeight - 30) list.scrollTop = top - list.clientHeight / 2;
  }
}

// The address of a moment: opens there.
function address(place, node) {
  return place < 0 ? `node=${node}` : `t=${run.timeOf(place)}&e=${run.number(place)}&node=${node}`;
}

let remembered = null;
function remember() {
  clearTimeout(remembered);
  remembered = setTimeout(() => {
    const wanted = "#" + address(cursor, selected);
    if (location.hash !== wanted) history.replaceState(null, "", wanted);
  }, 150);
}

// `#t=1500000&node=3`, in nanoseconds or with a unit; `e` names the very event.
function follow() {
  const wanted = new URLSearchParams(location.hash.slice(1));
  const units = { ns: 1, us: 1e3, "µs": 1e3, ms: 1e6, s: 1e9 };
  const time = /^([\d.]+)(ns|us|µs|ms|s)?$/.exec(wanted.get("t") || "");
  const event = Number(wanted.get("e"));
  if (event && run.events[event - run.first]) moveTo(event - run.first);
  else if (time) moveTo(Math.max(0, run.placeOfTime(Number(time[1]) * units[time[2] || "ns"])));
  const node = wanted.get("node");
  if (node !== null && Number(node) >= 0 && Number(node) < run.nodes) select(Number(node));
}

// The nearest place in a direction for which something is true; where there is none, one stays.
function seek(step, fits) {
  for (let place = cursor + step; place >= 0 && place <= run.last; place += step) {
    if (fits(run.events[place], place)) return moveTo(place);
  }
}

const isEntry = (moment) => moment.what === "enter";
const isMessage = (moment) => moment.what === "receive" || moment.what === "send";
const isViolation = (_, place) => run.violations.has(place);

function searched(moment) {
  const wanted = $("find-kind").value;
  const [group, name] = [wanted.split(":", 1)[0], wanted.slice(wanted.indexOf(":") + 1)];
  const node = $("find-node").value;
  const kind = group === "what" ? moment.what === name : group === "kind" ? moment.kind === name : true;
  const of = node === "" || [moment.node, moment.to, moment.from].some((one) => one !== undefined && String(one) === node);
  return kind && of;
}

function find(step) {
  const before = cursor;
  seek(step, searched);
  const all = run.events.filter(searched).length;
  $("found").textContent = all === 0 ? "nothing fits" : cursor === before ? `none ${step > 0 ? "after" : "before"} this; ${all} in all` : `${all} fit`;
}

function play() {
  if (playing !== null) {
    clearInterval(playing);
    playing = null;
  } else {
    playing = setInterval(() => (cursor < run.last ? moveTo(cursor + 1) : play()), 1000 / Number($("speed").value));
  }
  $("play").textContent = playing === null ? "▶▶" : "❚❚";
  $("play").setAttribute("aria-label", playing === null ? "play" : "stop");
  speak();
}

// Who listens is told where one is, but not many times in a second.
function speak() {
  const hurried = playing !== null || (recording.live && following);
  $("now").setAttribute("aria-live", hurried ? "off" : "polite");
}

function zoom(factor) {
  lanes.spacing = Math.max(0.2, Math.min(120, lanes.spacing * factor));
  later();
}

function begin() {
  for (let node = 0; node < run.nodes; node++) $("node").append(option(node, node));
  $("find-node").append(option("", "any"), ...Array.from({ length: run.nodes }, (_, node) => option(node, node)));
  fillKinds();
  $("scrub").max = Math.max(0, run.last);
  const { verdict, because, notes } = recording.page;
  const strong = document.createElement("b");
  strong.className = verdict;
  strong.textContent = verdict;
  $("verdict").replaceChildren("verdict: ", strong, because.length ? " · " + because.join(" · ") : "");
  $("notice").textContent = notes.join(" ");
  $("notice").hidden = notes.length === 0;
  const on = (id, what) => $(id).addEventListener("click", what);
  on("first", () => moveTo(0));
  on("last", () => moveTo(run.last));
  on("back", () => moveTo(cursor - 1));
  on("forward", () => moveTo(cursor + 1));
  on("back-entry", () => seek(-1, isEntry));
  on("forward-entry", () => seek(1, isEntry));
  on("back-message", () => seek(-1, isMessage));
  on("forward-message", () => seek(1, isMessage));
  on("next-violation", () => toViolation(1));
  on("play", play);
  on("narrower", () => zoom(0.7));
  on("wider", () => zoom(1.4));
  on("help-button", () => $("help").showModal());
  on("find-back", () => find(-1));
  on("earlier", () => moveTo((listed - 1) * PAGE + PAGE - 1));
  on("later", () => moveTo((listed + 1) * PAGE));
  $("search").addEventListener("submit", (event) => { event.preventDefault(); find(1); });
  $("axis").addEventListener("change", () => { lanes.axis = $("axis").value; later(); });
  $("speed").addEventListener("change", () => { if (playing !== null) { play(); play(); } });
  $("scrub").addEventListener("input", () => moveTo(Number($("scrub").value)));
  $("node").addEventListener("change", () => select(Number($("node").value)));
  $("lanes").addEventListener("pointerdown", point);
  $("lanes").addEventListener("pointermove", (event) => { if (event.buttons & 1) point(event); });
  document.addEventListener("keydown", key);
  addEventListener("resize", later);
  addEventListener("hashchange", follow);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", later);
  // Paper is white, and what is drawn on it must have been drawn for that.
  const paper = (is) => {
    document.documentElement.classList.toggle("paper", is);
    fillKinds();
    show();
  };
  addEventListener("beforeprint", () => paper(true));
  addEventListener("afterprint", () => paper(false));
  $("next-violation").disabled = run.violations.size === 0;
  if (world) {
    $("steps-box").hidden = false;
    beginWalk(0);
  }
  if (!location.hash && recording.page.open_at) moveTo(recording.page.open_at - run.first);
  follow();
  show();
  if (recording.live) listen();
}

function fillKinds() {
  const kept = $("find-kind").value;
  const messages = [...run.kinds.keys()].map((kind) => option("kind:" + kind, kind));
  $("find-kind").replaceChildren(option("", "anything"), ...messages, ...[...run.whats].sort().map((what) => option("what:" + what, what)));
  $("find-kind").value = kept || "";
  $("lanes-legend").replaceChildren(...[...run.kinds.keys()].map((kind) => {
    const span = document.createElement("span");
    const line = element("svg", { width: 34, height: 10 });
    line.append(element("line", { x1: 1, y1: 5, x2: 33, y2: 5, stroke: colourOf(run, kind), "stroke-width": 2, "stroke-dasharray": dashOf(run, kind).join(" ") }));
    span.append(line, " " + kind);
    return span;
  }), "lanes: thin line idle, box waiting, block inside, dots dead · cross: lost");
}

function toViolation(step) {
  const before = cursor;
  seek(step, isViolation);
  // After the last one comes the first again.
  if (cursor === before && run.violations.size) moveTo(step > 0 ? Math.min(...run.violations.keys()) : Math.max(...run.violations.keys()));
}

function point(event) {
  const box = $("lanes").getBoundingClientRect();
  // Who follows a live run and clicks on a lane wants to choose its member.
  if (!(live && following)) moveTo(lanes.placeAt(event.clientX - box.left), { follow: false });
  select(lanes.nodeAt(event.clientY - box.top));
}

function key(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || $("help").open) return;
  const typing = event.target.matches?.("select, input[type=text]");
  if (typing && event.key !== "Escape") return;
  const slider = event.target.id === "scrub";
  const acts = {
    ArrowLeft: () => (event.shiftKey ? seek(-1, isEntry) : moveTo(cursor - 1)),
    ArrowRight: () => (event.shiftKey ? seek(1, isEntry) : moveTo(cursor + 1)),
    ArrowUp: () => select(Math.max(0, selected - 1)),
    ArrowDown: () => select(Math.min(run.nodes - 1, selected + 1)),
    Home: () => moveTo(0),
    End: () => moveTo(run.last),
    "[": () => seek(-1, isMessage),
    "]": () => seek(1, isMessage),
    v: () => toViolation(1),
    V: () => toViolation(-1),
    n: () => find(1),
    N: () => find(-1),
    "/": () => $("find-kind").focus(),
    "+": () => zoom(1.4),
    "-": () => zoom(0.7),
    "?": () => $("help").showModal(),
  };
  if (live) for (const [one, id] of LIVE_KEYS) acts[one] = () => $(id).click();
  if (event.key === " " && !event.target.matches?.("button, input")) {
    event.preventDefault();
    play();
  } else if (acts[event.key] && !(slider && event.key.startsWith("Arrow") && !event.shiftKey)) {
    event.preventDefault();
    acts[event.key]();
  }
}
