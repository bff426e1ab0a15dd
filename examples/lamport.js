// Lamport's queue: everybody knows everybody's requests, and the oldest goes in once all have answered.
//
// Run it with: orchestrator run external -n 5 -- node examples/lamport.js
const lines = require('readline').createInterface({ input: process.stdin });

let me, others, clock, queue, heard, effects;

const send = (to, message) => effects.push({ send: { to, message } });
const before = (a, b) => a.clock - b.clock || a.node - b.node;
const waits = () => queue.find((request) => request.node === me);

function enterIfFirst() {
  const mine = waits();
  if (!mine || mine.inside || queue[0] !== mine) return;
  // A younger message from everybody: nothing older can still be on its way, since links keep order.
  if (others.every((node) => heard[node] > mine.clock)) {
    mine.inside = true;
    effects.push({ enter: {} });
  }
}

const events = {
  init({ me: self, nodes }) {
    me = self;
    others = [...Array(nodes).keys()].filter((node) => node !== me);
    clock = 0;
    queue = [];
    heard = Array(nodes).fill(0);
  },
  request() {
    clock += 1;
    queue.push({ clock, node: me, inside: false });
    queue.sort(before);
    for (const node of others) send(node, { kind: 'REQUEST', clock });
    enterIfFirst();
  },
  receive({ from, message }) {
    clock = Math.max(clock, message.clock) + 1;
    heard[from] = message.clock;
    if (message.kind === 'REQUEST') {
      queue.push({ clock: message.clock, node: from, inside: false });
      queue.sort(before);
      send(from, { kind: 'ACK', clock });
    } else if (message.kind === 'RELEASE') {
      queue = queue.filter((request) => request.node !== from);
    }
    enterIfFirst();
  },
  release() {
    clock += 1;
    queue = queue.filter((request) => request.node !== me);
    for (const node of others) send(node, { kind: 'RELEASE', clock });
  },
  load({ state }) {
    ({ clock, queue, heard } = state);
  },
};

const declares = {
  kinds: ['REQUEST', 'ACK', 'RELEASE'],
  order: 'fifo',
  saves: true,
  messages_per_entry: { exactly: '3*(nodes-1)' },
};

lines.on('line', (line) => {
  const [[event, what]] = Object.entries(JSON.parse(line));
  effects = [];
  if (event !== 'save') events[event](what);
  const state = { clock, queue, heard };
  const answer = event === 'save' ? { state } : { do: effects, state };
  if (event === 'init') answer.declares = declares;
  console.log(JSON.stringify(answer));
});
