//! Voting in partitions: as printed every block elects a winner of its own, with votes that are
//! handed over nobody meets and everybody is served after the heal.

use algorithms::NodeId;
use model::plan::Plan;
use model::run::{End, Run};
use model::workload::{Ask, Batch, Closed, PerNode, Quota, Span};

use crate::scenes::{MS, judge, plan, simulate};

/// Plans of random partitions per algorithm; the soak sets more.
fn plans() -> u64 {
    let said = std::env::var("TURNSTILE_PLANS").ok();
    said.and_then(|said| said.parse().ok()).unwrap_or(40)
}

fn with(mut plan: Plan, params: &[(&str, &str)], ids: &[&str]) -> Plan {
    let info = plan.info();
    plan.params = info.choose(params).expect("the parameters fit");
    plan.printed = info.as_printed(ids).expect("there are such defects");
    plan
}

/// These ask at once, and stay inside for so long; a message takes up to 6 ms.
fn asking(mut plan: Plan, nodes: &[u32], hold_ms: u64) -> Plan {
    let asks = nodes.iter().map(|&node| Ask::at(MS, NodeId(node)));
    plan.workload.arrivals = Batch {
        asks: asks.collect(),
        settled: false,
    }
    .into();
    plan.workload.quota = Quota::PerNode(1);
    plan.workload.hold = PerNode::All(Span::Constant(hold_ms * MS));
    plan.delay = "4ms 2ms".parse().expect("a delay");
    plan.bound_ns = 6 * MS;
    plan
}

fn served(run: &Run) -> usize {
    let rows = run.requests.iter();
    rows.filter(|row| row.left_ns.is_some()).count()
}

fn noted(run: &Run, name: &str) -> u64 {
    let rows = run.notes.iter().filter(|((_, note), _)| *note == name);
    rows.map(|(_, row)| row.sum).sum()
}

/// V6, V7 and V8: pairs with one candidate each; then everybody by itself.
#[test]
fn every_block_elects_its_own_winner_unless_votes_are_handed_over() {
    let cases: [(&str, &[u32]); 3] = [
        ("0,1|2,5|3,4", &[0, 3, 5]),
        ("0|1|2|3|4|5", &[0, 1, 2, 3, 4, 5]),
        ("0,1,2,3|4,5", &[0, 4]),
    ];
    for name in ["nhme", "bmav"] {
        for (blocks, candidates) in cases {
            let fault = format!("at 0s partition {blocks} for 600ms");
            let cut = asking(plan(name, 6, 1, &[&fault]), candidates, 60);
            let winners = candidates.len() as u32;
            let mut printed = with(cut.clone(), &[("tau", "1")], &["K3"]);
            printed.time_limit_ns = Some(5_000 * MS);
            let run = simulate(&printed);
            assert_eq!(run.most_inside, Some(winners), "{name}, {blocks}");
            let judgement = judge(&printed, &run);
            assert!(judgement.safety.is_violated(), "{judgement:?}");
            assert!(judgement.well_formedness.is_violated(), "equal fences");
            let safe = with(cut, &[("tau", "1")], &[]);
            let run = simulate(&safe);
            assert_eq!(run.most_inside, Some(1), "{name}, {blocks}");
            assert_eq!(served(&run), candidates.len(), "{name}, {blocks}");
            let before_the_heal = |row: &&model::run::RequestRow| row.entered_ns < Some(600 * MS);
            let early = run.requests.iter().filter(before_the_heal).count();
            assert_eq!(
                early,
                usize::from(blocks.starts_with("0,1,2,3")),
                "{blocks}"
            );
        }
    }
}

/// Blocks drawn by chance, and when they are cut off from each other and meet again.
struct Cut {
    of: Vec<u64>,
    from_ms: u64,
    until_ms: u64,
}

impl Cut {
    fn draw(nodes: u32, seed: u64) -> Self {
        let mut chance = chaos::Draw::new([seed]);
        let mut draw = |below| chance.below(below);
        let count = 2 + draw(u64::from(nodes) - 1);
        let of = (0..nodes).map(|_| draw(count)).collect();
        let from_ms = draw(60);
        let until_ms = from_ms + 150 + draw(300);
        Self {
            of,
            from_ms,
            until_ms,
        }
    }

    fn words(&self) -> Option<String> {
        let blocks = (0..=self.of.len() as u64).map(|block| {
            let members = (0..self.of.len()).filter(|&node| self.of[node] == block);
            let members = members.map(|node| node.to_string());
            members.collect::<Vec<_>>().join(",")
        });
        let blocks = blocks.filter(|block| !block.is_empty());
        let blocks = blocks.collect::<Vec<_>>();
        let lasts = self.until_ms - self.from_ms;
        let (at, blocks, count) = (self.from_ms, blocks.join("|"), blocks.len());
        (count > 1).then(|| format!("at {at}ms partition {blocks} for {lasts}ms"))
    }

    /// In how many blocks somebody waited while they were apart.
    fn blocks_with_a_candidate(&self, run: &Run) -> usize {
        let waited = run.requests.iter().filter(|row| {
            row.asked_ns < Some(self.until_ms * MS)
                && row.entered_ns.is_none_or(|at| at > self.from_ms * MS)
        });
        let blocks = waited.map(|row| self.of[row.node.index()]);
        blocks.collect::<std::collections::BTreeSet<_>>().len()
    }
}

/// `TURNSTILE_PLANS=500` for the soak. A plan counts if votes were handed over and two blocks had a
/// candidate.
#[test]
fn random_partitions_only_delay() {
    for name in ["nhme", "bmav"] {
        let (mut counted, mut tokens, mut blocks, mut broken, mut seed) = (0, 0, 0, 0, 0);
        while counted < plans() {
            seed += 1;
            assert!(seed < 20 * plans(), "{name}: only {counted} plans count");
            let nodes = 3 + (seed % 8) as u32;
            let cut = Cut::draw(nodes, seed);
            let Some(fault) = cut.words() else {
                continue;
            };
            let mut plan = asking(plan(name, nodes, seed, &[&fault]), &[], 8);
            plan.workload.arrivals = Closed {
                think: PerNode::All(Span::Uniform(0, 60 * MS)),
            }
            .into();
            plan.workload.quota = Quota::PerNode(2);
            let tau = (seed % 3).to_string();
            let safe = with(plan.clone(), &[("tau", &tau)], &[]);
            let run = simulate(&safe);
            let judgement = judge(&safe, &run);
            assert_eq!(run.end, End::Finished, "{safe:?}");
            assert!(!judgement.safety.is_violated(), "{judgement:?}: {safe:?}");
            assert!(
                !judgement.well_formedness.is_violated(),
                "{judgement:?}: {safe:?}"
            );
            assert_eq!(served(&run) as u32, 2 * nodes, "{safe:?}");
            let (handed, parted) = (
                noted(&run, "handed_over"),
                cut.blocks_with_a_candidate(&run),
            );
            if handed == 0 || parted < 2 {
                continue;
            }
            (counted, tokens, blocks) = (counted + 1, tokens + handed, blocks + parted);
            println!(
                "{name}, seed {seed}: {fault}: {handed} votes handed over, {parted} blocks with a \
                 candidate"
            );
            let mut printed = with(plan, &[("tau", &tau)], &["K3"]);
            printed.time_limit_ns = Some(3_000 * MS);
            broken += u64::from(simulate(&printed).most_inside > Some(1));
        }
        println!(
            "{name}: {counted} plans, {tokens} votes handed over, {blocks} blocks with a candidate; \
             as printed {broken} of them let two in"
        );
        assert!(2 * broken > counted, "{name}: only {broken} of {counted}");
    }
}

/// K5: a stay that outlasts the waiting time.
#[test]
fn as_printed_a_long_stay_lets_two_in() {
    for name in ["nhme", "bmav"] {
        let violated = (0..20).filter(|&seed| {
            let plan = asking(plan(name, 6, seed, &[]), &[0, 2, 4], 60);
            let mut plan = with(plan, &[("tau", "1")], &["K3"]);
            plan.time_limit_ns = Some(3_000 * MS);
            simulate(&plan).most_inside > Some(1)
        });
        let violated = violated.count();
        println!("{name}: two inside in {violated} of 20");
        assert!(violated >= 10, "{name}: two inside in {violated} of 20");
    }
}

/// TH-D1 and TH-D2: the verdict says which.
#[test]
fn a_split_vote_is_a_deadlock_or_a_live_lock_and_chance_ends_it() {
    let split = |retry| {
        let mut plan = asking(plan("thomas", 3, 1, &[]), &[0, 1, 2], 5);
        plan.delay = "4ms".parse().expect("a delay");
        let plan = with(plan, &[("retry", retry)], &[]);
        let run = simulate(&plan);
        let liveness = format!("{:?}", judge(&plan, &run).liveness);
        (run.end, liveness, served(&run))
    };
    let (end, liveness, _) = split("off");
    assert_eq!(end, End::Deadlock, "{liveness}");
    assert!(liveness.contains("deadlock"), "{liveness}");
    let (_, liveness, served) = split("fixed");
    assert!(liveness.contains("live-lock"), "{liveness}");
    assert_eq!(served, 0);
    let (end, liveness, served) = split("random");
    assert_eq!((end, served), (End::Finished, 3), "{liveness}");
}

/// N4: what the lost questions cost.
#[test]
fn as_printed_lost_questions_multiply_retries() {
    let messages = |ids: &[&str]| {
        let everybody = (0..12).collect::<Vec<_>>();
        let plan = asking(plan("nhme", 12, 1, &[]), &everybody, 3);
        let mut plan = with(plan, &[("tau", "1")], ids);
        plan.time_limit_ns = Some(20_000 * MS);
        let run = simulate(&plan);
        run.messages.values().map(|row| row.sent).sum::<u64>() / served(&run).max(1) as u64
    };
    let (printed, safe) = (messages(&["N4"]), messages(&[]));
    println!("as printed {printed} messages per entry, with votes handed over {safe}");
    assert!(printed > 2 * safe, "{printed} and {safe}");
}

/// Table 5.2: 5(N-1) messages when everybody asks at once.
#[test]
fn tb_dva_costs_what_the_books_table_says() {
    for nodes in [3, 6, 12] {
        let everybody = (0..nodes).collect::<Vec<_>>();
        let mut plan = asking(plan("tb-dva", nodes, 1, &[]), &everybody, 3);
        plan.delay = "6ms".parse().expect("a delay");
        let run = simulate(&plan);
        assert_eq!(served(&run) as u32, nodes);
        let sent = run.messages.values().map(|row| row.sent).sum::<u64>();
        assert_eq!(sent, u64::from(5 * (nodes - 1) * nodes), "{nodes} nodes");
    }
}
