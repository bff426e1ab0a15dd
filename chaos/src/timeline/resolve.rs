//! Deciding what faults as they are written leave open.

use std::collections::BTreeMap;

use super::{BadLinks, Begin, FaultAction, Step, Timeline};
use crate::draw::{Draw, word_of};
use crate::fault::{AnyFault, Late, Law};
use crate::language::{
    Action, Choice, DelayLaw, FaultError, FaultSpec, LinkFault, PartitionGroups, Scope, Start, Who,
};
use crate::matrix::Matrix;
use crate::partition::{Edges, isolate};
use crate::preset;
use crate::reach::Reach;
use crate::sample::Sample;
use crate::time_window::TimeWindow;

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
    /// The seed of all random draws.
    pub seed: u64,
    /// The text of a file, or why there is none.
    pub read: &'a dyn Fn(&str) -> Result<String, String>,
}

impl Timeline {
    /// Settles everything that can be settled before the run.
    pub fn resolve(specs: &[FaultSpec], group: &Group<'_>) -> Result<Self, FaultError> {
        let mut timeline = Self {
            seed: group.seed,
            nodes: group.nodes,
            steps: Vec::new(),
        };
        let mut equals = BTreeMap::<String, u64>::new();
        for spec in specs {
            let text = spec.to_string();
            spec.check(&group.scope())?;
            let nth = equals.entry(text).or_default();
            if let Some(step) = group.settle(spec, *nth)? {
                timeline.steps.push(step);
                *nth += 1;
            }
        }
        timeline.steps.sort_by_key(|step| match &step.begin {
            Begin::At(window) => (0, window.from_ns),
            Begin::When { .. } => (1, 0),
        });
        Ok(timeline)
    }
}

impl Group<'static> {
    /// A group in which everybody has a link to everybody and messages are unknown, and whose faults
    /// name no files.
    pub fn complete(nodes: u32, seed: u64) -> Self {
        Self {
            nodes,
            edges: Edges::Complete { nodes },
            kinds: None,
            token: None,
            seed,
            read: &|_| Err("no files are read here".to_owned()),
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
            links_only: false,
        }
    }

    /// Settles one fault that was read in this group's [`scope`](Self::scope), and of which there are
    /// `equals` equal ones already; none if it could never do anything.
    pub fn settle(&self, spec: &FaultSpec, equals: u64) -> Result<Option<Step>, FaultError> {
        let text = spec.to_string();
        let identity = Draw::new([word_of(&text), equals]).bits();
        let action = self.action(&spec.action, identity, &text)?;
        Ok((!action.is_idle()).then(|| Step {
            begin: Begin::new(spec),
            name: spec.action.name(),
            text,
            identity,
            action,
        }))
    }

    fn action(
        &self,
        action: &Action,
        identity: u64,
        text: &str,
    ) -> Result<FaultAction, FaultError> {
        let draw = Draw::new([self.seed, identity]);
        let choose = |choice: &Choice| match choice {
            Choice::Edges => self.edges.reach(),
            Choice::Random(edges) => self.edges.some(u64::from(*edges), draw.clone()),
            Choice::Links(reach) => reach.clone(),
        };
        Ok(match action {
            Action::Links { fault, reach } => {
                FaultAction::Links(self.bad_links(fault, reach, text)?)
            }
            Action::Cut { choice, in_flight } => {
                FaultAction::Links(vec![BadLinks::cut(choose(choice), *in_flight)])
            }
            Action::Partition { groups, in_flight } => {
                let reach = match groups {
                    PartitionGroups::Named(named) => named.reach(self.nodes, draw),
                    PartitionGroups::Groups(reach) => reach.clone(),
                };
                FaultAction::Links(vec![BadLinks::cut(reach, *in_flight)])
            }
            Action::Isolate {
                who: Who::Member(member),
                in_flight,
            } => FaultAction::Links(vec![BadLinks::cut(
                isolate(*member, self.nodes),
                *in_flight,
            )]),
            Action::Isolate { who, in_flight } => FaultAction::Isolate(*who, *in_flight),
            Action::Heal { reach } => FaultAction::Heal(reach.clone()),
            Action::Churn {
                choice,
                churn,
                in_flight,
            } => FaultAction::Links(vec![BadLinks {
                churn: Some(*churn),
                ..BadLinks::cut(choose(choice), *in_flight)
            }]),
            Action::Process { fault, who } => FaultAction::Process(*who, fault.effect()),
            // Its members are known where its name is: [`FaultSpec::of_members`].
            Action::Host(_) => {
                return Err(FaultError {
                    text: text.to_owned(),
                    place: 0..text.len(),
                    wrong: "nobody knows which members are on which host here".to_owned(),
                    right: "write the members' numbers".to_owned(),
                });
            }
            Action::Message(fault) => FaultAction::Message(fault.clone()),
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
                    let spec: FaultSpec = words.parse().expect("presets are in the model's words");
                    let Action::Links { fault, .. } = &spec.action else {
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

impl Begin {
    fn new(spec: &FaultSpec) -> Self {
        let (for_ns, until_ns) = (spec.schedule.for_ns, spec.schedule.until_ns);
        let (from_ns, every_ns) = match &spec.schedule.start {
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
        Begin::At(TimeWindow {
            from_ns,
            length_ns: for_ns,
            every_ns,
            until_ns,
        })
    }
}

impl FaultAction {
    /// Whether it could never do anything, as `loss 0%`.
    fn is_idle(&self) -> bool {
        matches!(self, FaultAction::Links(bad) if bad.iter().all(|bad| bad.fault.is_idle()))
    }
}
