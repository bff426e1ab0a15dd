//! Whether a program keeps to the protocol: every line of it is tried, and what the program does not do is listed.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use algorithms::erased::{Group, Input, MessageId};
use algorithms::external::{Declaration, Program, Wanted};
use algorithms::printed::Printed;
use algorithms::topology::Shape;
use algorithms::{Effect, NodeId, Request, Setting, registry};
use serde_json::Value;

use crate::process::{self, Process, ProgramError, Start};
use crate::protocol::{self, Answer, Init, Question, Saved};

/// How many members the little group has.
const NODES: u32 = 3;
/// How many events the long walk has.
const EVENTS: u64 = 10_000;
/// How large the large message is.
const LARGE: usize = 1 << 20;

/// One thing that a program should do.
#[derive(Clone, Debug)]
pub struct Line {
    /// What it should do, in a few words.
    pub what: &'static str,
    /// What became of it.
    pub outcome: Outcome,
}

/// What became of one thing that a program should do.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// The program does what the line of the protocol asks.
    Does,
    /// It does not; this is what it does.
    DoesNot(String),
    /// It need not, for this reason.
    NeedNot(String),
}

/// Walks through the protocol and says after each step what became of it. Says whether it got to the end: it does not
/// where `stopped` says so, which is asked before each event.
pub fn check(start: &Start, stopped: &dyn Fn() -> bool, tell: &mut dyn FnMut(Line)) -> bool {
    let mut walk = Walk {
        start,
        stopped,
        declares: Declaration::default(),
    };
    // A program that does not begin has nothing else to be asked.
    let mut begins = true;
    for (what, step) in STEPS {
        let outcome = step(&mut walk).unwrap_or_else(Outcome::DoesNot);
        if stopped() {
            return false;
        }
        begins &= *what != INIT || !matches!(outcome, Outcome::DoesNot(_));
        tell(Line { what, outcome });
        if !begins {
            break;
        }
    }
    true
}

type Step = fn(&mut Walk<'_>) -> Result<Outcome, String>;

const INIT: &str = "answers init";

const STEPS: &[(&str, Step)] = &[
    (INIT, |walk| walk.init()),
    ("ignores fields it does not know in init", |walk| {
        walk.strange_init()
    }),
    ("answers request", |walk| {
        walk.one(r#"{"request":{"priority":7}}"#)
    }),
    ("ignores fields it does not know in request", |walk| {
        walk.one(r#"{"request":{"priority":0,"colour":{"red":[1,2]}}}"#)
    }),
    ("answers a release that comes without an entry", |walk| {
        walk.one(r#"{"release":{}}"#)
    }),
    ("answers a peer that went down", |walk| {
        walk.wanted(Wanted::Peer, r#"{"peer":{"node":1,"change":"down"}}"#)
    }),
    ("answers a link that went down", |walk| {
        walk.wanted(Wanted::Link, r#"{"link":{"node":1,"change":"down"}}"#)
    }),
    ("answers two requests in a row", |walk| {
        walk.lines(&[REQUEST, REQUEST])
    }),
    ("lets three members in, each several times", |walk| {
        let entered = walk.group(NODES, u64::from(NODES) * 4, None);
        entered.map(|_| Outcome::Does)
    }),
    ("carries a message of a megabyte", |walk| {
        walk.padded(&"x".repeat(LARGE))
    }),
    ("carries letters of every script", |walk| {
        walk.padded("ä ß 日本 \u{1f512} \u{202e} \\ \" \u{0} \n")
    }),
    ("answers 10,000 events", |walk| walk.long()),
    ("does the same again", |walk| walk.again()),
    ("saves and loads", |walk| walk.saves()),
    ("ends when its stdin ends", |walk| walk.ends()),
];

const REQUEST: &str = r#"{"request":{"priority":0}}"#;

struct Walk<'a> {
    start: &'a Start,
    stopped: &'a dyn Fn() -> bool,
    declares: Declaration,
}

impl Walk<'_> {
    fn setting(&self, nodes: u32) -> Result<(Setting, &'static registry::AlgorithmInfo), String> {
        let program = Program {
            command: self.start.command.clone(),
            directory: self.start.directory.display().to_string(),
            answer_within_ns: self.start.answer_within.as_nanos() as u64,
            limits: self.start.limits,
            declares: self.declares.clone(),
        };
        let info = algorithms::external::info(program, &[]);
        let nodes = nodes.max(self.declares.least_nodes);
        let topology = Shape::default_for(info.graph, nodes).build(nodes, 0);
        let topology = topology.map_err(|error| error.to_string())?;
        let bound = Duration::from_millis(1);
        let (params, repaired) = (info.defaults(), Printed::repaired());
        let setting = Setting::new(topology, NodeId(0), params, repaired, bound);
        Ok((setting, info))
    }

    fn first(&self) -> Result<Init, String> {
        let (setting, _) = self.setting(NODES)?;
        Ok(crate::member::init(&setting, NodeId(0)))
    }

    /// A program that has answered `init`.
    fn begun(&self) -> Result<Process, String> {
        let mut process = Process::start(self.start).map_err(text)?;
        let question = Question::Init(&self.first()?).line();
        let line = process.ask(&question).map_err(text)?;
        protocol::read::<Answer<'_>>(&question, &line).map_err(text)?;
        Ok(process)
    }

    fn init(&mut self) -> Result<Outcome, String> {
        let mut process = Process::start(self.start).map_err(text)?;
        self.declares = crate::declared(&mut process, &self.first()?).map_err(text)?;
        self.declares.check()?;
        Ok(Outcome::Does)
    }

    fn strange_init(&self) -> Result<Outcome, String> {
        let mut process = Process::start(self.start).map_err(text)?;
        let line = Question::Init(&self.first()?).line();
        let mut question: Value =
            serde_json::from_slice(&line).map_err(|error| error.to_string())?;
        question["init"]["weather"] = Value::from("fine");
        let question = format!("{question}\n");
        let line = process.ask(question.as_bytes()).map_err(text)?;
        protocol::read::<Answer<'_>>(question.as_bytes(), &line).map_err(text)?;
        Ok(Outcome::Does)
    }

    fn one(&self, line: &str) -> Result<Outcome, String> {
        self.lines(&[line])
    }

    fn wanted(&self, event: Wanted, line: &str) -> Result<Outcome, String> {
        match self.declares.wants.contains(&event) {
            true => self.one(line),
            false => Ok(Outcome::NeedNot(
                "it does not declare that it wants them".to_owned(),
            )),
        }
    }

    /// Whether it answers these lines after `init`, whatever it answers.
    fn lines(&self, lines: &[&str]) -> Result<Outcome, String> {
        let mut process = self.begun()?;
        for line in lines {
            let question = format!("{line}\n");
            let answer = process.ask(question.as_bytes()).map_err(text)?;
            protocol::read::<Answer<'_>>(question.as_bytes(), &answer).map_err(text)?;
        }
        process::end_all(vec![process]);
        Ok(Outcome::Does)
    }

    /// Lets a little group run until so many events have happened; gives what it did, as text.
    fn group(&self, nodes: u32, events: u64, padding: Option<&str>) -> Result<String, String> {
        let (setting, info) = self.setting(nodes)?;
        let machine = info.machine(&setting.params, &setting.printed);
        let mut walk = GroupWalk {
            nodes: setting.nodes(),
            group: machine.group(&setting, 0..setting.nodes()),
            flight: VecDeque::new(),
            timers: VecDeque::new(),
            inside: None,
            told: String::new(),
            padding,
            stopped: self.stopped,
        };
        let mut happened = 0;
        let mut asker = 0;
        while happened < events {
            let entered = walk.serve(NodeId(asker % walk.nodes), &mut happened)?;
            if !entered {
                return Err(format!(
                    "member {} asked alone, everything arrived, and it was not let in",
                    asker % walk.nodes
                ));
            }
            asker += 1;
        }
        Ok(walk.told)
    }

    fn padded(&self, padding: &str) -> Result<Outcome, String> {
        self.group(2, 4, Some(padding)).map(|_| Outcome::Does)
    }

    fn long(&self) -> Result<Outcome, String> {
        let begun = Instant::now();
        self.group(2, EVENTS, None)?;
        let each = begun.elapsed().as_secs_f64() / EVENTS as f64;
        tracing::info!(events_per_second = 1.0 / each, "answered");
        Ok(Outcome::Does)
    }

    fn again(&self) -> Result<Outcome, String> {
        let one = self.group(NODES, 200, None)?;
        let other = self.group(NODES, 200, None)?;
        match one
            .lines()
            .zip(other.lines())
            .find(|(one, other)| one != other)
        {
            None => Ok(Outcome::Does),
            Some((one, other)) => Err(format!(
                "given the same once more it did `{other}` and not `{one}`: runs cannot be repeated"
            )),
        }
    }

    fn saves(&self) -> Result<Outcome, String> {
        if !self.declares.saves {
            return Ok(Outcome::NeedNot(
                "it does not declare `\"saves\": true`, so it cannot be explored".to_owned(),
            ));
        }
        let mut process = self.begun()?;
        let first = save(&mut process)?;
        let answer = ask(&mut process, REQUEST)?;
        // Who leaves everything to another member may know no more than before.
        let then = save(&mut process)?;
        for state in [&first, &then] {
            ask(&mut process, &format!(r#"{{"load":{{"state":{state}}}}}"#))?;
            let now = save(&mut process)?;
            if ordered(now.as_bytes()) != ordered(state.as_bytes()) {
                return Err(format!("after `load` of {state} `save` says {now}"));
            }
        }
        ask(&mut process, &format!(r#"{{"load":{{"state":{first}}}}}"#))?;
        let again = ask(&mut process, REQUEST)?;
        let (answer, again) = (ordered(&answer), ordered(&again));
        if answer != again {
            let shown = |answer: &str| protocol::shown(answer.as_bytes());
            let (answer, again) = (shown(&answer), shown(&again));
            return Err(format!(
                "a request is answered with {answer}, and put back to {first} with {again}: `save` does not say \
                 all it knows, or `load` does not take it"
            ));
        }
        Ok(Outcome::Does)
    }

    fn ends(&self) -> Result<Outcome, String> {
        match self.begun()?.ends_by_itself() {
            true => Ok(Outcome::Does),
            false => Err("it was still there, and had to be killed".to_owned()),
        }
    }
}

/// A little group in which one asks at a time, and messages arrive in the order they were sent.
struct GroupWalk<'a> {
    nodes: u32,
    group: Box<dyn Group>,
    flight: VecDeque<(NodeId, NodeId, MessageId)>,
    timers: VecDeque<(NodeId, algorithms::Timer)>,
    inside: Option<NodeId>,
    told: String,
    /// What is put into every message, if anything is.
    padding: Option<&'a str>,
    stopped: &'a dyn Fn() -> bool,
}

impl GroupWalk<'_> {
    /// Lets one member ask, enter and leave; says whether it entered.
    fn serve(&mut self, node: NodeId, happened: &mut u64) -> Result<bool, String> {
        /// More than this for one entry is a loop.
        const MOST: u64 = 100_000;
        let limit = *happened + MOST;
        self.happen(node, Input::Request(Request { priority: 0 }), happened)?;
        let mut entered = false;
        while *happened < limit {
            if self.inside == Some(node) {
                entered = true;
                self.inside = None;
                self.happen(node, Input::Release, happened)?;
            } else if let Some((from, to, message)) = self.flight.pop_front() {
                let message = self.padded(message)?;
                self.happen(to, Input::Receive { from, message }, happened)?;
            } else if entered {
                break;
            } else if let Some((node, timer)) = self.timers.pop_front() {
                self.happen(node, Input::Timer(timer), happened)?;
            } else {
                break;
            }
        }
        Ok(entered)
    }

    fn happen(&mut self, node: NodeId, event: Input, happened: &mut u64) -> Result<(), String> {
        if (self.stopped)() {
            return Err("nobody waits for it any longer".to_owned());
        }
        *happened += 1;
        let mut effects = Vec::new();
        self.group.handle(node, event, &mut effects);
        for effect in effects {
            match effect {
                Effect::Send { to, message, .. } => {
                    let text = ordered(&self.bytes(message));
                    self.told += &format!("{node} sends {to} {text}\n");
                    self.flight.push_back((node, to, message));
                }
                Effect::Post { message } => self.flight.push_back((node, node, message)),
                Effect::Enter { .. } => {
                    self.told += &format!("{node} enters\n");
                    self.inside = Some(node);
                }
                Effect::SetTimer { timer, .. } => {
                    self.timers.retain(|set| *set != (node, timer));
                    self.timers.push_back((node, timer));
                }
                Effect::CancelTimer { timer } => self.timers.retain(|set| *set != (node, timer)),
                Effect::Note { name, value, .. } => {
                    self.told += &format!("{node} notes {name} {value}\n");
                }
                Effect::ProtocolError { why } | Effect::Fail { why } => return Err(why),
            }
        }
        Ok(())
    }

    fn bytes(&self, message: MessageId) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.group.encode(message, &mut bytes);
        bytes
    }

    /// The message with something more in it.
    fn padded(&mut self, message: MessageId) -> Result<MessageId, String> {
        let Some(padding) = self.padding else {
            return Ok(message);
        };
        let Ok(mut value) = serde_json::from_slice::<Value>(&self.bytes(message)) else {
            return Ok(message);
        };
        if let Value::Object(fields) = &mut value {
            fields.insert("padding".to_owned(), Value::from(padding));
        }
        self.group.discard(message);
        let again = self.group.decode(value.to_string().as_bytes());
        again.map_err(|error| error.to_string())
    }
}

/// A value with the keys of each object in one order: many languages write them in another each time.
fn ordered(json: &[u8]) -> String {
    match serde_json::from_slice::<Value>(json) {
        Ok(value) => value.to_string(),
        Err(_) => String::from_utf8_lossy(json).into_owned(),
    }
}

fn ask(process: &mut Process, line: &str) -> Result<Vec<u8>, String> {
    let question = format!("{line}\n");
    let answer = process.ask(question.as_bytes()).map_err(text)?;
    protocol::read::<Answer<'_>>(question.as_bytes(), &answer).map_err(text)?;
    Ok(answer)
}

fn save(process: &mut Process) -> Result<Box<str>, String> {
    let question = Question::Save {}.line();
    let line = process.ask(&question).map_err(text)?;
    let saved: Saved<'_> = protocol::read(&question, &line).map_err(text)?;
    Ok(crate::member::canonical(saved.state.get()))
}

#[expect(clippy::needless_pass_by_value, reason = "it is given to map_err")]
fn text(error: ProgramError) -> String {
    error.to_string()
}
