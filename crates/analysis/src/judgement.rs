//! The judgement of a run: its properties, numbers, warnings and verdict.

use std::fmt;

use algorithms::Topology;
use algorithms::registry::{AlgorithmInfo, FormKind, Load};
use model::plan::{Plan, UseTransport};
use model::run::{FaultKind, FaultOutcome, Run};
use model::time::exact_ns;
use serde::{Deserialize, Serialize};

use crate::certificate::Certificate;
use crate::columns::Cell;
use crate::fault_lines::{self, FaultLine};
use crate::observed::Observed;
use crate::priorities::PriorityLine;
use crate::summary::{Findings, Summary};
use crate::theory::{self, TheoryLine};
use crate::{liveness, prose, safety, suspicion, well_formedness, wire};

/// What became of one property.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Property {
    /// It was put to the test and held.
    Holds,
    /// It did not hold.
    Violated {
        /// What happened that the property rules out.
        why: String,
    },
    /// It was put to the test and the run does not say.
    Inconclusive {
        /// What keeps the run from deciding it.
        why: String,
    },
    /// Nothing happened that could have violated it.
    NotExercised {
        /// What would have had to happen.
        why: String,
    },
}

/// What became of one property, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It was put to the test and held.
    Holds,
    /// It did not hold.
    Violated,
    /// It was put to the test and the run does not say.
    Inconclusive,
    /// Nothing happened that could have violated it.
    #[serde(rename = "not exercised")]
    NotExercised,
}

/// What became of the run as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Everything that was exercised holds.
    Holds,
    /// Some property does not hold.
    Violated,
    /// The run does not say.
    Inconclusive,
}

/// Checks, measurements and what theory says about them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judgement {
    /// How many may be inside at once: k.
    pub admits: u32,
    /// Never more than k inside.
    pub safety: Property,
    /// Everybody who asks gets in.
    pub liveness: Property,
    /// Everybody keeps the rules: nobody enters uninvited, one token, no protocol error.
    pub well_formedness: Property,
    /// What the three properties come to together.
    pub verdict: Verdict,
    /// Why it is not simply `holds`, one sentence each.
    pub reasons: Vec<String>,
    /// What a reader should know before believing it, and what to do about it.
    pub warnings: Vec<String>,
    /// Every number that was measured, in one row.
    pub summary: Summary,
    /// What closed forms say, where one applies.
    pub theory: Vec<TheoryLine>,
    /// How each priority fared, the least urgent first.
    pub priorities: Vec<PriorityLine>,
    /// What each fault did, in the order they came into force.
    pub faults: Vec<FaultLine>,
}

/// Checks and measures a run of this algorithm.
pub(crate) fn judge(
    info: &AlgorithmInfo,
    plan: &Plan,
    topology: &Topology,
    run: &Run,
) -> Judgement {
    let admitted = (info.more.admits)(&plan.params);
    let seen = Observed::new(plan, run, admitted);

    let certificate = Certificate::of(info, plan, run);
    let unordered = certificate.unordered(run);
    let safety = safety::check(
        run,
        &seen.crowd,
        admitted,
        seen.contention.most_wanting,
        unordered.filter(|_| !info.more.safe_by_time),
    );
    let liveness = liveness::check(info, plan, topology, run);
    let well_formedness = well_formedness::check(info, plan, run);
    let (verdict, mut reasons) = verdict(&safety, &liveness, &well_formedness, plan, run);

    let theory = theory::lines(info, topology, &seen);
    let found = Findings {
        verdict,
        safety: safety.status(),
        liveness: liveness.status(),
        certified: certificate.certified,
        expected_messages_per_entry: theory::expected_messages_per_entry(&theory),
    };
    reasons.extend(
        theory
            .iter()
            .filter(|line| line.missed())
            .map(TheoryLine::reason),
    );

    Judgement {
        admits: admitted,
        safety,
        liveness,
        well_formedness,
        verdict,
        reasons,
        warnings: warnings(&seen, &theory)
            .into_iter()
            .chain(certificate.warnings(info, run))
            .collect(),
        summary: Summary::new(&seen, &found),
        theory,
        priorities: seen.priorities,
        faults: fault_lines::of(plan, run),
    }
}

fn verdict(
    safety: &Property,
    liveness: &Property,
    well_formedness: &Property,
    plan: &Plan,
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
    let idle = run.faults.iter().filter(|fault| fault.is_idle());
    reasons.extend(idle.clone().map(|fault| {
        let fault = fault.told(&plan.faults);
        format!("the fault {fault} was asked for and never did anything")
    }));
    let restarts = run.faults.iter();
    let restarts = restarts.filter(|fault| fault.kind == FaultKind::Restart);
    let restarted = restarts.filter_map(FaultOutcome::victim);
    if let Some(failure) = &run.failure {
        reasons.insert(0, format!("the testbed failed: {failure}"));
    }
    reasons.extend(restarted.clone().map(|member| {
        format!("member {member} was restarted, and no algorithm here says how to come back")
    }));

    let any = |is: fn(&Property) -> bool| properties.iter().any(|(_, property)| is(property));
    let verdict = if any(Property::is_violated) {
        Verdict::Violated
    } else if run.failure.is_some()
        || any(Property::is_inconclusive)
        || restarted.count() > 0
        || idle.count() > 0
    {
        Verdict::Inconclusive
    } else if any(Property::holds) {
        Verdict::Holds
    } else {
        // A run that could not have failed shows nothing.
        Verdict::Inconclusive
    };
    (verdict, reasons)
}

fn warnings(seen: &Observed<'_>, theory: &[TheoryLine]) -> Vec<String> {
    let Observed {
        plan,
        run,
        measured,
        ..
    } = seen;
    let mut warnings = Vec::new();
    let alone_by_design = plan.workload.arrivals.load() == Load::OneAtATime;
    let (contended, entries) = (seen.contention.contended, seen.stays.len() as u64);
    if !alone_by_design && entries > 0 && contended.saturating_mul(100) < entries {
        warnings.push(format!(
            "only {contended} of {} contended, so exclusion was hardly tested.\n\
             Shorten --think or lengthen --hold.",
            prose::count(entries, "entry was", "entries were"),
        ));
    }
    if measured.cut && measured.entries == 0 {
        warnings.push(format!(
            "the warm-up of {} was never over, so nothing was measured.\n\
             Shorten the warm-up or lengthen the run.",
            prose::count(plan.warm_up_entries, "entry", "entries"),
        ));
    }
    if !plan.printed.is_repaired() {
        warnings.push(format!(
            "{} ran as printed, with {} unrepaired.",
            plan.algorithm.name, plan.printed
        ));
    }
    if run.bound_broken > 0 && plan.info().more.uses_bound {
        warnings.push(format!(
            "{} longer than the bound of {} that the algorithm was told.",
            prose::count(run.bound_broken, "message took", "messages took"),
            exact_ns(plan.bound_ns),
        ));
    }
    if plan.transport == UseTransport::Never && plan.faults.harms() {
        warnings.push(
            "nothing repaired what the links did to messages (--transport never), so this run \
             lies outside what any algorithm here is promised by its links."
                .to_owned(),
        );
    }
    let full = run.faults.iter();
    for fault in full.filter(|fault| fault.kind == FaultKind::ProxyFull) {
        warnings.push(format!(
            "the proxy dropped {}, since too much was under way: the network lost more than its \
             faults say.\nShorten the delays, or send less.",
            prose::count(fault.acted, "datagram", "datagrams"),
        ));
    }
    let mut messages = run.faults.iter();
    let tampered = messages.find(|fault| fault.kind == FaultKind::Message && !fault.is_idle());
    if let Some(fault) = tampered {
        warnings.push(format!(
            "{} acted on messages above the transport, so this run lies outside what any \
             algorithm here is promised by its links.",
            fault.told(&plan.faults)
        ));
    }
    warnings.extend(suspicion::warning(run));
    warnings.extend(wire::warnings(plan, run));
    let doubtful = |line: &&TheoryLine| line.kind == FormKind::Mean && line.agrees == Some(false);
    warnings.extend(theory.iter().filter(doubtful).map(TheoryLine::reason));
    warnings
}

impl Judgement {
    /// The verdict on the run and its measurements: an exact expectation that was missed is a
    /// violation, even where every property holds.
    pub fn conclusion(&self) -> Verdict {
        match self.theory.iter().any(TheoryLine::missed) {
            true => Verdict::Violated,
            false => self.verdict,
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

    /// The word for it.
    pub fn status(&self) -> Status {
        match self {
            Self::Holds => Status::Holds,
            Self::Violated { .. } => Status::Violated,
            Self::Inconclusive { .. } => Status::Inconclusive,
            Self::NotExercised { .. } => Status::NotExercised,
        }
    }

    /// Whether it was put to the test and held.
    pub fn holds(&self) -> bool {
        self.status() == Status::Holds
    }

    /// Whether it did not hold.
    pub fn is_violated(&self) -> bool {
        self.status() == Status::Violated
    }

    /// Whether the run does not say.
    pub fn is_inconclusive(&self) -> bool {
        self.status() == Status::Inconclusive
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
        self.status().fmt(f)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value().fmt(f)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use algorithms::NodeId;
    use model::run::{End, Happened, MessageRow};
    use model::workload::OneAtATime;

    use super::*;
    use crate::fixtures::{entry, fault, faults, never, plan, run, served, toy, waiting};

    fn contended() -> Run {
        served([(0, 0, 1, 5), (1, 0, 6, 9)])
    }

    fn judged(plan: &Plan, run: &Run) -> Judgement {
        crate::judge(plan, &Topology::complete(plan.nodes), run)
    }

    fn verdicts(run: &Run) -> (Verdict, Verdict) {
        let judgement = judged(&plan("raymond", 2), run);
        (judgement.verdict, judgement.conclusion())
    }

    #[test]
    fn each_verdict_has_its_conclusion() {
        assert_eq!(verdicts(&contended()), (Verdict::Holds, Verdict::Holds));
        let overlap = served([(0, 0, 1, 5), (1, 0, 4, 9)]);
        assert_eq!(verdicts(&overlap), (Verdict::Violated, Verdict::Violated));
        let mut late = contended();
        late.end = End::TimeLimit;
        assert_eq!(
            verdicts(&late),
            (Verdict::Inconclusive, Verdict::Inconclusive)
        );
    }

    #[test]
    fn each_property_alone_can_break_the_verdict() {
        let mut stuck = run(vec![entry(0, 0, 1, 5), waiting(1, 2)]);
        stuck.end = End::Deadlock;
        let judgement = judged(&plan("raymond", 2), &stuck);
        assert_eq!(judgement.verdict, Verdict::Violated);
        assert_eq!(judgement.reasons.len(), 1, "{:?}", judgement.reasons);
        assert!(judgement.reasons[0].starts_with("liveness violated: deadlock"));

        let mut malformed = contended();
        malformed.protocol_error_count = 1;
        let judgement = judged(&plan("raymond", 2), &malformed);
        assert_eq!(judgement.verdict, Verdict::Violated);
        assert_eq!(
            judgement.reasons,
            ["well-formedness violated: 1 protocol error"]
        );
    }

    #[test]
    fn where_two_are_admitted_two_may_be_inside_and_nothing_is_handed_over() {
        let two = toy(2, &[]);
        let plan = plan("raymond", 3);
        let judged = |rows| judge(&two, &plan, &Topology::complete(3), &run(rows));
        let pair = vec![entry(0, 0, 1, 5), entry(1, 0, 2, 9), entry(2, 0, 5, 9)];
        let judgement = judged(pair.clone());
        assert_eq!(judgement.safety, Property::Holds);
        assert_eq!(judgement.summary.max_inside, 2);
        assert_eq!(judgement.summary.sync_delay_mean_us, None);
        let few = judged(pair[..2].to_vec());
        assert!(matches!(few.safety, Property::NotExercised { .. }));
        let mut three = pair;
        three[2].entered_ns = Some(4);
        assert!(judged(three).safety.is_violated());
    }

    #[test]
    fn a_violation_outweighs_what_is_inconclusive() {
        let mut run = served([(0, 0, 1, 5), (1, 0, 4, 9)]);
        run.end = End::TimeLimit;
        assert_eq!(verdicts(&run), (Verdict::Violated, Verdict::Violated));
    }

    #[test]
    fn what_was_not_exercised_does_not_count_against_the_rest() {
        let alone = served([(0, 0, 1, 5), (1, 6, 7, 9)]);
        let judgement = judged(&plan("raymond", 2), &alone);
        assert_eq!(judgement.verdict, Verdict::Holds);
        assert!(judgement.reasons[0].starts_with("safety not exercised"));
    }

    #[test]
    fn a_run_that_could_not_have_failed_is_inconclusive() {
        assert_eq!(
            verdicts(&Run::default()),
            (Verdict::Inconclusive, Verdict::Inconclusive)
        );
    }

    /// What is said of a fault that did nothing.
    fn idle(fault: &str) -> String {
        format!("the fault {fault} was asked for and never did anything")
    }

    #[test]
    fn a_fault_that_never_acted_makes_it_inconclusive() {
        let mut run = contended();
        let mut plan = plan("raymond", 2);
        plan.faults = faults(2, ["loss 30% on 0->1", "at 1h kill 1"]);
        run.faults = vec![fault(&plan.faults, "loss 30%", (1, Some(2)), 1)];
        assert_eq!(judged(&plan, &run).verdict, Verdict::Holds);
        run.faults[0].acted = 0;
        let judgement = judged(&plan, &run);
        assert_eq!(judgement.verdict, Verdict::Inconclusive);
        assert_eq!(judgement.conclusion(), Verdict::Inconclusive);
        assert_eq!(judgement.reasons, [idle("'loss 30%' on 0->1")]);
        run.faults = vec![never(&plan.faults, "kill 1")];
        assert_eq!(judged(&plan, &run).reasons, [idle("'at 1h kill 1'")]);
    }

    /// One that acted does not vouch for another of the same verb.
    #[test]
    fn each_fault_answers_for_itself() {
        let mut run = contended();
        let mut plan = plan("raymond", 2);
        let texts = [
            "lose message REQUEST from 0 #1",
            "lose message REQUEST from 1 #99",
        ];
        plan.faults = faults(2, texts);
        run.faults = vec![
            fault(&plan.faults, "from 0", (1, Some(1)), 1),
            never(&plan.faults, "from 1"),
        ];
        let judgement = judged(&plan, &run);
        assert_eq!(judgement.verdict, Verdict::Inconclusive);
        assert_eq!(
            judgement.reasons,
            [idle("'lose message REQUEST from 1 #99'")]
        );
    }

    #[test]
    fn a_run_whose_testbed_failed_never_holds_and_says_why() {
        let mut run = contended();
        run.end = End::Failed;
        run.failure = Some("member 1 died unexpectedly".to_owned());
        assert_eq!(
            verdicts(&run),
            (Verdict::Inconclusive, Verdict::Inconclusive)
        );
        let reasons = judged(&plan("raymond", 2), &run).reasons;
        assert_eq!(reasons[0], "the testbed failed: member 1 died unexpectedly");
        assert!(reasons[1].contains("was cut short"), "{reasons:?}");
        let mut overlap = served([(0, 0, 1, 5), (1, 0, 4, 9)]);
        overlap.failure = run.failure;
        assert_eq!(verdicts(&overlap), (Verdict::Violated, Verdict::Violated));
    }

    #[test]
    fn a_restarted_member_makes_it_inconclusive_and_is_named() {
        let mut run = contended();
        let mut plan = plan("raymond", 2);
        plan.faults = faults(2, ["at 20ns restart 1 after 1s"]);
        run.faults = vec![fault(&plan.faults, "restart", (20, None), 1)];
        let judgement = judged(&plan, &run);
        assert_eq!(judgement.verdict, Verdict::Inconclusive);
        assert_eq!(judgement.conclusion(), Verdict::Inconclusive);
        let reasons = judgement.reasons;
        assert!(
            reasons[0].starts_with("member 1 was restarted"),
            "{reasons:?}"
        );
        run.faults = vec![never(&plan.faults, "restart")];
        assert_eq!(
            judged(&plan, &run).reasons,
            [idle("'at 20ns restart 1 after 1s'")]
        );
    }

    #[test]
    fn links_that_nobody_repairs_are_warned_about() {
        let run = contended();
        let mut plan = plan("raymond", 2);
        plan.transport = UseTransport::Never;
        let warned = |plan: &Plan| {
            let warnings = judged(plan, &run).warnings;
            warnings
                .iter()
                .any(|text| text.contains("--transport never"))
        };
        assert!(!warned(&plan));
        plan.faults = faults(2, ["at 0s loss 1% on all"]);
        assert!(warned(&plan));
        plan.transport = UseTransport::Auto;
        assert!(!warned(&plan));
    }

    #[test]
    fn a_proxy_without_room_is_warned_about() {
        let mut run = contended();
        let happened = Happened::from(1, Some(5));
        run.faults = vec![FaultOutcome::proxy_full(happened, 7)];
        let warnings = judged(&plan("raymond", 2), &run).warnings;
        assert!(warnings[0].starts_with("the proxy dropped 7 datagrams"));
    }

    #[test]
    fn faults_above_the_transport_are_warned_about() {
        let mut run = contended();
        let mut plan = plan("raymond", 2);
        plan.faults = faults(2, ["lose message REQUEST #2"]);
        run.faults = vec![fault(&plan.faults, "lose", (1, Some(1)), 1)];
        let warnings = judged(&plan, &run).warnings;
        let begins = "'lose message REQUEST #2' acted on messages";
        assert!(warnings[0].starts_with(begins), "{warnings:?}");
        run.faults = vec![never(&plan.faults, "lose")];
        let warnings = judged(&plan, &run).warnings;
        assert!(
            !warnings.iter().any(|text| text.contains("acted on")),
            "{warnings:?}"
        );
    }

    /// The caller that shows a warning wraps it to the width there is, so within a sentence no line ends.
    #[test]
    fn a_line_of_a_warning_ends_with_its_sentence() {
        let mut run = contended();
        run.bound_broken = 2;
        run.window = model::run::Window::default();
        let mut plan = plan("thomas", 2);
        plan.warm_up_entries = 10;
        plan.transport = UseTransport::Never;
        plan.faults = faults(2, ["at 0s loss 1% on all", "lose message REQUEST #1"]);
        run.faults = vec![
            fault(&plan.faults, "lose", (1, Some(1)), 1),
            FaultOutcome::false_suspicion(1, NodeId(0), NodeId(1)),
        ];
        let warnings = judged(&plan, &run).warnings;
        assert_eq!(warnings.len(), 5, "{warnings:?}");
        for line in warnings.iter().flat_map(|warning| warning.lines()) {
            assert!(line.ends_with('.'), "{line}");
        }
    }

    #[test]
    fn an_exact_expectation_missed_is_a_failure_though_every_property_holds() {
        let mut run = contended();
        let key = (NodeId(0), Some(NodeId(1)), "REQUEST");
        let row = |sent| MessageRow {
            sent,
            received: sent,
            ..MessageRow::default()
        };
        run.messages.insert(key, row(4));
        let plan = plan("ricart-agrawala", 2);
        let judgement = judged(&plan, &run);
        assert_eq!(judgement.theory[0].agrees, Some(true));
        assert_eq!(judgement.conclusion(), Verdict::Holds);
        run.messages.insert(key, row(5));
        let judgement = judged(&plan, &run);
        assert_eq!(
            (judgement.verdict, judgement.conclusion()),
            (Verdict::Holds, Verdict::Violated)
        );
        let reason = "messages_per_entry is 2.5, but 2(N-1) says exactly 2";
        assert_eq!(judgement.reasons, [reason]);
    }

    #[test]
    fn a_run_with_hardly_any_competition_is_warned_about() {
        let mut rows = (0..3_000_u64)
            .map(|i| entry((i % 3) as u32, 10 * i, 10 * i, 10 * i + 5))
            .collect::<Vec<_>>();
        for row in &mut rows[1..3] {
            row.arrived_ns -= 6;
            row.asked_ns = Some(row.arrived_ns);
        }
        let mut plan = plan("raymond", 3);
        let warnings = judged(&plan, &run(rows.clone())).warnings;
        assert_eq!(
            warnings,
            [
                "only 2 of 3000 entries were contended, so exclusion was hardly tested.\n\
              Shorten --think or lengthen --hold."
            ]
        );
        for row in &mut rows[3..31] {
            row.arrived_ns -= 6;
        }
        let one_in_a_hundred = run(rows.clone());
        assert_eq!(judged(&plan, &one_in_a_hundred).summary.contended, 30);
        assert_eq!(judged(&plan, &one_in_a_hundred).warnings, [] as [String; 0]);
        plan.workload.arrivals = OneAtATime.into();
        rows.truncate(1);
        assert_eq!(judged(&plan, &run(rows)).warnings, [] as [String; 0]);
    }

    #[test]
    fn a_reader_is_told_what_to_know_before_believing() {
        let mut plan = plan("thomas", 2);
        plan.warm_up_entries = 10;
        let mut run = contended();
        run.window = model::run::Window::default();
        run.bound_broken = 2;
        let warnings = judged(&plan, &run).warnings;
        assert!(warnings[0].starts_with("the warm-up of 10 entries was never over"));
        assert!(warnings[1].starts_with("2 messages took longer than the bound of 1 ms"));
        // Raymond is told the bound and makes nothing of it.
        plan.algorithm = "raymond".to_owned().try_into().unwrap();
        assert_eq!(judged(&plan, &run).warnings.len(), 1);
    }
}
