//! Faults with nothing left to decide: what happens when, in order.
//!
//! Entries as they are written leave things open: which edges are the four random ones, what `halves`
//! means for nine members, what stands in a file. A timeline has all that settled, so it can be
//! printed, stored and run again. Left open is only what the run itself decides: when an event
//! happens, and who is then the holder.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::churn::Churn;
use crate::draw::{Draw, word_of};
use crate::fate::Member;
use crate::fault::{AnyFault, Cut, InFlight, Late, Law};
use crate::language::{
    Action, Choice, DelayLaw, Entry, Event, FaultError, LinkFault, MessageFault, Parting, Scope,
    Start, Who,
};
use crate::matrix::Matrix;
use crate::network::Network;
use crate::partition::{Edges, isolate};
use crate::preset;
use crate::reach::Reach;
use crate::rule::{Count, Rule};
use crate::sample::Sample;
use crate::window::Window;

/// What must be known about a group to settle its faults.
pub struct Group<'a> {
    /// How many members there are.
    pub nodes: u32,
    /// The edges between them.
    pub edges: Edges,
    /// The kinds of messages they send, if that is known.
    pub kinds: Option<&'a [&'a str]>,
    /// Whether they pass a token around, if that is known.
    pub token: Option<bool>,
    /// Where all chance comes from.
    pub seed: u64,
    /// The text of a file, or why there is none.
    pub read: &'a dyn Fn(&str) -> Result<String, String>,
}

/// All faults of a run, in the order they begin; those that wait for an event come last.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    /// Where all chance comes from.
    pub seed: u64,
    /// How many members there are.
    pub nodes: u32,
    /// What happens.
    pub steps: Vec<Step>,
}

/// One fault with nothing left to decide but what the run decides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// As it was written, in the canonical way.
    pub text: String,
    /// What its draws are made from: its text, and the how-manieth of equal texts it is.
    pub identity: u64,
    /// What it is, without when and where: `loss 30%`, `partition halves`.
    pub name: String,
    /// When.
    pub begin: Begin,
    /// What.
    pub deed: Deed,
}

/// When a step happens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Begin {
    /// At known times.
    At(Window),
    /// Once, when something happens.
    When {
        /// What.
        event: Event,
        /// How long it then lasts.
        for_ns: Option<u64>,
        /// When it is over, at the latest.
        until_ns: Option<u64>,
    },
}

/// What a step does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Deed {
    /// Links become bad, in one or more ways.
    Links(Vec<BadLinks>),
    /// One that is yet to be found reaches nobody.
    Isolate(Who, InFlight),
    /// Cuts end.
    Heal(Reach),
    /// A process is killed.
    Kill(Who),
    /// A process is stopped, and goes on when the step is over.
    Pause(Who),
    /// A paused process goes on.
    Resume(Who),
    /// A process is killed and started anew.
    Restart(Who, u64),
    /// One message of the algorithm meets with something, above the transport.
    Message(MessageFault),
}

/// A way in which links are bad.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BadLinks {
    /// What they do.
    pub fault: AnyFault,
    /// Which.
    pub reach: Reach,
    /// Whether they come and go.
    pub churn: Option<Churn>,
}

/// What a step did to datagrams.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Did {
    /// When it first began.
    pub time_ns: u64,
    /// What it was.
    pub fault: String,
    /// On which links.
    pub target: String,
    /// When it was over, if it was.
    pub until_ns: Option<u64>,
    /// How many datagrams it saw, and to how many it made a difference.
    pub count: Count,
}

impl Timeline {
    /// Settles everything that can be settled before the run.
    pub fn resolve(entries: &[Entry], group: &Group<'_>) -> Result<Self, FaultError> {
        let mut seen: BTreeMap<String, u64> = BTreeMap::new();
        let mut steps = Vec::new();
        for entry in entries {
            let text = entry.to_string();
            // Read again, now that the group is known: so that what does not fit is pointed at.
            let entry = Entry::parse(&text, &group.scope())?;
            let nth = seen.entry(text.clone()).or_default();
            let identity = Draw::new([word_of(&text), *nth]).bits();
            *nth += 1;
            let deed = group.deed(&entry.action, identity, &text)?;
            if deed.is_idle() {
                continue;
            }
            steps.push(Step {
                begin: Begin::new(&entry),
                name: entry.action.name(),
                text,
                identity,
                deed,
            });
        }
        steps.sort_by_key(|step| match &step.begin {
            Begin::At(window) => (0, window.from_ns),
            Begin::When { .. } => (1, 0),
        });
        Ok(Self {
            seed: group.seed,
            nodes: group.nodes,
            steps,
        })
    }

    /// A network that does by itself all steps that need nobody to be found and no event to happen;
    /// see [`Step::runs_itself`].
    pub fn network(&self) -> Network {
        let mut network = Network::new(self.seed, self.nodes);
        for (number, step) in self.steps.iter().enumerate() {
            if let (true, Begin::At(window)) = (step.runs_itself(), &step.begin) {
                self.put_in_force(number, *window, None, &mut network);
            }
        }
        network
    }

    /// Puts a step about links that waited for an event, or for somebody to be found, in force from
    /// now on. A step with `every` is put in force each time.
    ///
    /// # Panics
    /// If the step is not about links, or somebody is to be isolated and `who` does not say who.
    pub fn enact(&self, step: usize, now_ns: u64, who: Option<Member>, network: &mut Network) {
        let (length_ns, until_ns) = match &self.steps[step].begin {
            Begin::At(window) => (window.length_ns, window.until_ns),
            Begin::When {
                for_ns, until_ns, ..
            } => (*for_ns, *until_ns),
        };
        let window = Window {
            from_ns: now_ns,
            length_ns,
            every_ns: None,
            until_ns,
        };
        self.put_in_force(step, window, who, network);
    }

    /// Whom `random` means, among these, the n-th time the step happens.
    ///
    /// # Panics
    /// If there is nobody.
    pub fn random(&self, step: usize, nth: u64, among: &[Member]) -> Member {
        let mut draw = Draw::new([self.seed, self.steps[step].identity, nth]);
        among[draw.below(among.len() as u64) as usize]
    }

    /// Whether some datagram could get lost, damaged or doubled on its way, so that members need a
    /// transport that repairs such things.
    pub fn harms(&self) -> bool {
        self.steps.iter().any(|step| match &step.deed {
            Deed::Links(bad) => bad.iter().any(|bad| bad.fault.harms()),
            Deed::Isolate(..) => true,
            Deed::Heal(_)
            | Deed::Kill(_)
            | Deed::Pause(_)
            | Deed::Resume(_)
            | Deed::Restart(..)
            | Deed::Message(_) => false,
        })
    }

    /// What each step about links did until the run ended, in the order they began.
    pub fn report(&self, network: &Network, ended_ns: u64) -> Vec<Did> {
        let mut by_step: BTreeMap<usize, Did> = BTreeMap::new();
        for (rule, count) in network.rules() {
            let Some(number) = rule.step else { continue };
            let did = by_step.entry(number).or_insert_with(|| Did {
                time_ns: rule.window.from_ns,
                fault: self.steps[number].name.clone(),
                target: rule.reach.to_string(),
                until_ns: Some(rule.window.over_ns()).filter(|over_ns| *over_ns <= ended_ns),
                count: Count::default(),
            });
            did.count.seen += count.seen;
            did.count.acted += count.acted;
        }
        let mut report = by_step.into_values().collect::<Vec<_>>();
        report.sort_by_key(|did| did.time_ns);
        report
    }

    fn put_in_force(
        &self,
        number: usize,
        window: Window,
        who: Option<Member>,
        network: &mut Network,
    ) {
        let step = &self.steps[number];
        let bad = match &step.deed {
            Deed::Links(bad) => bad.clone(),
            Deed::Isolate(_, in_flight) => {
                let member = who.expect("somebody is isolated");
                vec![BadLinks::cut(isolate(member, self.nodes), *in_flight)]
            }
            Deed::Heal(reach) => return network.heal(window, reach.clone()),
            Deed::Kill(_)
            | Deed::Pause(_)
            | Deed::Resume(_)
            | Deed::Restart(..)
            | Deed::Message(_) => unreachable!("'{}' is not about links", step.text),
        };
        for (part, bad) in bad.into_iter().enumerate() {
            network.add(Rule {
                identity: match part {
                    0 => step.identity,
                    _ => Draw::new([step.identity, part as u64]).bits(),
                },
                fault: bad.fault,
                reach: bad.reach,
                window,
                step: Some(number),
                churn: bad.churn,
            });
        }
    }
}

impl Step {
    /// Whether the network can do it without help: it is about links, and everything is known.
    pub fn runs_itself(&self) -> bool {
        matches!(
            (&self.begin, &self.deed),
            (Begin::At(_), Deed::Links(_) | Deed::Heal(_))
        )
    }
}

impl Begin {
    fn new(entry: &Entry) -> Self {
        let (for_ns, until_ns) = (entry.schedule.for_ns, entry.schedule.until_ns);
        let (from_ns, every_ns) = match &entry.schedule.start {
            Start::At(at_ns) => (*at_ns, None),
            Start::Every {
                first_ns,
                period_ns,
            } => (*first_ns, Some(*period_ns)),
            Start::When(event) => {
                return Begin::When {
                    event: event.clone(),
                    for_ns,
                    until_ns,
                };
            }
        };
        Begin::At(Window {
            from_ns,
            length_ns: for_ns,
            every_ns,
            until_ns,
        })
    }
}

impl Deed {
    /// Whether it could never do anything, as `loss 0%`.
    fn is_idle(&self) -> bool {
        matches!(self, Deed::Links(bad) if bad.iter().all(|bad| bad.fault.is_idle()))
    }
}

impl BadLinks {
    fn cut(reach: Reach, in_flight: InFlight) -> Self {
        Self {
            fault: AnyFault::Cut(Cut { in_flight }),
            reach,
            churn: None,
        }
    }
}

impl Group<'_> {
    /// What can be checked while a fault of this group is read.
    pub fn scope(&self) -> Scope<'_> {
        Scope {
            nodes: Some(self.nodes),
            names: &[],
            kinds: self.kinds,
            edges: Some(self.edges.count()),
            token: self.token,
        }
    }

    fn deed(&self, action: &Action, identity: u64, text: &str) -> Result<Deed, FaultError> {
        let draw = Draw::new([self.seed, identity]);
        let choose = |choice: &Choice| match choice {
            Choice::Edges => self.edges.reach(),
            Choice::Random(edges) => self.edges.some(u64::from(*edges), draw.clone()),
            Choice::Links(reach) => reach.clone(),
        };
        Ok(match action {
            Action::Links { fault, reach } => Deed::Links(self.bad_links(fault, reach, text)?),
            Action::Cut { choice, in_flight } => {
                Deed::Links(vec![BadLinks::cut(choose(choice), *in_flight)])
            }
            Action::Partition { parting, in_flight } => {
                let reach = match parting {
                    Parting::Named(named) => named.reach(self.nodes, draw),
                    Parting::Groups(reach) => reach.clone(),
                };
                Deed::Links(vec![BadLinks::cut(reach, *in_flight)])
            }
            Action::Isolate {
                who: Who::Member(member),
                in_flight,
            } => Deed::Links(vec![BadLinks::cut(
                isolate(*member, self.nodes),
                *in_flight,
            )]),
            Action::Isolate { who, in_flight } => Deed::Isolate(*who, *in_flight),
            Action::Heal { reach } => Deed::Heal(reach.clone()),
            Action::Churn {
                choice,
                churn,
                in_flight,
            } => Deed::Links(vec![BadLinks {
                churn: Some(*churn),
                ..BadLinks::cut(choose(choice), *in_flight)
            }]),
            Action::Kill(who) => Deed::Kill(*who),
            Action::Pause(who) => Deed::Pause(*who),
            Action::Resume(who) => Deed::Resume(*who),
            Action::Restart { who, after_ns } => Deed::Restart(*who, *after_ns),
            Action::Message(fault) => Deed::Message(fault.clone()),
        })
    }

    fn bad_links(
        &self,
        fault: &LinkFault,
        reach: &Reach,
        text: &str,
    ) -> Result<Vec<BadLinks>, FaultError> {
        let fault = match fault {
            LinkFault::Model(fault) => fault.clone(),
            LinkFault::Delay {
                law,
                correlation,
                order,
            } => AnyFault::Late(Late {
                law: self.load(law, text)?,
                correlation: *correlation,
                order: *order,
            }),
            LinkFault::Preset(name) => {
                let preset = preset::find(name).expect("only presets that there are can be read");
                let mut all = Vec::new();
                for words in preset.faults {
                    let entry: Entry = words.parse().expect("presets are in the model's words");
                    let Action::Links { fault, .. } = &entry.action else {
                        unreachable!("presets are about links");
                    };
                    all.extend(self.bad_links(fault, reach, text)?);
                }
                return Ok(all);
            }
        };
        Ok(vec![BadLinks {
            fault,
            reach: reach.clone(),
            churn: None,
        }])
    }

    fn load(&self, law: &DelayLaw, text: &str) -> Result<Law, FaultError> {
        let file = match law {
            DelayLaw::Empirical(source) => &source.file,
            DelayLaw::Matrix(file) => file,
        };
        let error = |wrong: String| {
            let start = text.find(file).unwrap_or(0);
            FaultError {
                text: text.to_owned(),
                place: start..start + file.len(),
                wrong,
                right: "write the name of a file that can be read, or correct it".to_owned(),
            }
        };
        let read = || (self.read)(file).map_err(|why| error(format!("{file}: {why}")));
        let misread = |why| error(format!("{file}: {why}"));
        match law {
            DelayLaw::Empirical(source) => {
                let sample = Sample::read(source, &read()?);
                sample.map(Law::Sample).map_err(misread)
            }
            DelayLaw::Matrix(name) => match preset::matrix(name) {
                Some(matrix) => Ok(Law::Matrix(matrix)),
                None => Matrix::read(name, &read()?)
                    .map(Law::Matrix)
                    .map_err(misread),
            },
        }
    }
}

impl fmt::Display for Timeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = self.steps.iter().map(|step| {
            let decided = match &step.deed {
                Deed::Links(bad) => bad.iter().map(ToString::to_string).collect(),
                _ => Vec::new(),
            };
            // What the text says word for word need not be said again.
            let news = decided
                .into_iter()
                .filter(|part: &String| !step.text.contains(part));
            (step.begin.to_string(), &step.text, news)
        });
        let rows = rows.collect::<Vec<_>>();
        let width = rows.iter().map(|(begin, ..)| begin.chars().count()).max();
        let width = width.unwrap_or(0);
        for (begin, text, news) in rows {
            writeln!(f, "{begin:width$}  {text}")?;
            for part in news {
                writeln!(f, "{:width$}    {part}", "")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Begin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Begin::At(window) => window.fmt(f),
            Begin::When { event, .. } => write!(f, "when {event}"),
        }
    }
}

impl fmt::Display for BadLinks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (verb, in_flight) = match (&self.fault, &self.churn) {
            (AnyFault::Cut(cut), None) => ("cut", cut.in_flight),
            (AnyFault::Cut(cut), Some(_)) => ("churn", cut.in_flight),
            (fault, _) => return write!(f, "{fault} on {}", self.reach),
        };
        write!(f, "{verb} {}", self.reach)?;
        if let Some(churn) = self.churn {
            write!(f, " {churn}")?;
        }
        match in_flight {
            InFlight::Drop => Ok(()),
            InFlight::Hold | InFlight::Deliver => write!(f, " {in_flight}"),
        }
    }
}
