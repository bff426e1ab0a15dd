//! The printed text, unrepaired: which rules to leave out.
//!
//! Where a paper's text is wrong the algorithm is repaired by default. A [`Defect`] says what is
//! wrong and which rules of the repaired algorithm to leave out to see it fail.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::setup::Setup;

/// Something wrong in a printed algorithm.
#[derive(Clone, Copy, Debug)]
pub struct Defect {
    /// Its id, with its source: `banta-S1`.
    pub id: &'static str,
    /// What is wrong, in one line.
    pub what: &'static str,
    /// The rules of the repaired algorithm that the print lacks. Empty for what is told and
    /// cannot be run: a misprint, a gap, a false lemma, or what follows from others.
    pub rules: &'static [&'static str],
    /// Defects that must be left unrepaired with it, or it does not show.
    pub needs_printed: &'static [&'static str],
    /// Defects that must be repaired, or they hide it.
    pub needs_repaired: &'static [&'static str],
    /// Parameters under which it shows; the others have their defaults.
    pub with: &'static [(&'static str, &'static str)],
    /// The world or run in which the defect shows.
    pub shows: Shows,
    /// A schedule that shows it, as the explorer prints one.
    pub schedule: &'static str,
    /// What happens at the end of that schedule, in words.
    pub result: &'static str,
}

/// What shows a defect: there it fails as printed, and is fine once repaired.
#[derive(Clone, Copy, Debug)]
pub enum Shows {
    /// It is told and cannot be run.
    Nothing,
    /// A small world, explored whole.
    World(World),
    /// A simulated run, where no schedule ends badly.
    Run(Run),
}

/// A small world, as `orchestrator explore` takes it.
#[derive(Clone, Copy, Debug)]
pub struct World {
    /// How often each node wants in.
    pub wants: &'static [u32],
    /// How urgent each node's requests are; empty if none is.
    pub priorities: &'static [u32],
    /// The links; empty for the usual ones.
    pub topology: &'static str,
    /// What has happened before; empty if nothing has.
    pub after: &'static str,
    /// When timers go off; empty for at any moment.
    pub timers: &'static str,
    /// How many nodes may crash.
    pub crash: u32,
    /// How often a link may be cut.
    pub cut: u32,
    /// Whether only safety is looked at: under these rules somebody may wait for ever anyhow.
    pub safety_only: bool,
    /// What goes wrong there.
    pub fails: Fails,
}

/// What goes wrong in a small world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fails {
    /// Too many are inside.
    Exclusion,
    /// Somebody is let in who did not ask.
    Uninvited,
    /// A message arrives that cannot arrive.
    ProtocolError,
    /// Somebody waits and nothing can happen.
    Deadlock,
    /// Not everybody can be served, whatever happens.
    Trapped,
    /// Nothing, but the schedule takes more messages.
    Messages,
}

/// A simulated run, with seed 1.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// The flags of `orchestrator run`.
    pub flags: &'static str,
    /// What is worse in the run as printed.
    pub costs: Costs,
}

/// What is worse in a run that is as printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Costs {
    /// Nobody enters any more, though messages go on.
    LiveLock,
    /// An entry takes more messages.
    Messages,
    /// The longest wait is longer.
    Wait,
}

impl World {
    /// One with the usual links, nothing that happened before, timers that go off at any moment and no
    /// faults.
    pub(crate) const fn of(wants: &'static [u32], fails: Fails) -> Self {
        Self {
            wants,
            priorities: &[],
            topology: "",
            after: "",
            timers: "",
            crash: 0,
            cut: 0,
            safety_only: false,
            fails,
        }
    }

    /// The same world on these links.
    pub(crate) const fn on(self, topology: &'static str) -> Self {
        Self { topology, ..self }
    }

    /// The same world after these events.
    pub(crate) const fn after(self, after: &'static str) -> Self {
        Self { after, ..self }
    }

    /// The same world with requests as urgent as this, node by node.
    pub(crate) const fn priorities(self, priorities: &'static [u32]) -> Self {
        Self { priorities, ..self }
    }

    /// The same world with timers that go off at these moments.
    pub(crate) const fn timers(self, timers: &'static str) -> Self {
        Self { timers, ..self }
    }

    /// The same world, in which so many nodes may crash.
    pub(crate) const fn crash(self, crash: u32) -> Self {
        Self { crash, ..self }
    }

    /// The same world, in which links may be cut so often.
    pub(crate) const fn cut(self, cut: u32) -> Self {
        Self { cut, ..self }
    }

    /// The same world, explored for safety only.
    pub(crate) const fn safety_only(self) -> Self {
        Self {
            safety_only: true,
            ..self
        }
    }

    /// The flags of `orchestrator explore` that make it.
    fn flags(&self) -> String {
        let numbers = |numbers: &[u32]| {
            let words: Vec<_> = numbers.iter().map(u32::to_string).collect();
            words.join(",")
        };
        let mut flags = match self.wants {
            // One number would be everybody's.
            [one] => format!(" -n 1 --wants {one}"),
            several => format!(" --wants {}", numbers(several)),
        };
        if !self.priorities.is_empty() {
            flags.push_str(&format!(" --priority {}", numbers(self.priorities)));
        }
        for (flag, text) in [
            ("topology", self.topology),
            ("after", self.after),
            ("timers", self.timers),
        ] {
            if !text.is_empty() {
                flags.push_str(&format!(" --{flag} {}", quoted(text)));
            }
        }
        for (flag, number) in [("crash", self.crash), ("cut", self.cut)] {
            if number > 0 {
                flags.push_str(&format!(" --{flag} {number}"));
            }
        }
        if self.safety_only {
            flags.push_str(" --safety-only");
        }
        flags
    }
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "=:,._-".contains(letter);
    match word.chars().all(plain) {
        true => word.to_owned(),
        false if word.contains('\'') => format!("\"{word}\""),
        false => format!("'{word}'"),
    }
}

impl Defect {
    /// The line that shows it, behind `orchestrator`. Where other defects are needed for it, or it only
    /// costs messages, its schedule is replayed, for a search would come across the others first.
    pub fn line_as_printed(&self, algorithm: &str) -> Option<String> {
        let printed = format!("--as-printed={}", quoted(self.id));
        match self.shows {
            Shows::World(world) if self.is_replayed() => {
                let (nodes, params) = (world.wants.len(), self.params());
                let topology = match world.topology {
                    "" => String::new(),
                    shape => format!(" --topology {}", quoted(shape)),
                };
                let replay = format!("--replay {}", quoted(self.schedule));
                Some(format!(
                    "explore {algorithm} -n {nodes}{topology}{params} {printed} {replay}"
                ))
            }
            Shows::Nothing | Shows::World(_) | Shows::Run(_) => {
                let line = self.line_repaired(algorithm)?;
                Some(format!("{line} {printed}"))
            }
        }
    }

    /// The line that shows the same world, or run, repaired.
    pub fn line_repaired(&self, algorithm: &str) -> Option<String> {
        let params = self.params();
        match self.shows {
            Shows::Nothing => None,
            Shows::World(world) => Some(format!("explore {algorithm}{}{params}", world.flags())),
            Shows::Run(Run { flags, .. }) => Some(format!(
                "run {algorithm} --engine sim --seed 1 {flags}{params}"
            )),
        }
    }

    /// Whether its schedule shows it, and not a search.
    pub fn is_replayed(&self) -> bool {
        let Shows::World(world) = self.shows else {
            return false;
        };
        !self.needs_printed.is_empty() || world.fails == Fails::Messages
    }

    fn params(&self) -> String {
        let with = self.with.iter();
        let with =
            with.map(|(name, value)| format!(" --param {}", quoted(&format!("{name}={value}"))));
        with.collect()
    }

    /// A defect that is told and cannot be run.
    pub(crate) const fn told(id: &'static str, what: &'static str, result: &'static str) -> Self {
        Self {
            id,
            what,
            result,
            ..Self::BLANK
        }
    }

    /// A defect that says nothing; another one names what differs.
    pub(crate) const BLANK: Self = Self {
        id: "",
        what: "",
        rules: &[],
        needs_printed: &[],
        needs_repaired: &[],
        with: &[],
        shows: Shows::Nothing,
        schedule: "",
        result: "",
    };
}

/// The rules left out of a run; empty for a repaired algorithm.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Printed {
    /// The ids of the defects, as asked for and as needed by them.
    pub defects: BTreeSet<String>,
    rules: BTreeSet<String>,
}

/// Declares the repairs of a printed text: a flag each, with the name of the rule that `--as-printed`
/// leaves out. `Rules::of(printed)` then says which are in place.
macro_rules! rules {
    (
        $(#[$about:meta])*
        $vis:vis struct $rules:ident {
            $($(#[$why:meta])* $rule:ident: $name:literal),+ $(,)?
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
        $vis struct $rules {
            $($(#[$why])* $vis $rule: bool),+
        }

        impl $rules {
            $vis fn of(printed: &$crate::printed::Printed) -> Self {
                Self { $($rule: !printed.leaves_out($name)),+ }
            }
        }
    };
}
pub(crate) use rules;

/// Declares the names of rules that the print lacks, and `RULES`, the list of them.
macro_rules! rule_names {
    ($($(#[$what:meta])* $RULE:ident = $name:literal),+ $(,)?) => {
        $($(#[$what])* pub(super) const $RULE: &str = $name;)+

        /// The rules that the print lacks.
        const RULES: &[&str] = &[$($RULE),+];
    };
}
pub(crate) use rule_names;

/// Those of an algorithm's rules that one of its nodes is to leave out.
#[derive(Clone, PartialEq, Eq, Hash, Serialize)]
pub(crate) struct LeftOut(Vec<&'static str>);

impl LeftOut {
    /// The ones of these that are left out of the run.
    pub(crate) fn of(setup: &Setup<'_>, rules: &[&'static str]) -> Self {
        let rules = rules.iter().copied();
        Self(rules.filter(|rule| setup.without(rule)).collect())
    }

    /// Whether this one is.
    pub(crate) fn has(&self, rule: &str) -> bool {
        self.0.contains(&rule)
    }
}

impl fmt::Debug for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.0).finish()
    }
}

/// Why a set of defects cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PrintedError {
    /// There is no such defect.
    #[error("{algorithm} has no defect '{id}'; it has {known}")]
    Unknown {
        /// The name of the algorithm.
        algorithm: &'static str,
        /// The id that was asked for.
        id: String,
        /// The ids of the defects that there are.
        known: String,
    },
    /// There is no rule to leave out.
    #[error("{id} has no behaviour of its own and cannot be run; 'explain {algorithm}' tells it")]
    Told {
        /// The name of the algorithm.
        algorithm: &'static str,
        /// The id that was asked for.
        id: &'static str,
    },
    /// Two of them do not go together.
    #[error("{id} shows only when {other} is repaired")]
    Hidden {
        /// The one that is hidden.
        id: &'static str,
        /// The one that hides it.
        other: &'static str,
    },
}

impl Printed {
    /// Every rule in place.
    pub fn repaired() -> Self {
        Self::default()
    }

    /// All behavioural defects at once: the algorithm as it stands in print.
    pub fn all(defects: &[Defect]) -> Self {
        let mut printed = Self::default();
        for defect in defects.iter().filter(|defect| !defect.rules.is_empty()) {
            printed.add(defect);
        }
        printed
    }

    /// The named defects and what they need. Ids may come without their source, `S1` for
    /// `banta-S1`.
    pub fn some(
        algorithm: &'static str,
        defects: &[Defect],
        ids: &[impl AsRef<str>],
    ) -> Result<Self, PrintedError> {
        let find = |id: &str| {
            let named = |defect: &&Defect| {
                defect.id == id
                    || defect
                        .id
                        .split_once('-')
                        .is_some_and(|(_, short)| short == id)
            };
            defects
                .iter()
                .find(named)
                .ok_or_else(|| PrintedError::Unknown {
                    algorithm,
                    id: id.to_owned(),
                    known: match defects {
                        [] => "none".to_owned(),
                        _ => defects
                            .iter()
                            .map(|defect| defect.id)
                            .collect::<Vec<_>>()
                            .join(", "),
                    },
                })
        };
        let mut printed = Self::default();
        let mut chosen = Vec::new();
        for id in ids {
            let defect = find(id.as_ref())?;
            if defect.rules.is_empty() {
                return Err(PrintedError::Told {
                    algorithm,
                    id: defect.id,
                });
            }
            chosen.push(defect);
            for needed in defect.needs_printed {
                chosen.push(find(needed)?);
            }
        }
        for defect in &chosen {
            if let Some(&other) = defect
                .needs_repaired
                .iter()
                .find(|other| chosen.iter().any(|defect| defect.id == **other))
            {
                return Err(PrintedError::Hidden {
                    id: defect.id,
                    other,
                });
            }
            printed.add(defect);
        }
        Ok(printed)
    }

    /// Whether the named rule is left out.
    pub fn leaves_out(&self, rule: &str) -> bool {
        self.rules.contains(rule)
    }

    /// Whether nothing is left out.
    pub fn is_repaired(&self) -> bool {
        self.rules.is_empty()
    }

    fn add(&mut self, defect: &Defect) {
        self.defects.insert(defect.id.to_owned());
        self.rules
            .extend(defect.rules.iter().map(|&rule| rule.to_owned()));
    }
}

impl fmt::Display for Printed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            &self
                .defects
                .iter()
                .map(String::as_str)
                .collect::<Vec<_>>()
                .join(","),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn defect(id: &'static str, rules: &'static [&'static str]) -> Defect {
        Defect {
            id,
            what: "something",
            rules,
            result: "",
            ..Defect::BLANK
        }
    }

    const DEFECTS: &[Defect] = &[
        defect("kanrar-M1", &["one"]),
        Defect {
            needs_printed: &["kanrar-M1"],
            ..defect("kanrar-M2", &["two"])
        },
        Defect {
            needs_repaired: &["kanrar-M1"],
            ..defect("kanrar-M3", &["three", "four"])
        },
        defect("kanrar-M4", &[]),
    ];

    fn some(ids: &[&str]) -> Result<Printed, PrintedError> {
        let ids: Vec<_> = ids.iter().map(|&id| id.to_owned()).collect();
        Printed::some("mra", DEFECTS, &ids)
    }

    #[test]
    fn a_defect_leaves_out_its_rules_and_no_others() {
        let printed = some(&["M3"]).unwrap();
        assert!(printed.leaves_out("three") && printed.leaves_out("four"));
        assert!(!printed.leaves_out("one") && !printed.is_repaired());
        assert_eq!(printed.to_string(), "kanrar-M3");
        assert!(Printed::repaired().is_repaired());
        assert!(some(&[]).unwrap().is_repaired());
    }

    #[test]
    fn a_defect_brings_those_it_needs() {
        let printed = some(&["kanrar-M2"]).unwrap();
        assert_eq!(printed.to_string(), "kanrar-M1,kanrar-M2");
        assert!(printed.leaves_out("one") && printed.leaves_out("two"));
    }

    #[test]
    fn everything_in_print_is_every_rule_that_is_missing() {
        let printed = Printed::all(DEFECTS);
        assert_eq!(printed.to_string(), "kanrar-M1,kanrar-M2,kanrar-M3");
    }

    #[test]
    fn a_meaningless_set_is_refused_with_the_reason() {
        let why = |ids| some(ids).unwrap_err().to_string();
        assert_eq!(
            why(&["M9"]),
            "mra has no defect 'M9'; it has kanrar-M1, kanrar-M2, kanrar-M3, kanrar-M4"
        );
        assert_eq!(
            why(&["M4"]),
            "kanrar-M4 has no behaviour of its own and cannot be run; 'explain mra' tells it"
        );
        let hidden = "kanrar-M3 shows only when kanrar-M1 is repaired";
        assert_eq!(why(&["M3", "M1"]), hidden);
        assert_eq!(why(&["M1", "M3"]), hidden);
        assert_eq!(why(&["M2", "M3"]), hidden, "M2 needs M1 printed");
        let none = Printed::some("raymond", &[], &["M1".to_owned()]).unwrap_err();
        assert_eq!(none.to_string(), "raymond has no defect 'M1'; it has none");
    }
}
