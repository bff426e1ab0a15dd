//! Links that lose, double, damage, delay or are cut, with the transport on them and without.

use analysis::Verdict;
use model::plan::{Plan, UseTransport};
use model::run::{End, FaultTarget, Happened, RoundTrips, Run, TransportRow};

use crate::scenes::{MS, fault, finish, judge, messages, plan, simulate};

/// Sums a counter of the transport over all members.
fn counted(run: &Run, counter: fn(&TransportRow) -> u64) -> u64 {
    run.transport.values().map(counter).sum()
}

/// Seven members of Ricart and Agrawala, as busy as can be.
fn busy(seed: u64, faults: &[&str]) -> Plan {
    let mut plan = plan("ricart-agrawala", 7, seed, faults);
    plan.delay = "20ms 5ms distribution normal".parse().expect("a delay");
    plan
}

fn holds(plan: &Plan, run: &Run) {
    let judgement = judge(plan, run);
    assert_eq!(judgement.verdict, Verdict::Holds, "{judgement:#?}");
    let entries = run.requests.iter().filter(|row| row.left_ns.is_some());
    assert_eq!(entries.count() as u32, 5 * plan.nodes);
}

#[test]
fn a_bad_network_is_repaired_and_every_fault_of_it_acted() {
    let faults = [
        "loss 20% on all",
        "duplicate 5% on all",
        "reorder 10% on all",
    ];
    for seed in 0..5 {
        let plan = busy(
            seed,
            &faults
                .map(|fault| format!("at 0s {fault}"))
                .each_ref()
                .map(String::as_str),
        );
        let run = simulate(&plan);
        holds(&plan, &run);
        for name in ["loss", "duplicate", "reorder"] {
            assert!(fault(&plan, &run, name).acted > 0, "seed {seed}: {name}");
        }
        assert!(counted(&run, |row| row.retransmissions) > 0, "seed {seed}");
        assert!(counted(&run, |row| row.duplicates) > 0, "seed {seed}");
        let (sent, received, lost) = messages(&run, "REQUEST");
        assert_eq!(
            (sent, lost),
            (received, 0),
            "seed {seed}: nothing is lost for good"
        );
    }
}

/// Each fault on all links with what share of the datagrams it should touch.
#[test]
fn every_fault_touches_as_many_datagrams_as_it_says() {
    let table = [
        ("loss 20%", 0.2),
        ("loss every 7", 1.0 / 7.0),
        // In the bad state for a fifth of the time.
        ("loss gemodel 5% 20%", 0.2),
        ("duplicate 10%", 0.1),
        ("reorder 25%", 0.25),
        ("corrupt 10%", 0.1),
        ("truncate 10%", 0.1),
        ("rate 100kbit", 1.0),
        ("delay 5ms", 1.0),
    ];
    for (words, share) in table {
        let text = format!("at 0s {words} on all");
        let mut plan = busy(1, &[&text]);
        plan.transport = UseTransport::Always;
        plan.workload.quota = model::workload::Quota::PerNode(40);
        let run = simulate(&plan);
        assert_eq!(run.end, End::Finished, "{words}");
        let seen = counted(&run, |row| row.datagrams_sent) as f64;
        let acted = fault(&plan, &run, words).acted as f64;
        // Bursts come in runs of five, so they are spread wider than coins.
        let spread = (9.0 * seen * share * (1.0 - share)).sqrt() + 42.0;
        assert!(
            (acted - share * seen).abs() <= 5.0 * spread,
            "{words}: {acted} of {seen}, not about {}",
            share * seen
        );
        assert!(seen > 1_000.0, "{words}: only {seen} datagrams");
    }
}

#[test]
fn a_damaged_datagram_is_rejected_by_its_seal() {
    for words in ["corrupt 5%", "corrupt 5% bits 8", "truncate 5%"] {
        let text = format!("at 0s {words} on all");
        let plan = busy(2, &[&text]);
        let run = simulate(&plan);
        holds(&plan, &run);
        let (acted, rejected) = (
            fault(&plan, &run, words).acted,
            counted(&run, |row| row.rejected),
        );
        // At most the last few are still under way.
        assert!(
            rejected <= acted && acted <= rejected + 7,
            "{words}: {acted} {rejected}"
        );
        assert!(rejected > 0, "{words}");
    }
}

#[test]
fn a_narrow_link_carries_as_many_bits_as_it_may() {
    let wide = simulate(&busy(1, &["at 0s rate 100mbit on all"]));
    let narrow = simulate(&busy(1, &["at 0s rate 20kbit on all"]));
    let mean = |run: &Run| run.link_delay_sum_ns / run.link_delay_count;
    // A datagram of 60 to 70 bytes takes 24 to 28 ms at 20 kbit/s.
    let more = mean(&narrow) - mean(&wide);
    assert!((24 * MS..60 * MS).contains(&more), "{more}");
    assert!(
        narrow
            .transport
            .values()
            .all(|row| row.bytes / row.datagrams_sent < 80)
    );
}

#[test]
fn a_delay_without_harm_needs_no_transport() {
    let mut plan = busy(1, &["at 0s delay 5ms on 0->1", "at 0s reorder 30% on all"]);
    plan.links = algorithms::registry::LinkOrder::Any;
    let run = simulate(&plan);
    holds(&plan, &run);
    assert!(run.transport.is_empty());
    assert!(fault(&plan, &run, "delay").acted > 0);
    let reordered = fault(&plan, &run, "reorder").acted as f64 / run.link_delay_count as f64;
    assert!((0.25..0.35).contains(&reordered), "{reordered}");
    plan.transport = UseTransport::Always;
    let run = simulate(&plan);
    holds(&plan, &run);
    assert_eq!(run.transport.len(), 7);
}

#[test]
fn a_round_trip_is_two_ways_also_where_much_is_sent_again() {
    let mut plan = busy(3, &["loss 30%"]);
    plan.delay = "1ms".parse().expect("a delay");
    let run = simulate(&plan);
    assert!(counted(&run, |row| row.retransmissions) > 20);
    let trips = run.round_trips.intervals();
    let trips = trips.flat_map(|(at_ns, trips)| trips.iter().map(move |trip| (at_ns, trip)));
    let mut count = 0;
    for (at_ns, (trip_ns, times)) in trips {
        // What an answer was held back is told in microseconds.
        let off_ns = trip_ns.abs_diff(2 * MS);
        assert!(off_ns <= 1_000, "seed 3: {trip_ns} ns at {at_ns}");
        count += times;
    }
    assert!(count > 100, "{count}");
    for (at_ns, trips) in run.round_trips.intervals() {
        let longest_ns = trips.longest_ns();
        assert!(longest_ns <= 2 * MS + 1_000, "{longest_ns} ns at {at_ns}");
    }
    assert_eq!(simulate(&busy(3, &[])).round_trips, RoundTrips::default());
}

#[test]
fn without_a_transport_what_is_lost_stays_lost() {
    let mut plan = busy(
        1,
        &["at 0s loss every 9 on all", "at 0s duplicate 20% on 0->1"],
    );
    plan.transport = UseTransport::Never;
    let run = simulate(&plan);
    assert_eq!(run.end, End::Deadlock);
    assert!(run.transport.is_empty());
    let rows = run.messages.values();
    let lost = rows.map(|row| row.lost).sum::<u64>();
    assert_eq!(lost, fault(&plan, &run, "loss").acted);
    plan.faults
        .steps
        .retain(|step| step.name.starts_with("duplicate"));
    let run = simulate(&plan);
    let (from, to) = (algorithms::NodeId(0), Some(algorithms::NodeId(1)));
    let rows = run
        .messages
        .iter()
        .filter(|((a, b, _), _)| (*a, *b) == (from, to));
    let doubled = rows.map(|(_, row)| row.received - row.sent).sum::<u64>();
    assert_eq!(doubled, fault(&plan, &run, "duplicate").acted);
    assert!(doubled > 0);
}

#[test]
fn a_partition_that_heals_only_delays() {
    for in_flight in ["drop", "hold", "deliver"] {
        let text = format!("at 15ms partition halves {in_flight} for 2s");
        for seed in 0..4 {
            let plan = busy(seed, &[&text]);
            let run = simulate(&plan);
            holds(&plan, &run);
            let row = fault(&plan, &run, "partition");
            assert!(row.acted > 0, "{in_flight}");
            assert_eq!(row.happened, Happened::from(15 * MS, Some(2_015 * MS)));
            assert!(run.ended_ns > 2_015 * MS, "{in_flight}");
        }
    }
}

#[test]
fn what_is_under_way_at_a_cut_is_lost_held_or_delivered() {
    // Member 1 asks at 5 ms, and its question would arrive at 25 ms.
    let entered_ns = |in_flight: &str, transport| {
        let cut = format!("at 15ms cut 1->0 {in_flight} for 100ms");
        let mut plan = plan("centralised", 2, 1, &[&cut]);
        plan.delay = "20ms".parse().expect("a delay");
        plan.transport = transport;
        plan.workload.weights = vec![0.0, 1.0];
        plan.workload.quota = model::workload::Quota::Total(1);
        simulate(&plan).requests[0].entered_ns
    };
    for transport in [UseTransport::Always, UseTransport::Never] {
        assert_eq!(entered_ns("deliver", transport), Some(45 * MS));
        assert_eq!(entered_ns("hold", transport), Some(135 * MS));
    }
    // It is repeated after the cut, when the sender has waited long enough.
    let repeated_ns = entered_ns("drop", UseTransport::Always).expect("it enters");
    assert!((155 * MS..600 * MS).contains(&repeated_ns), "{repeated_ns}");
    assert_eq!(entered_ns("drop", UseTransport::Never), None);
}

#[test]
fn a_partition_that_never_heals_says_who_waits_for_whom_and_ends() {
    let mut plan = plan("ricart-agrawala", 4, 1, &["at 30ms partition 0,1|2,3"]);
    for limit_ns in [None, Some(5_000 * MS)] {
        plan.time_limit_ns = limit_ns;
        let run = simulate(&plan);
        let judgement = judge(&plan, &run);
        assert_eq!(
            (judgement.verdict, judgement.conclusion()),
            (Verdict::Inconclusive, Verdict::Inconclusive)
        );
        let why = judgement.liveness.why().expect("it is not met");
        assert!(
            why.contains("'partition' on 0,1|2,3 was still in force"),
            "{why}"
        );
        assert!(
            why.contains("0 for nodes 2 and 3, 1 for nodes 2 and 3"),
            "{why}"
        );
        if let Some(limit_ns) = limit_ns {
            assert_eq!((run.end, run.ended_ns), (End::TimeLimit, limit_ns));
        }
    }
}

#[test]
fn the_holder_is_cut_off_at_the_moment_it_enters() {
    let plan = plan("naimi-trehel", 5, 1, &["at 1ms isolate holder for 300ms"]);
    let run = finish(&plan);
    let row = fault(&plan, &run, "isolate");
    let first = run.requests.iter().filter_map(|row| row.entered_ns).min();
    let cut_off_ns = row.at_ns().expect("somebody entered");
    assert_eq!(Some(cut_off_ns), first);
    assert!(row.acted > 0);
    let mut entered = run.requests.iter().filter_map(|row| row.entered_ns);
    let alone = cut_off_ns + 1..cut_off_ns + 300 * MS;
    // The holder may enter again, as it keeps the token; nobody else can.
    let others = entered.by_ref().filter(|ns| alone.contains(ns));
    assert!(others.count() <= 4);
}

/// Every isolation is a row of its own, with the one who was then the holder.
#[test]
fn whoever_is_the_holder_is_cut_off_for_its_own_time_only() {
    let plan = busy(2, &["every 50ms for 20ms isolate holder"]);
    let run = finish(&plan);
    assert!(run.faults.len() > 2, "{:?}", run.faults);
    for (row, next) in run.faults.iter().zip(run.faults.iter().skip(1)) {
        let over_ns = row.at_ns().map(|ns| ns + 20 * MS);
        assert_eq!(row.until_ns(), over_ns, "seed 2: {row:?}");
        assert!(over_ns <= next.at_ns(), "seed 2: {next:?}");
    }
    for row in &run.faults {
        let FaultTarget::Links(reach) = &row.target else {
            panic!("seed 2: {row:?}");
        };
        let inside = run.requests.iter().any(|request| {
            let stay = request.entered_ns..=request.left_ns;
            let mut others = (0..plan.nodes).filter(|other| *other != request.node.0);
            others.all(|other| reach.covers(request.node.0, other)) && stay.contains(&row.at_ns())
        });
        assert!(inside && row.acted > 0, "seed 2: {row:?}");
    }
    let victims = run.faults.iter().map(|row| row.target.to_string());
    let victims = victims.collect::<std::collections::BTreeSet<_>>();
    assert!(victims.len() > 1, "seed 2: {victims:?}");
}

#[test]
fn an_event_cuts_before_anything_of_it_arrives() {
    let text = "when message PRIVILEGE from 0 #1 cut 0->1 and 0->2 for 1s";
    let plan = plan("raymond", 3, 1, &[text]);
    let run = finish(&plan);
    assert!(fault(&plan, &run, "cut").acted > 0);
    let first = run.requests.iter().filter(|row| row.node.0 > 0);
    let first = first.filter_map(|row| row.entered_ns).min();
    assert!(first > Some(1_000 * MS), "{first:?}");
}

#[test]
fn heal_ends_a_cut_and_churn_comes_and_goes() {
    let plan = plan(
        "suzuki-kasami",
        4,
        1,
        &["at 5ms cut 0-all", "at 500ms heal all"],
    );
    let run = finish(&plan);
    assert!(run.ended_ns > 500 * MS);
    assert_eq!(fault(&plan, &run, "cut").until_ns(), Some(500 * MS));
    let churn = crate::scenes::plan(
        "suzuki-kasami",
        4,
        1,
        &["churn edges fail 30ms repair 20ms"],
    );
    let run = simulate(&churn);
    assert_eq!(run.end, End::Finished);
    assert!(fault(&churn, &run, "churn").acted > 0);
}

#[test]
fn the_dead_get_nothing_and_the_restarted_answer() {
    let faults = [
        "at 0s loss 5% on all",
        "when enter 2 #2 restart 2 after 50ms",
    ];
    let plan = plan("suzuki-kasami", 4, 3, &faults);
    let run = simulate(&plan);
    assert_eq!(fault(&plan, &run, "restart").acted, 1);
    let judgement = judge(&plan, &run);
    assert_eq!(judgement.verdict, Verdict::Inconclusive);
    assert!(judgement.safety.holds());
    assert!(
        messages(&run, "REQUEST").2 > 0,
        "requests to the dead are lost"
    );
}

#[test]
fn a_plan_with_bad_links_gives_the_same_run_every_time() {
    for transport in [UseTransport::Auto, UseTransport::Never] {
        for seed in 0..6 {
            let faults = [
                "at 0s loss 5% on all",
                "at 0s corrupt 2% on all",
                "at 40ms pause random for 30ms",
                "every 50ms for 10ms isolate holder",
            ];
            let mut plan = busy(seed, &faults);
            plan.transport = transport;
            assert_eq!(simulate(&plan), simulate(&plan), "seed {seed}");
        }
    }
}
