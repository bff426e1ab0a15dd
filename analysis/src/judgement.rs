//! What is said of a run in the end.

use std::fmt;

use algorithms::Topology;
use algorithms::registry::{Entry, FormKind};
use node::plan::Plan;
use node::run::Run;
use node::workload::Arrivals;
use serde::{Deserialize, Serialize};

use crate::demand::Demand;
use crate::measured::Measured;
use crate::safety::{self, Crowd};
use crate::stays::stays;
use crate::summary::{Observations, Summary};
use crate::theory::{self, TheoryLine};
use crate::{liveness, times, well_formedness, words};

/// What became of one property.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Property {
    /// It was put to the test and held.
    Holds,
    /// It did not hold.
    Violated {
        /// What happened.
        why: String,
    },
    /// It was put to the test and the run does not say.
    Inconclusive {
        /// What stood in the way.
        why: String,
    },
    /// Nothing happened that could have violated it.
    NotExercised {
        /// What would have had to happen.
        why: String,
    },
}

/// What became of the run as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Everything that was exercised holds.
    Holds,
    /// Something does not.
    Violated,
    /// The run does not say.
    Inconclusive,
}

/// Checks, measurements and what theory says about them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judgement {
    /// Never more than k inside.
    pub safety: Property,
    /// Everybody who asks gets in.
    pub liveness: Property,
    /// Everybody keeps the rules: nobody enters uninvited, one token, no protocol error.
    pub well_formedness: Property,
    /// All of it together.
    pub verdict: Verdict,
    /// Why it is not simply `holds`, one sentence each.
    pub reasons: Vec<String>,
    /// What a reader should know before believing it, and what to do about it.
    pub warnings: Vec<String>,
    /// Every number.
    pub summary: Summary,
    /// What closed forms say, where one applies.
    pub theory: Vec<TheoryLine>,
}

/// Checks and measures a run of this algorithm.
pub(crate) fn judge(entry: &Entry, plan: &Plan, topology: &Topology, run: &Run) -> Judgement {
    let admitted = (entry.admits)(&plan.params);
    let stays = stays(run);
    let measured = Measured::of(plan, run);
    let demand = Demand::of(run);
    let crowd = Crowd::of(&stays, admitted);
    let handovers = times::handovers(run, &stays, admitted);

    let safety = safety::check(run, &crowd, admitted, demand.most_wanting);
    let liveness = liveness::check(entry, plan, run);
    let well_formedness = well_formedness::check(entry, plan, run);
    let (verdict, mut reasons) = verdict(&safety, &liveness, &well_formedness, run);

    let mut summary = Summary::new(&Observations {
        plan,
        run,
        measured: &measured,
        stays: &stays,
        crowd: &crowd,
        demand: &demand,
        handovers: &handovers,
    });
    let theory = theory::lines(entry, plan, topology, run, &measured, &handovers, &summary);
    summary.verdict = verdict.to_string();
    summary.safety = safety.to_string();
    summary.liveness = liveness.to_string();
    summary.expected_messages_per_entry = theory::expected_messages_per_entry(&theory);
    reasons.extend(
        theory
            .iter()
            .filter(|line| line.missed())
            .map(TheoryLine::reason),
    );

    Judgement {
        safety,
        liveness,
        well_formedness,
        verdict,
        reasons,
        warnings: warnings(plan, run, &measured, &demand, &summary, &theory),
        summary,
        theory,
    }
}

fn verdict(
    safety: &Property,
    liveness: &Property,
    well_formedness: &Property,
    run: &Run,
) -> (Verdict, Vec<String>) {
    let properties = [
        ("safety", safety),
        ("liveness", liveness),
        ("well-formedness", well_formedness),
    ];
    let mut reasons = properties
        .iter()
        .filter_map(|(name, property)| Some(format!("{name} {property}: {}", property.why()?)))
        .collect::<Vec<_>>();
    let idle = run.faults.iter().filter(|fault| fault.acted == 0);
    let idle = idle.map(|fault| {
        let (fault, target) = (&fault.fault, &fault.target);
        format!("the fault '{fault}' on {target} was asked for and never did anything")
    });
    reasons.extend(idle);

    let any = |is: fn(&Property) -> bool| properties.iter().any(|(_, property)| is(property));
    let verdict = if any(Property::is_violated) {
        Verdict::Violated
    } else if any(Property::is_inconclusive) || run.faults.iter().any(|fault| fault.acted == 0) {
        Verdict::Inconclusive
    } else if any(Property::holds) {
        Verdict::Holds
    } else {
        // A run that could not have failed shows nothing.
        Verdict::Inconclusive
    };
    (verdict, reasons)
}

fn warnings(
    plan: &Plan,
    run: &Run,
    measured: &Measured,
    demand: &Demand,
    summary: &Summary,
    theory: &[TheoryLine],
) -> Vec<String> {
    let mut warnings = Vec::new();
    let alone_by_design = matches!(plan.workload.arrivals, Arrivals::OneAtATime);
    let (contended, entries) = (demand.contended, summary.entries);
    if !alone_by_design && entries > 0 && contended.saturating_mul(100) < entries {
        warnings.push(format!(
            "only {contended} of {} contended, so exclusion was hardly tested.\n\
             Shorten --think or lengthen --hold.",
            words::count(entries, "entry was", "entries were"),
        ));
    }
    if measured.cut && measured.entries == 0 {
        warnings.push(format!(
            "the warm-up of {} was never over, so nothing was measured.\n\
             Shorten the warm-up or lengthen the run.",
            words::count(plan.warm_up_entries, "entry", "entries"),
        ));
    }
    if !plan.printed.is_repaired() {
        warnings.push(format!(
            "{} ran as printed, with {} unrepaired.",
            plan.algorithm, plan.printed
        ));
    }
    if run.bound_broken > 0 {
        warnings.push(format!(
            "{} longer than the bound of {} that the algorithm was told.",
            words::count(run.bound_broken, "message took", "messages took"),
            words::time(plan.bound_ns),
        ));
    }
    let doubtful = |line: &&TheoryLine| line.kind == FormKind::Mean && line.agrees == Some(false);
    warnings.extend(theory.iter().filter(doubtful).map(TheoryLine::reason));
    warnings
}

impl Judgement {
    /// The program's exit code: 0 everything exercised holds, 1 a property was violated or an
    /// exact expectation missed, 3 inconclusive.
    pub fn exit_code(&self) -> u8 {
        let missed = self.theory.iter().any(TheoryLine::missed);
        match self.verdict {
            Verdict::Violated => 1,
            Verdict::Holds | Verdict::Inconclusive if missed => 1,
            Verdict::Holds => 0,
            Verdict::Inconclusive => 3,
        }
    }
}

impl Property {
    pub(crate) fn violated(why: impl Into<String>) -> Self {
        Self::Violated { why: why.into() }
    }

    pub(crate) fn inconclusive(why: impl Into<String>) -> Self {
        Self::Inconclusive { why: why.into() }
    }

    pub(crate) fn not_exercised(why: impl Into<String>) -> Self {
        Self::NotExercised { why: why.into() }
    }

    /// Whether it was put to the test and held.
    pub fn holds(&self) -> bool {
        matches!(self, Self::Holds)
    }

    /// Whether it did not hold.
    pub fn is_violated(&self) -> bool {
        matches!(self, Self::Violated { .. })
    }

    /// Whether the run does not say.
    pub fn is_inconclusive(&self) -> bool {
        matches!(self, Self::Inconclusive { .. })
    }

    /// Why it does not simply hold.
    pub fn why(&self) -> Option<&str> {
        match self {
            Self::Holds => None,
            Self::Violated { why } | Self::Inconclusive { why } | Self::NotExercised { why } => {
                Some(why)
            }
        }
    }
}

impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Holds => "holds",
            Self::Violated { .. } => "violated",
            Self::Inconclusive { .. } => "inconclusive",
            Self::NotExercised { .. } => "not exercised",
        })
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Holds => "holds",
            Self::Violated => "violated",
            Self::Inconclusive => "inconclusive",
        })
    }
}
