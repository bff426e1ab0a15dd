//! A traced run given to the same machines again: does the same come out? A schedule of the explorer can
//! be given to them as well: it is told in the same events.
//!
//! ```text
//!   events.jsonl ──► inputs ──► machine ──► outputs ══ outputs ◄── events.jsonl
//! ```
//!
//! Members have nothing in common but messages, so each is its own machine, and the order of the
//! events of one member is all that matters. Clients, links, faults and time are not replayed: what
//! they did is in the events.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

use algorithms::erased::{Group, Input, Machine, MessageId};
use algorithms::view::View;
use algorithms::{Change, Effect, NodeId, Request, Setting, Timer, Topology};

use model::event::{ALREADY_INSIDE, Event, Letter, What};
use model::plan::Plan;

/// The machines of a run, and how far its events have been given to them.
pub struct Replay {
    group: Box<dyn Group>,
    kinds: &'static [&'static str],
    members: Vec<Member>,
    /// The timers' names, as the algorithm knows them.
    timer_names: BTreeMap<String, &'static str>,
    /// How much has been replayed.
    pub progress: Progress,
}

/// How much has been replayed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// What machines were given.
    pub inputs: u64,
    /// What came out of them, as it did then.
    pub outputs: u64,
}

#[derive(Default)]
struct Member {
    /// What came out of the machine and has yet to be found among the events.
    due: VecDeque<Output>,
    /// For each message it made, by number, what it was and to whom.
    made: Vec<u64>,
    /// How many of these have been found among the events.
    left: u64,
    timers: BTreeSet<(String, u64)>,
    asked: bool,
    inside: bool,
}

/// What a machine makes, as far as a trace tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Output {
    Send {
        to: NodeId,
        kind: String,
        body: Vec<u8>,
    },
    Post {
        kind: String,
        body: Vec<u8>,
    },
    Enter {
        fence: Option<u64>,
    },
    SetTimer {
        timer: String,
        tag: u64,
    },
    CancelTimer {
        timer: String,
        tag: u64,
    },
    Note {
        name: String,
        value: u64,
    },
    ProtocolError {
        why: String,
    },
}

impl Replay {
    /// The machines of the planned run before its first event.
    pub fn new(plan: &Plan, topology: Topology) -> Self {
        Self::of_machine(plan.machine(), &plan.setting(topology))
    }

    /// Like [`new`](Self::new), with a machine that need not be registered.
    pub fn of_machine(machine: &dyn Machine, setting: &Setting) -> Self {
        let nodes = setting.nodes();
        Self {
            group: machine.group(setting, 0..nodes),
            kinds: machine.kinds(),
            members: (0..nodes).map(|_| Member::default()).collect(),
            timer_names: BTreeMap::new(),
            progress: Progress::default(),
        }
    }

    /// The next event of the run: gives it to the machine if it is an input, and looks whether it is
    /// what came out of the machine if it is an output. Says what is different.
    pub fn take(&mut self, event: &Event) -> Result<(), String> {
        let Some(node) = event.node else {
            return Ok(());
        };
        match &event.what {
            What::Request { priority } => self.request(node, *priority),
            What::Release => self.release(node),
            What::Receive { from, letter, .. } => self.receive(node, *from, letter),
            What::Timer { timer, tag } => self.timer(node, timer, *tag),
            What::PeerDown { peer } => self.peer(node, *peer, Change::Down),
            What::PeerUp { peer } => self.peer(node, *peer, Change::Up),
            What::LinkDown { neighbour } => self.link(node, *neighbour, Change::Down),
            What::LinkUp { neighbour } => self.link(node, *neighbour, Change::Up),
            What::Send { to, letter, .. } | What::Hold { to, letter, .. } => {
                self.sent(node, *to, letter)
            }
            What::Post { letter } => self.sent(node, node, letter),
            What::Enter { fence, .. } => {
                self.came_out(node, &Output::Enter { fence: *fence })?;
                self.member(node).inside = true;
                Ok(())
            }
            What::SetTimer { timer, tag, .. } => {
                let (timer, tag) = (timer.to_string(), *tag);
                self.came_out(node, &Output::SetTimer { timer, tag })
            }
            What::CancelTimer { timer, tag } => {
                let (timer, tag) = (timer.to_string(), *tag);
                self.came_out(node, &Output::CancelTimer { timer, tag })
            }
            What::Note { name, value, .. } => {
                let (name, value) = (name.to_string(), *value);
                self.came_out(node, &Output::Note { name, value })
            }
            What::ProtocolError { why } => self.erred(node, why),
            What::Arrive { .. }
            | What::Retire
            | What::Lose { .. }
            | What::Tamper { .. }
            | What::Suspect { .. }
            | What::Stall { .. }
            | What::Fault { .. }
            | What::FaultOver { .. } => Ok(()),
        }
    }

    /// There are no more events: says what came out of a machine and is not among them. Of members
    /// that died the last events may be missing.
    pub fn close(&self, deaths: &BTreeMap<NodeId, u64>) -> Result<(), String> {
        let members = self.members.iter().zip((0..).map(NodeId));
        for (member, node) in members.filter(|(_, node)| !deaths.contains_key(node)) {
            nothing_due(node, member)?;
        }
        Ok(())
    }

    /// A member's state in words.
    pub fn state(&self, node: NodeId) -> String {
        self.group.describe_state(node)
    }

    /// How a member wants to be drawn.
    pub fn view(&self, node: NodeId) -> View {
        self.group.view(node)
    }

    fn member(&mut self, node: NodeId) -> &mut Member {
        &mut self.members[node.index()]
    }

    fn request(&mut self, node: NodeId, priority: u32) -> Result<(), String> {
        let member = self.member(node);
        nothing_due(node, member)?;
        if member.asked || member.inside {
            return Err(format!("{node} asks though its last request is still open"));
        }
        member.asked = true;
        self.give(node, Input::Request(Request { priority }))
    }

    fn release(&mut self, node: NodeId) -> Result<(), String> {
        let member = self.member(node);
        nothing_due(node, member)?;
        if !member.inside {
            return Err(format!("{node} leaves though it is not inside"));
        }
        member.asked = false;
        member.inside = false;
        self.give(node, Input::Release)
    }

    fn receive(&mut self, node: NodeId, from: NodeId, letter: &Letter) -> Result<(), String> {
        let number = letter.number;
        let place = number.checked_sub(1).map(|place| place as usize);
        let made = place.and_then(|place| self.members[from.index()].made.get(place));
        if made != Some(&seal(node, &letter.body.0)) {
            return Err(format!(
                "{from} has sent no such message to {node} as its number {number}"
            ));
        }
        let message = self.group.decode(&letter.body.0);
        let message = message.map_err(|error| error.to_string())?;
        self.give(node, Input::Receive { from, message })
    }

    fn timer(&mut self, node: NodeId, timer: &str, tag: u64) -> Result<(), String> {
        let was_set = self.member(node).timers.remove(&(timer.to_owned(), tag));
        match self.timer_names.get(timer) {
            Some(name) if was_set => self.give(node, Input::Timer(Timer { name, tag })),
            _ => Err(format!(
                "{node} has set no timer {timer} with the tag {tag}"
            )),
        }
    }

    fn peer(&mut self, node: NodeId, peer: NodeId, change: Change) -> Result<(), String> {
        self.give(node, Input::Peer { peer, change })
    }

    fn link(&mut self, node: NodeId, neighbour: NodeId, change: Change) -> Result<(), String> {
        self.give(node, Input::Link { neighbour, change })
    }

    /// Gives something to a machine, and keeps what comes out.
    fn give(&mut self, node: NodeId, input: Input) -> Result<(), String> {
        nothing_due(node, &self.members[node.index()])?;
        self.progress.inputs += 1;
        let mut effects = Vec::new();
        self.group.handle(node, input, &mut effects);
        for effect in effects {
            let output = self.output(node, effect);
            self.member(node).due.push_back(output);
        }
        Ok(())
    }

    fn output(&mut self, node: NodeId, effect: Effect<MessageId>) -> Output {
        match effect {
            Effect::Send { to, message, .. } => {
                let (kind, body) = self.made(node, to, message);
                Output::Send { to, kind, body }
            }
            Effect::Post { message } => {
                let (kind, body) = self.made(node, node, message);
                Output::Post { kind, body }
            }
            Effect::Enter { fence } => Output::Enter { fence },
            Effect::SetTimer { timer, .. } => {
                let (name, tag) = (timer.name.to_owned(), timer.tag);
                self.timer_names.insert(name.clone(), timer.name);
                self.member(node).timers.insert((name.clone(), tag));
                Output::SetTimer { timer: name, tag }
            }
            Effect::CancelTimer { timer } => {
                let (name, tag) = (timer.name.to_owned(), timer.tag);
                self.member(node).timers.remove(&(name.clone(), tag));
                Output::CancelTimer { timer: name, tag }
            }
            Effect::Note { name, value, .. } => {
                let name = name.to_owned();
                Output::Note { name, value }
            }
            Effect::ProtocolError { why } | Effect::Fail { why } => Output::ProtocolError { why },
        }
    }

    /// A machine has made a message, which gets the next number.
    fn made(&mut self, node: NodeId, to: NodeId, message: MessageId) -> (String, Vec<u8>) {
        let kind = self.kinds[self.group.kind(message)].to_owned();
        let mut body = Vec::new();
        self.group.encode(message, &mut body);
        self.group.discard(message);
        self.member(node).made.push(seal(to, &body));
        (kind, body)
    }

    /// A message left, or was held back. Where it had done so before, this is a copy.
    fn sent(&mut self, node: NodeId, to: NodeId, letter: &Letter) -> Result<(), String> {
        let member = self.member(node);
        let number = letter.number;
        if (1..=member.left).contains(&number) {
            let made = member.made[number as usize - 1];
            return match made == seal(to, &letter.body.0) {
                true => Ok(()),
                false => Err(format!(
                    "{node} sends its message {number} again, but it was another, or to another"
                )),
            };
        }
        if number != member.left + 1 {
            let before = member.left;
            return Err(format!("{node} numbers a message {number} after {before}"));
        }
        member.left = number;
        let (kind, body) = (letter.kind.to_string(), letter.body.0.clone());
        let output = match to == node {
            true => Output::Post { kind, body },
            false => Output::Send { to, kind, body },
        };
        self.came_out(node, &output)
    }

    /// A client that is inside cannot be let in: then the member says so.
    fn erred(&mut self, node: NodeId, why: &str) -> Result<(), String> {
        let member = self.member(node);
        if why == ALREADY_INSIDE && matches!(member.due.front(), Some(Output::Enter { .. })) {
            member.due.pop_front();
            return Ok(());
        }
        let why = why.to_owned();
        self.came_out(node, &Output::ProtocolError { why })
    }

    /// Something came out of a machine then: the same must be next now.
    fn came_out(&mut self, node: NodeId, then: &Output) -> Result<(), String> {
        match self.member(node).due.pop_front() {
            Some(now) if now == *then => {
                self.progress.outputs += 1;
                Ok(())
            }
            Some(now) => Err(format!("{node} {then}; now it {now}")),
            None => Err(format!("{node} {then}; now it does nothing more")),
        }
    }
}

fn nothing_due(node: NodeId, member: &Member) -> Result<(), String> {
    match member.due.front() {
        None => Ok(()),
        Some(now) => Err(format!("{node} did nothing more; now it {now}")),
    }
}

/// What tells a message from any other; eight bytes are kept of each.
fn seal(to: NodeId, body: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    (to, body).hash(&mut hasher);
    hasher.finish()
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hex = |body: &[u8]| {
            let digits = body.iter().map(|byte| format!("{byte:02x}"));
            digits.collect::<String>()
        };
        match self {
            Output::Send { to, kind, body } => write!(f, "sends {kind} {} to {to}", hex(body)),
            Output::Post { kind, body } => write!(f, "posts {kind} {}", hex(body)),
            Output::Enter { fence: None } => write!(f, "lets its client in"),
            Output::Enter { fence: Some(fence) } => {
                write!(f, "lets its client in with the fence {fence}")
            }
            Output::SetTimer { timer, tag } => write!(f, "sets the timer {timer} ({tag})"),
            Output::CancelTimer { timer, tag } => write!(f, "cancels the timer {timer} ({tag})"),
            Output::Note { name, value } => write!(f, "notes {name} = {value}"),
            Output::ProtocolError { why } => write!(f, "says that this cannot be: {why}"),
        }
    }
}
