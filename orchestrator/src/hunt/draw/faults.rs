//! What goes wrong, by chance: every word of the fault language but those that name files.

use algorithms::printed::Printed;
use algorithms::{NodeId, Topology};
use chaos::partition::NAMED;
use chaos::preset::PRESETS;

use super::{Drawing, Knob, SAME_FAULTS};

/// A word of the fault language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Loss,
    BurstLoss,
    EveryNth,
    Delay,
    Duplicate,
    Reorder,
    Corrupt,
    Truncate,
    Rate,
    Preset,
    Cut,
    Partition,
    Isolate,
    Heal,
    Churn,
    Kill,
    Pause,
    Resume,
    Restart,
    LoseMessage,
    DelayMessage,
    DuplicateMessage,
    HideDown,
}

/// All kinds of faults that a hunt draws.
pub(super) const KINDS: [Kind; 23] = [
    Kind::Loss,
    Kind::BurstLoss,
    Kind::EveryNth,
    Kind::Delay,
    Kind::Duplicate,
    Kind::Reorder,
    Kind::Corrupt,
    Kind::Truncate,
    Kind::Rate,
    Kind::Preset,
    Kind::Cut,
    Kind::Partition,
    Kind::Isolate,
    Kind::Heal,
    Kind::Churn,
    Kind::Kill,
    Kind::Pause,
    Kind::Resume,
    Kind::Restart,
    Kind::LoseMessage,
    Kind::DelayMessage,
    Kind::DuplicateMessage,
    Kind::HideDown,
];

/// Faults begin within this time.
const BEGIN_WITHIN_US: u64 = 100_000;

impl Drawing<'_> {
    pub(super) fn faults(&mut self, links: &Topology) {
        let info = self.source.info;
        let params = self.table.get("params").and_then(|params| {
            let given = params.as_table()?.iter();
            let given = given.filter_map(|(name, value)| Some((name.as_str(), value.as_str()?)));
            info.choose(&given.collect::<Vec<_>>()).ok()
        });
        let params = params.unwrap_or_else(|| info.defaults());
        let kinds = info.machine(&params, &Printed::repaired()).kinds();
        let kinds = kinds.iter().map(|kind| (*kind).to_owned());
        let drawing = Faults {
            links: links.edges().take(1_000).collect(),
            kinds: kinds.collect(),
        };
        let turned = KINDS
            .into_iter()
            .filter(|kind| self.is_on(Knob::Fault(*kind)));
        let mut faults = Vec::new();
        for kind in turned.collect::<Vec<_>>() {
            for _ in 0..self.dice.rather_small(1, SAME_FAULTS) {
                let fault = self.fault(kind, &drawing);
                // Two that are the same would be one.
                if !faults.contains(&fault) {
                    faults.push(fault);
                }
            }
        }
        if !faults.is_empty() {
            self.set("fault", faults);
        }
    }

    fn fault(&mut self, kind: Kind, among: &Faults) -> String {
        let what = match kind {
            Kind::Loss => self.on_links(|dice| format!("loss {}", dice.percent()), among),
            Kind::BurstLoss => self.on_links(
                |dice| format!("loss gemodel {} {}", dice.percent(), dice.percent()),
                among,
            ),
            Kind::EveryNth => {
                self.on_links(|dice| format!("loss every {}", dice.between(2, 9)), among)
            }
            Kind::Delay => self.on_links(
                |dice| {
                    let order = *dice.one_of(&["", " fifo", " free"]);
                    let (time, jitter) = (dice.time(100, 30_000), dice.time(100, 30_000));
                    match dice.between(0, 3) {
                        0 => format!("delay {time} {jitter} distribution normal{order}"),
                        1 => format!("delay {time} distribution exponential{order}"),
                        2 => format!("delay {time}{order}"),
                        _ => format!("delay {time} {time}{order}"),
                    }
                },
                among,
            ),
            Kind::Duplicate => self.on_links(|dice| format!("duplicate {}", dice.percent()), among),
            Kind::Reorder => self.on_links(
                |dice| format!("reorder {} gap {}", dice.percent(), dice.between(1, 5)),
                among,
            ),
            Kind::Corrupt => self.on_links(
                |dice| format!("corrupt {} bits {}", dice.percent(), dice.between(1, 8)),
                among,
            ),
            Kind::Truncate => self.on_links(
                |dice| match dice.chance(0.5) {
                    true => format!("truncate {}", dice.percent()),
                    false => format!("truncate {} to {}", dice.percent(), dice.between(0, 60)),
                },
                among,
            ),
            Kind::Rate => self.on_links(
                |dice| {
                    let rate = *dice.one_of(&["100kbit", "1mbit", "10mbit"]);
                    format!("rate {rate} limit {}", dice.rather_small(2, 200))
                },
                among,
            ),
            Kind::Preset => self.on_links(
                |dice| format!("preset {}", dice.one_of(&PRESETS).name),
                among,
            ),
            Kind::Cut => format!("cut {}{}", self.choice(among), self.under_way()),
            Kind::Partition => {
                let named = NAMED
                    .iter()
                    .filter(|(_, name)| self.nodes >= name.least_nodes());
                let named = named.map(|(word, _)| *word).collect::<Vec<_>>();
                let groups = match named.is_empty() || self.dice.chance(0.3) {
                    true => self.groups(),
                    false => (*self.dice.one_of(&named)).to_owned(),
                };
                format!("partition {groups}{}", self.under_way())
            }
            Kind::Isolate => format!("isolate {}{}", self.who(), self.under_way()),
            Kind::Heal => match self.dice.chance(0.6) {
                true => "heal".to_owned(),
                false => format!("heal {}", self.reach(among)),
            },
            Kind::Churn => {
                let (fail, repair) = (
                    self.dice.time(2_000, 500_000),
                    self.dice.time(2_000, 100_000),
                );
                let choice = self.choice(among);
                format!(
                    "churn {choice} fail {fail} repair {repair}{}",
                    self.under_way()
                )
            }
            Kind::Kill => format!("kill {}", self.who()),
            Kind::Pause => format!("pause {}", self.who()),
            Kind::Resume => format!("resume {}", self.member()),
            Kind::Restart => format!(
                "restart {} after {}",
                self.who(),
                self.dice.time(1_000, 200_000)
            ),
            Kind::LoseMessage => return format!("lose message {}", self.message(among, true)),
            Kind::DelayMessage => {
                let message = self.message(among, true);
                let by = match self.dice.chance(0.5) {
                    true => format!("{}T", self.dice.between(1, 6)),
                    false => self.dice.time(500, 50_000),
                };
                return format!("delay message {message} by {by}");
            }
            Kind::DuplicateMessage => {
                return format!("duplicate message {}", self.message(among, true));
            }
            Kind::HideDown => return format!("hide down {} from {}", self.member(), self.member()),
        };
        let lasts = !matches!(kind, Kind::Heal | Kind::Kill | Kind::Resume | Kind::Restart);
        let may_repeat = kind != Kind::Churn;
        self.scheduled(&what, lasts, may_repeat, among)
    }

    fn on_links(
        &mut self,
        draw: impl FnOnce(&mut super::Dice) -> String,
        among: &Faults,
    ) -> String {
        let fault = draw(&mut self.dice);
        format!("{fault} on {}", self.reach(among))
    }

    /// When it happens, and for how long.
    fn scheduled(&mut self, what: &str, lasts: bool, may_repeat: bool, among: &Faults) -> String {
        let at = self.dice.time(0, BEGIN_WITHIN_US);
        let lasting = self.dice.time(500, 300_000);
        match self.dice.between(0, 9) {
            0 | 1 if lasts => what.to_owned(),
            2 if lasts && may_repeat => {
                let [every, until] = [(2_000, 200_000), (50_000, 500_000)]
                    .map(|(least, most)| self.dice.time(least, most));
                let lasting = self.dice.time(500, 2_000);
                format!("every {every} {what} for {lasting} until {until}")
            }
            3..=5 => {
                let event = self.event(among);
                match lasts && self.dice.chance(0.85) {
                    true => format!("when {event} {what} for {lasting}"),
                    false => format!("when {event} {what}"),
                }
            }
            _ if lasts && self.dice.chance(0.85) => format!("at {at} {what} for {lasting}"),
            _ => format!("at {at} {what}"),
        }
    }

    fn event(&mut self, among: &Faults) -> String {
        if self.dice.chance(0.4) {
            return format!("message {}", self.message(among, false));
        }
        let what = *self.dice.one_of(&["enter", "exit", "request"]);
        let member = self.member();
        match self.dice.between(1, 4) {
            1 => format!("{what} {member}"),
            nth => format!("{what} {member} #{nth}"),
        }
    }

    fn message(&mut self, among: &Faults, all: bool) -> String {
        let mut message = self.dice.one_of(&among.kinds).clone();
        if self.dice.chance(0.5) {
            message += &format!(" from {}", self.member());
        }
        if self.dice.chance(0.2) {
            message += &format!(" to {}", self.member());
        }
        match self.dice.between(0, 5) {
            0 if all => message += " #all",
            0..=2 => message += &format!(" #{}", self.dice.between(2, 9)),
            _ => {}
        }
        message
    }

    fn who(&mut self) -> String {
        match self.dice.between(0, 5) {
            0 | 1 => "holder".to_owned(),
            2 if self.source.info.token.is_some() => "token".to_owned(),
            2 | 3 => "random".to_owned(),
            _ => self.member().to_string(),
        }
    }

    fn under_way(&mut self) -> &'static str {
        self.dice
            .one_of::<&'static str>(&["", "", " hold", " deliver"])
    }

    fn choice(&mut self, among: &Faults) -> String {
        match self.dice.between(0, 3) {
            0 => "edges".to_owned(),
            1 => {
                let most = among.links.len().clamp(1, 5) as u64;
                match self.dice.between(1, most) {
                    1 => "1 random edge".to_owned(),
                    some => format!("{some} random edges"),
                }
            }
            _ => self.reach(among),
        }
    }

    fn reach(&mut self, among: &Faults) -> String {
        let link = match among.links.is_empty() {
            true => None,
            false => Some(*self.dice.one_of(&among.links)),
        };
        match (self.dice.between(0, 7), link) {
            (0, Some((NodeId(from), _))) => format!("{from}->all"),
            (1, Some((_, NodeId(to)))) => format!("all->{to}"),
            (2 | 3, Some((a, b))) => format!("{a}-{b}"),
            (4, Some((a, b))) => format!("{a}->{b}"),
            (5, Some((a, b))) => format!("{b}->{a}"),
            _ => "all".to_owned(),
        }
    }

    /// Two groups, with everybody in one of them.
    fn groups(&mut self) -> String {
        let mut sides = [Vec::new(), Vec::new()];
        for node in 0..self.nodes {
            sides[self.dice.between(0, 1) as usize].push(node.to_string());
        }
        let [left, right] = sides.map(|side| side.join(","));
        match left.is_empty() || right.is_empty() {
            true => "one".to_owned(),
            false => format!("{left}|{right}"),
        }
    }
}

/// What the faults of a run can be about.
struct Faults {
    links: Vec<(NodeId, NodeId)>,
    kinds: Vec<String>,
}
