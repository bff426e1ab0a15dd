//! One program that is one member.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use algorithms::erased::Input;
use algorithms::external::External;
use algorithms::params::Value;
use algorithms::{After, Effect, NodeId, Request, Setting, Setup, Timer};
use serde_json::value::RawValue;

use crate::process::{Process, ProgramError, Start};
use crate::protocol::{self, Answer, Init, Parameter, Question, Saved, Wish, shown};
use crate::{TOO_EARLY, names};

/// A message as a program wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Message {
    /// Its place among the kinds.
    pub(crate) kind: usize,
    /// One line of JSON.
    pub(crate) text: Box<str>,
}

/// The program of one member.
pub(crate) struct Member {
    of: External,
    me: NodeId,
    nodes: u32,
    /// Those it may send to, where that is not everybody.
    neighbours: Option<BTreeSet<u32>>,
    process: Process,
    question: Vec<u8>,
    /// Whether the local client waits.
    asked: bool,
    /// How often it let in a client that had not asked.
    uninvited: u32,
    /// What it last showed of its state.
    pub(crate) state: Option<Box<str>>,
}

impl Member {
    /// Starts the program and tells it who it is.
    pub(crate) fn start(
        of: External,
        start: &Start,
        setting: &Setting,
        me: NodeId,
    ) -> Result<Self, ProgramError> {
        let mut member = Self::spawn(of, start, setting, me)?;
        member.init(setting)?;
        Ok(member)
    }

    /// Starts the program, and does not wait until it lives.
    pub(crate) fn spawn(
        of: External,
        start: &Start,
        setting: &Setting,
        me: NodeId,
    ) -> Result<Self, ProgramError> {
        let setup = Setup { me, setting };
        let neighbours: BTreeSet<_> = setup.linked().map(|node| node.0).collect();
        let everybody = neighbours.len() + 1 == setting.nodes() as usize;
        Ok(Self {
            of,
            me,
            nodes: setting.nodes(),
            neighbours: (!everybody).then_some(neighbours),
            process: Process::start(start)?,
            question: Vec::new(),
            asked: false,
            uninvited: 0,
            state: None,
        })
    }

    /// Tells the program who it is.
    pub(crate) fn init(&mut self, setting: &Setting) -> Result<(), ProgramError> {
        let init = init(setting, self.me);
        let line = self.ask(&Question::Init(&init))?;
        let answer: Answer<'_> = protocol::read(&self.question, &line)?;
        self.state = answer.state.map(|state| state.get().into());
        match answer.effects.is_empty() {
            true => Ok(()),
            false => Err(self.impossible(&line, TOO_EARLY)),
        }
    }

    /// Lets an event happen; what the program says to itself happens before this returns.
    pub(crate) fn happen(
        &mut self,
        event: Input,
        received: Option<&Message>,
        effects: &mut Vec<Effect<Message>>,
    ) -> Result<(), ProgramError> {
        /// So many messages to oneself in one event, and it never ends.
        const MOST_TO_ITSELF: usize = 10_000;
        let raw;
        let question = match event {
            Input::Request(Request { priority }) => Question::Request { priority },
            Input::Release => Question::Release {},
            Input::Receive { from, .. } => {
                let text = &received.expect("a message that arrives is known").text;
                raw = raw_value(text);
                Question::Receive {
                    from: from.0,
                    message: &raw,
                }
            }
            Input::Timer(Timer { name, tag }) => Question::Timer { name, tag },
            Input::Peer { peer, change } => Question::Peer {
                node: peer.0,
                change: change.into(),
            },
            Input::Link { neighbour, change } => Question::Link {
                node: neighbour.0,
                change: change.into(),
            },
        };
        let mut to_itself = VecDeque::new();
        let line = self.ask(&question)?;
        self.take(&line, effects, &mut to_itself)?;
        let mut messages = 0;
        while let Some(message) = to_itself.pop_front() {
            messages += 1;
            let raw = raw_value(&message);
            let line = self.ask(&Question::Receive {
                from: self.me.0,
                message: &raw,
            })?;
            if messages > MOST_TO_ITSELF {
                let why = format!("it sends itself more than {MOST_TO_ITSELF} messages in a row");
                return Err(self.impossible(&line, &why));
            }
            self.take(&line, effects, &mut to_itself)?;
        }
        Ok(())
    }

    /// Each entry that nobody asked for is a finding; a program that never stops is ended.
    pub(crate) fn count_uninvited(&mut self, event: Input, entered: bool) -> Result<(), String> {
        const MOST: u32 = 1_000;
        self.asked |= matches!(event, Input::Request(_));
        if !entered || std::mem::take(&mut self.asked) {
            return Ok(());
        }
        self.uninvited += 1;
        match self.uninvited < MOST {
            true => Ok(()),
            false => Err(format!(
                "member {} entered {MOST} times without having asked",
                self.me
            )),
        }
    }

    /// All that the program knows, in one form for one knowledge.
    pub(crate) fn save(&mut self) -> Result<Box<str>, ProgramError> {
        let line = self.ask(&Question::Save {})?;
        let saved: Saved<'_> = protocol::read(&self.question, &line)?;
        Ok(canonical(saved.state.get()))
    }

    /// Puts the program back to what it knew.
    pub(crate) fn load(&mut self, state: &str) -> Result<(), ProgramError> {
        let raw = raw_value(state);
        let line = self.ask(&Question::Load { state: &raw })?;
        let answer: Answer<'_> = protocol::read(&self.question, &line)?;
        match answer.effects.is_empty() {
            true => Ok(()),
            false => Err(self.impossible(&line, "nothing happens when a state is loaded")),
        }
    }

    /// Gives up the process, so that it can be ended together with others.
    pub(crate) fn into_process(self) -> Process {
        self.process
    }

    /// What a person is told of an error of this program.
    pub(crate) fn told(&self, error: &ProgramError) -> String {
        told(self.of, self.me, self.process.lines, error)
    }

    fn ask(&mut self, question: &Question<'_>) -> Result<Vec<u8>, ProgramError> {
        self.question.clear();
        question.write(&mut self.question);
        self.process.ask(&self.question)
    }

    fn take(
        &mut self,
        line: &[u8],
        effects: &mut Vec<Effect<Message>>,
        to_itself: &mut VecDeque<Box<str>>,
    ) -> Result<(), ProgramError> {
        let answer: Answer<'_> = protocol::read(&self.question, line)?;
        if answer.declares.is_some() {
            return Err(self.impossible(line, "only the answer to init declares something"));
        }
        if let Some(state) = answer.state {
            self.state = Some(state.get().into());
        }
        for wish in answer.effects {
            if let Wish::Send(send) = &wish
                && send.to == self.me.0
            {
                to_itself.push_back(send.message.get().into());
                continue;
            }
            let effect = self.effect(wish);
            effects.push(effect.map_err(|why| self.impossible(line, &why))?);
        }
        Ok(())
    }

    fn effect(&self, wish: Wish<'_>) -> Result<Effect<Message>, String> {
        Ok(match wish {
            Wish::Send(send) => Effect::Send {
                to: self.addressee(send.to)?,
                message: self.message(send.message)?,
                charge: self.charge(send.charge)?,
            },
            Wish::Enter(enter) => Effect::Enter { fence: enter.fence },
            Wish::SetTimer(set) => Effect::SetTimer {
                timer: timer(&set.name, set.tag)?,
                after: After::Exactly(span(set.after_ms)?),
            },
            Wish::CancelTimer(cancel) => Effect::CancelTimer {
                timer: timer(&cancel.name, cancel.tag)?,
            },
            Wish::Note(note) => Effect::Note {
                name: names::kept(&note.name)?,
                value: note.value,
                charge: self.charge(note.charge)?,
            },
            // In one line, so that no program writes lines of a report.
            Wish::Error(error) => Effect::ProtocolError {
                why: error.why.split_whitespace().collect::<Vec<_>>().join(" "),
            },
        })
    }

    fn addressee(&self, to: u32) -> Result<NodeId, String> {
        if to >= self.nodes {
            let last = self.nodes - 1;
            return Err(format!("it sends to {to}, and the members are 0 to {last}"));
        }
        match &self.neighbours {
            Some(neighbours) if !neighbours.contains(&to) => {
                let links = neighbours.iter().map(u32::to_string).collect::<Vec<_>>();
                let links = links.join(", ");
                Err(format!("it sends to {to}, and has links to {links}"))
            }
            _ => Ok(NodeId(to)),
        }
    }

    fn charge(&self, charge: Option<u32>) -> Result<Option<NodeId>, String> {
        match charge {
            Some(node) if node >= self.nodes => Err(format!("there is no member {node} to charge")),
            charge => Ok(charge.map(NodeId)),
        }
    }

    fn message(&self, message: &RawValue) -> Result<Message, String> {
        let kinds = &self.of.program.declares.kinds;
        let kind = match kinds.as_slice() {
            [] => 0,
            kinds => {
                let named = protocol::kind_of(message);
                let named = named.ok_or_else(|| {
                    let kinds = kinds.join(", ");
                    format!("it sends a message without a kind; it declared {kinds}")
                })?;
                kinds
                    .iter()
                    .position(|kind| *kind == named)
                    .ok_or_else(|| {
                        let kinds = kinds.join(", ");
                        format!("it sends a message of the kind '{named}'; it declared {kinds}")
                    })?
            }
        };
        let text = message.get().into();
        Ok(Message { kind, text })
    }

    fn impossible(&self, line: &[u8], why: &str) -> ProgramError {
        ProgramError::Impossible {
            asked: shown(&self.question),
            line: shown(line),
            why: why.to_owned(),
        }
    }
}

/// What a person is told of an error of the program of a member.
pub(crate) fn told(of: External, me: NodeId, lines: u64, error: &ProgramError) -> String {
    let command = of.program.command.join(" ");
    let line = match error {
        ProgramError::NoAnswer { .. } | ProgramError::Impossible { .. } => {
            format!(", line {lines}")
        }
        // The line that was being waited for, or that came instead of it.
        ProgramError::Unasked { .. }
        | ProgramError::TooLong { .. }
        | ProgramError::Ended { .. }
        | ProgramError::TooMuch { .. }
        | ProgramError::Late { .. } => format!(", line {}", lines + 1),
        ProgramError::Unstarted { .. } => String::new(),
    };
    format!("the program of member {me} ({command}){line}: {error}")
}

/// What the program of this member is told first.
pub(crate) fn init(setting: &Setting, me: NodeId) -> Init {
    let setup = Setup { me, setting };
    let is_tree = setting.topology.towards(setting.holder).is_some();
    let params = setting.params.iter().map(|(name, value)| {
        let value = match value {
            Value::Integer(number) => Parameter::Number(*number),
            Value::Word(word) => Parameter::from(word.as_str()),
        };
        (name.to_owned(), value)
    });
    Init {
        protocol: protocol::VERSION,
        me: me.0,
        nodes: setting.nodes(),
        neighbours: setup.neighbours().map(|node| node.0).collect(),
        holder: setting.holder.0,
        towards_holder: is_tree.then(|| setup.towards_holder().0),
        bound_ms: setting.bound.as_secs_f64() * 1e3,
        params: params.collect(),
    }
}

fn timer(name: &str, tag: u64) -> Result<Timer, String> {
    let name = names::kept(name)?;
    Ok(Timer { name, tag })
}

fn span(after_ms: f64) -> Result<Duration, String> {
    /// Longer than any run.
    const LONGEST_MS: f64 = 1e12;
    match (0.0..=LONGEST_MS).contains(&after_ms) {
        true => Ok(Duration::from_nanos((after_ms * 1e6) as u64)),
        false => Err(format!("no timer goes off after {after_ms} ms")),
    }
}

/// Text that was JSON when it came in.
fn raw_value(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).expect("it was read as JSON")
}

/// The same value always as the same text: keys in order, no spaces.
pub(crate) fn canonical(text: &str) -> Box<str> {
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(value) => value.to_string().into(),
        Err(_) => text.into(),
    }
}
