//! The outcomes of a run's faults, as values; words are made of them where files and tables are
//! written.

use std::collections::BTreeMap;

use algorithms::NodeId;
use chaos::language::Who;
use chaos::process_fault::ProcessEffect;
use chaos::timeline::{FaultAction, LinkFaultOutcome, Step};
use chaos::{Reach, Timeline};

/// What became of one fault; of one that strikes again and again, what became of one time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultOutcome {
    /// The step of the plan's timeline that asked for it; `None` if nobody did.
    pub step: Option<usize>,
    /// What sort of fault it is.
    pub kind: FaultKind,
    /// Whom or what it hit, or would have hit.
    pub target: FaultTarget,
    /// When it was in force.
    pub happened: Happened,
    /// How often it did something: packets touched, processes hit.
    pub acted: u64,
    /// What else a reader should know of it, in words: where the token was.
    pub remark: Option<String>,
}

/// What sort of fault it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// Links are bad: loss, delay, a cut, a partition, an isolation.
    Links,
    /// Links that were cut work again.
    Heal,
    /// A process is killed.
    Kill,
    /// A process is killed and comes back without its algorithm.
    Restart,
    /// A process is stopped for a while.
    Pause,
    /// A stopped process goes on.
    Resume,
    /// Messages of the algorithm are lost, doubled or held back, or news of a death is hidden.
    Message,
    /// A member took another for dead that was not.
    FalseSuspicion {
        /// The one that was not dead.
        of: NodeId,
    },
    /// The proxy between the members had no room for what was under way.
    ProxyFull,
}

/// Whom or what a fault hit, or would have hit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultTarget {
    /// The fault hits a member.
    Member(NodeId),
    /// The fault hits these links.
    Links(Reach),
    /// The fault hits messages of the algorithm, above the transport.
    Messages,
    /// The fault hits a member that had to be found first, and was not.
    NotFound(Who),
}

/// When a fault was in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happened {
    /// The fault was never in force.
    Never,
    /// The fault was in force from one moment to another.
    From {
        /// When it came into force.
        at_ns: u64,
        /// When it was over; `None` if it was in force to the end.
        until_ns: Option<u64>,
    },
}

impl FaultOutcome {
    /// A step of the timeline that has hit nothing.
    pub fn never(step: usize, faults: &Timeline) -> Self {
        let action = &faults.steps[step].action;
        Self {
            step: Some(step),
            kind: FaultKind::of(action),
            target: FaultTarget::aimed_at(action),
            happened: Happened::Never,
            acted: 0,
            remark: None,
        }
    }

    /// A step of the timeline that hit this at that moment.
    pub fn at(step: usize, faults: &Timeline, at_ns: u64, target: FaultTarget) -> Self {
        Self {
            target,
            happened: Happened::from(at_ns, None),
            acted: 1,
            ..Self::never(step, faults)
        }
    }

    /// What a step did to links in a run that ended at that moment.
    pub fn on_links(did: LinkFaultOutcome, faults: &Timeline, ended_ns: u64) -> Self {
        let happened = match did.from_ns <= ended_ns {
            true => Happened::from(did.from_ns, did.until_ns),
            false => Happened::Never,
        };
        let acted = did.count.acted;
        match did.step {
            None => Self::proxy_full(happened, acted),
            Some(step) => Self {
                target: FaultTarget::Links(did.reach),
                happened,
                acted,
                ..Self::never(step, faults)
            },
        }
    }

    /// The outcome of datagrams that found no room in the proxy, which all links share.
    pub fn proxy_full(happened: Happened, dropped: u64) -> Self {
        Self {
            step: None,
            kind: FaultKind::ProxyFull,
            target: FaultTarget::Links(Reach::All),
            happened,
            acted: dropped,
            remark: None,
        }
    }

    /// A member took another for dead that was not. That is never taken back, yet nothing stays in
    /// force: the other is there and speaks.
    pub fn false_suspicion(at_ns: u64, by: NodeId, of: NodeId) -> Self {
        Self::unasked(
            FaultKind::FalseSuspicion { of },
            by,
            Happened::from(at_ns, Some(at_ns)),
        )
    }

    /// Something happened to a member that no fault of the plan asked for.
    pub fn unasked(kind: FaultKind, node: NodeId, happened: Happened) -> Self {
        Self {
            step: None,
            kind,
            target: FaultTarget::Member(node),
            happened,
            acted: 1,
            remark: None,
        }
    }

    /// Whether a member's life ended; a restarted member runs no algorithm.
    pub fn is_death(&self) -> bool {
        let deadly = matches!(self.kind, FaultKind::Kill | FaultKind::Restart);
        deadly && self.happened != Happened::Never
    }

    /// Whether it was asked for and did nothing.
    pub fn is_idle(&self) -> bool {
        self.acted == 0
    }

    /// The member that it hit, if it hit one.
    pub fn victim(&self) -> Option<NodeId> {
        match (&self.target, self.happened) {
            (FaultTarget::Member(node), Happened::From { .. }) => Some(*node),
            _ => None,
        }
    }

    /// When it came into force, if it did.
    pub fn at_ns(&self) -> Option<u64> {
        match self.happened {
            Happened::Never => None,
            Happened::From { at_ns, .. } => Some(at_ns),
        }
    }

    /// When it was over, if it was.
    pub fn until_ns(&self) -> Option<u64> {
        match self.happened {
            Happened::Never => None,
            Happened::From { until_ns, .. } => until_ns,
        }
    }

    /// Whether it was in force at this moment.
    pub fn is_in_force_at(&self, now_ns: u64) -> bool {
        match self.happened {
            Happened::Never => false,
            Happened::From { at_ns, until_ns } => {
                at_ns <= now_ns && until_ns.is_none_or(|until_ns| until_ns >= now_ns)
            }
        }
    }

    /// What it was, in words: `kill`, `loss 30%`, `false suspicion of 2`.
    pub fn name(&self, faults: &Timeline) -> String {
        match self.asked(faults) {
            Some(step) => step.name.clone(),
            None => self.kind.unasked_name(),
        }
    }

    /// What it was and whom it hit, in words: `'loss 30%' on 0->1`. Of one that was never in force,
    /// and of one that picks messages, all that was asked for: `'at 1h kill holder'`.
    pub fn told(&self, faults: &Timeline) -> String {
        match self.asked(faults) {
            Some(step)
                if self.happened == Happened::Never || self.target == FaultTarget::Messages =>
            {
                format!("'{}'", step.text)
            }
            _ => format!("'{}' on {}", self.name(faults), self.target),
        }
    }

    /// The step that asked for it.
    fn asked<'a>(&self, faults: &'a Timeline) -> Option<&'a Step> {
        faults.steps.get(self.step?)
    }
}

impl FaultKind {
    /// The sort of fault that a step of the timeline is.
    pub fn of(action: &FaultAction) -> Self {
        match action {
            FaultAction::Links(_) | FaultAction::Isolate(..) => FaultKind::Links,
            FaultAction::Heal(_) => FaultKind::Heal,
            FaultAction::Process(_, effect) => match effect {
                ProcessEffect::End {
                    start_after_ns: None,
                } => FaultKind::Kill,
                ProcessEffect::End { .. } => FaultKind::Restart,
                ProcessEffect::Stop => FaultKind::Pause,
                ProcessEffect::Continue => FaultKind::Resume,
            },
            FaultAction::Message(_) => FaultKind::Message,
        }
    }

    /// What it is called when nobody asked for it.
    pub fn unasked_name(self) -> String {
        match self {
            FaultKind::FalseSuspicion { of } => format!("false suspicion of {of}"),
            FaultKind::Kill | FaultKind::Restart => "unasked death".to_owned(),
            FaultKind::Pause => "unasked pause".to_owned(),
            FaultKind::Resume => "unasked resume".to_owned(),
            FaultKind::Links | FaultKind::Heal => "unasked change of links".to_owned(),
            FaultKind::Message => "unasked change of messages".to_owned(),
            FaultKind::ProxyFull => "proxy full".to_owned(),
        }
    }
}

impl FaultTarget {
    /// What a step is aimed at, as far as that is known before it happens.
    fn aimed_at(action: &FaultAction) -> Self {
        match action {
            FaultAction::Links(bad) => {
                let reach = bad.first().map(|bad| bad.reach.clone());
                FaultTarget::Links(reach.unwrap_or(Reach::All))
            }
            FaultAction::Heal(reach) => FaultTarget::Links(reach.clone()),
            FaultAction::Isolate(who, _) | FaultAction::Process(who, _) => match who {
                Who::Member(member) => FaultTarget::Member(NodeId(*member)),
                Who::Holder | Who::Token | Who::Random => FaultTarget::NotFound(*who),
            },
            FaultAction::Message(_) => FaultTarget::Messages,
        }
    }
}

impl std::fmt::Display for FaultTarget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            FaultTarget::Member(node) => node.fmt(f),
            FaultTarget::Links(reach) => reach.fmt(f),
            FaultTarget::Messages => f.write_str("messages"),
            FaultTarget::NotFound(who) => who.fmt(f),
        }
    }
}

impl Happened {
    /// From a moment on. What was to be over before it came into force was over at once.
    pub fn from(at_ns: u64, until_ns: Option<u64>) -> Self {
        let until_ns = until_ns.map(|until_ns| until_ns.max(at_ns));
        Happened::From { at_ns, until_ns }
    }
}

/// The members that died, and when first.
pub fn deaths(faults: &[FaultOutcome]) -> BTreeMap<NodeId, u64> {
    let mut deaths = BTreeMap::new();
    for fault in faults.iter().filter(|fault| fault.is_death()) {
        if let (Some(node), Some(at_ns)) = (fault.victim(), fault.at_ns()) {
            deaths.entry(node).or_insert(at_ns);
        }
    }
    deaths
}

/// Puts outcomes in the order they came into force; what never did comes last.
pub fn sort_by_time(faults: &mut [FaultOutcome]) {
    faults.sort_by_key(|fault| fault.at_ns().unwrap_or(u64::MAX));
}
