//! What goes wrong, by chance: every word of the fault language but those that name files.

use algorithms::printed::Printed;
use algorithms::{NodeId, Topology};
use chaos::FaultSpec;
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
                // Two that are the same would be one. A group may have come out as no group, and a member
                // is not told of its own end.
                let can_be_read = fault.parse::<FaultSpec>().is_ok();
                if can_be_read && !faults.contains(&fault) {
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
            Kind::Loss => self.on_links(|dice| format!("loss {}", dice.likely()), among),
            Kind::BurstLoss => self.on_links(
                |dice| {
                    let given = dice.between(1, 4);
                    let numbers = (0..given).map(|_| dice.percent());
                    format!("loss gemodel {}", numbers.collect::<Vec<_>>().join(" "))
                },
                among,
            ),
            Kind::EveryNth => {
                self.on_links(|dice| format!("loss every {}", dice.between(2, 9)), among)
            }
            Kind::Delay => self.on_links(delay, among),
            Kind::Duplicate => self.on_links(|dice| format!("duplicate {}", dice.likely()), among),
            Kind::Reorder => self.on_links(
                |dice| match dice.chance(0.5) {
                    true => format!("reorder {}", dice.likely()),
                    false => format!("reorder {} gap {}", dice.likely(), dice.between(1, 5)),
                },
                among,
            ),
            Kind::Corrupt => self.on_links(
                |dice| format!("corrupt {} bits {}", dice.likely(), dice.between(1, 8)),
                among,
            ),
            Kind::Truncate => self.on_links(
                |dice| match dice.chance(0.5) {
                    true => format!("truncate {}", dice.likely()),
                    false => format!("truncate {} to {}", dice.likely(), dice.between(0, 60)),
                },
                among,
            ),
            Kind::Rate => self.on_links(
                |dice| {
                    let rate = *dice.one_of(&["100kbit", "1mbit", "10mbit", "1gbit"]);
                    match dice.chance(0.8) {
                        true => format!("rate {rate} limit {}", dice.rather_small(2, 200)),
                        false => format!("rate {rate}"),
                    }
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
                    true => {
                        let groups = self.dice.between(2, 3);
                        self.groups(groups)
                    }
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
        match self.dice.between(0, 10) {
            0 | 1 if lasts => what.to_owned(),
            2 if lasts && may_repeat => {
                let [every, until] = [(2_000, 200_000), (50_000, 500_000)]
                    .map(|(least, most)| self.dice.time(least, most));
                let lasting = self.dice.time(500, 2_000);
                let first = match self.dice.chance(0.3) {
                    true => format!("at {at} "),
                    false => String::new(),
                };
                format!("{first}every {every} {what} for {lasting} until {until}")
            }
            6 if lasts => {
                let until = self.dice.time(BEGIN_WITHIN_US, 500_000);
                format!("at {at} {what} until {until}")
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
        if self.dice.chance(0.15) {
            message += &format!(" origin {}", self.member());
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

    /// Links, now and then of two sorts together.
    fn reach(&mut self, among: &Faults) -> String {
        let first = self.some_links(among);
        match first != "all" && self.dice.chance(0.1) {
            true => match self.some_links(among).as_str() {
                "all" => first,
                second if second == first => first,
                second => format!("{first} and {second}"),
            },
            false => first,
        }
    }

    fn some_links(&mut self, among: &Faults) -> String {
        let link = match among.links.is_empty() {
            true => None,
            false => Some(*self.dice.one_of(&among.links)),
        };
        match (self.dice.between(0, 8), link) {
            (0, Some((NodeId(from), _))) => format!("{from}->all"),
            (1, Some((_, NodeId(to)))) => format!("all->{to}"),
            (2 | 3, Some((a, b))) => format!("{a}-{b}"),
            (4, Some((a, b))) => format!("{a}->{b}"),
            (5, Some((a, b))) => format!("{b}->{a}"),
            (6, Some((NodeId(a), _))) => match self.dice.chance(0.5) {
                true => self.groups(2),
                false => format!("0..{a}->all"),
            },
            _ => "all".to_owned(),
        }
    }

    /// The members in so many groups, and now and then some of them in none.
    fn groups(&mut self, groups: u64) -> String {
        let mut sides = vec![Vec::new(); groups as usize];
        let some_in_none = self.dice.chance(0.2);
        for node in 0..self.nodes {
            if some_in_none && self.dice.chance(0.2) {
                continue;
            }
            sides[self.dice.between(0, groups - 1) as usize].push(node.to_string());
        }
        sides.retain(|side| !side.is_empty());
        match sides.len() < 2 {
            true => "one".to_owned(),
            false => {
                let sides = sides.iter().map(|side| side.join(","));
                sides.collect::<Vec<_>>().join("|")
            }
        }
    }
}

/// A delay of links, by every law that stands in no file.
fn delay(dice: &mut super::Dice) -> String {
    let order = *dice.one_of(&["", " fifo", " free"]);
    let (time, jitter) = (dice.time(100, 30_000), dice.time(100, 30_000));
    let correlation = match dice.chance(0.2) {
        true => format!(" {}", dice.percent()),
        false => String::new(),
    };
    match dice.between(0, 4) {
        0 => {
            let law = *dice.one_of(&["normal", "pareto", "lognormal"]);
            format!("delay {time} {jitter}{correlation} distribution {law}{order}")
        }
        1 => format!("delay {time} distribution exponential{order}"),
        2 => format!("delay {time}{order}"),
        _ => format!("delay {time} {time}{correlation}{order}"),
    }
}

/// What the faults of a run can be about.
struct Faults {
    links: Vec<(NodeId, NodeId)>,
    kinds: Vec<String>,
}
