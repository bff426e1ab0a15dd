//! Every cell of the migrating-controller framework: at every size, on ordered and unordered links,
//! and against the algorithms it is said to be.

use algorithms::registry::{FormKind, LinkOrder};
use algorithms::taxonomy::{self, Cell};
use analysis::{TheoryLine, judge};
use model::plan::Plan;
use model::run::{End, Run};
use model::workload::{OneAtATime, PerNode, Quota, Span};

use crate::worlds::{MS, closed, plan, set, simulate};

#[test]
fn every_cell_lets_everybody_in_one_at_a_time() {
    for cell in taxonomy::of("controller") {
        for (seed, nodes) in (0..).zip([3, 4, 7, 12, 20, 40]) {
            for links in [LinkOrder::Fifo, LinkOrder::Any] {
                for timed in [false, true] {
                    let mut plan = of_cell(cell, nodes, seed);
                    if timed && !by_the_clock(&mut plan, cell) {
                        continue;
                    }
                    plan.links = links;
                    let run = simulate(&plan);
                    assert_eq!(run.end, End::Finished, "{cell:?}: {plan:?}");
                    assert_eq!(run.most_inside, Some(1), "{cell:?}: {plan:?}");
                    assert_eq!(run.protocol_errors, [], "{cell:?}: {plan:?}");
                    let entered = run.requests.iter().filter(|row| row.left_ns.is_some());
                    assert_eq!(entered.count() as u32, 4 * nodes, "{cell:?}: {plan:?}");
                }
            }
        }
    }
}

/// RAN-20: Suzuki and Kasami's, Raymond's and Martin's own machines cost what the cells cost.
#[test]
fn a_cell_costs_what_the_algorithm_it_is_costs() {
    let twins: [(&str, &[(&str, &str)]); 4] = [
        ("suzuki-kasami", token("replicated")),
        ("suzuki-kasami", token("centralised")),
        ("raymond", &[("queue", "hierarchical"), ("migrate", "each")]),
        (
            "martin",
            &[
                ("queue", "ring"),
                ("routing", "static"),
                ("migrate", "each"),
            ],
        ),
    ];
    for (name, params) in twins {
        for nodes in [2, 5, 10] {
            for (arrivals, quota) in [
                (OneAtATime.into(), Quota::Total(600)),
                (closed(Span::Constant(0)), Quota::PerNode(60)),
            ] {
                let mut alone = plan(name, nodes, 7);
                alone.workload.arrivals = arrivals;
                alone.workload.quota = quota;
                alone.workload.hold = PerNode::All(Span::Constant(2 * MS));
                let mut cell = Plan {
                    algorithm: plan("controller", nodes, 1).algorithm,
                    topology: "complete".parse().expect("a shape"),
                    ..alone.clone()
                };
                set(&mut cell, params);
                let (alone, cell) = (simulate(&alone), simulate(&cell));
                let entries = alone.window.entries;
                assert_eq!(entries, cell.window.entries, "{name}, {nodes} nodes");
                // The beginning and the end of a saturated run may differ by a round.
                let slack = match cell.window.entries {
                    600 => 0,
                    _ => 4 * u64::from(nodes),
                };
                // The cell's role carries Raymond's further request along; under load that saves
                // messages, but not moves.
                let (a, b) = match name {
                    "raymond" => (count(&alone, "PRIVILEGE"), count(&cell, "BECOME")),
                    _ => (alone.window.messages, cell.window.messages),
                };
                assert!(
                    a.abs_diff(b) <= slack,
                    "{name} {a}, cell {b}, {entries} entries, {nodes} nodes"
                );
                assert!(
                    cell.window.messages <= alone.window.messages + slack,
                    "{name}"
                );
            }
        }
    }
}

/// RAN-6: a role that may stay for ever is a role that never moves.
#[test]
fn a_tenure_without_end_is_no_migration() {
    for queue in ["centralised", "distributed", "replicated", "hierarchical"] {
        let mut endless = plan("controller", 7, 3);
        set(
            &mut endless,
            &[("queue", queue), ("max_req", "18446744073709551615")],
        );
        let mut never = plan("controller", 7, 3);
        set(&mut never, &[("queue", queue), ("migrate", "never")]);
        let (endless, never) = (simulate(&endless), simulate(&never));
        assert_eq!(endless.messages, never.messages, "{queue}");
        assert_eq!(endless.requests, never.requests, "{queue}");
    }
}

/// RAN-2: with everybody informed a migration costs N-1 messages, to the message.
#[test]
fn a_migration_costs_one_message_for_everybody_but_one() {
    for algorithm in ["cdc", "ddc"] {
        for nodes in [2, 3, 5, 10, 20] {
            for max_req in ["1", "2", "5", "10"] {
                let mut plan = plan(algorithm, nodes, 1);
                set(&mut plan, &[("max_req", max_req)]);
                plan.workload.quota = Quota::PerNode(20);
                let run = simulate(&plan);
                let (moves, informs) = (count(&run, "BECOME"), count(&run, "INFORM"));
                assert_eq!(
                    moves,
                    20 * u64::from(nodes) / max_req.parse::<u64>().unwrap()
                );
                assert_eq!(moves + informs, moves * (u64::from(nodes) - 1), "{plan:?}");
            }
        }
    }
}

/// The paper's c + (N-1)/max_req, on its grid: c is 3(N-1)/N alone, and saturated what the registry's
/// forms say.
#[test]
fn on_the_whole_grid_the_role_costs_what_the_forms_say() {
    let mut saturated_lines = 0;
    for algorithm in ["cdc", "ddc"] {
        for nodes in [5, 10, 20] {
            for max_req in [1, 2, 5, 10_u64] {
                let mut alone = plan(algorithm, nodes, 11);
                set(&mut alone, &[("max_req", &max_req.to_string())]);
                let mut crowd = alone.clone();
                alone.workload.arrivals = OneAtATime.into();
                alone.workload.quota = Quota::Total(3_000);
                let line = theory(&alone).expect("the form applies");
                assert_eq!(line.agrees, Some(true), "{line:?}: {alone:?}");
                crowd.workload.quota = Quota::PerNode(80);
                crowd.warm_up_entries = 20 * u64::from(nodes);
                // The window must be whole tenures, too.
                let aligned = (0..max_req).find_map(|_| {
                    crowd.warm_up_entries += u64::from(nodes);
                    theory(&crowd)
                });
                if let Some(line) = aligned {
                    assert!(line.difference.abs() < 1e-9, "{line:?}: {crowd:?}");
                    saturated_lines += 1;
                }
            }
        }
    }
    // All but those with more entries to a tenure than nodes, or, of DDC, than nodes but two.
    assert_eq!(saturated_lines, 11 + 9);
}

/// Every choice of values that the framework admits, and what its closed forms say of one request at a
/// time: where one applies, it is right.
#[test]
fn no_form_is_applied_where_it_does_not_hold() {
    const VALUES: &[(&str, &[&str])] = &[
        (
            "queue",
            &[
                "centralised",
                "distributed",
                "hierarchical",
                "ring",
                "replicated",
            ],
        ),
        ("routing", &["dynamic", "static"]),
        ("migrate", &["counter", "never", "each", "timer"]),
        ("test", &["exit", "wake"]),
        ("inform", &["all", "selective", "none"]),
        ("seek", &["propagate", "broadcast"]),
        ("target", &["usual", "first", "second", "last", "next"]),
        ("lazy", &["no", "yes"]),
        ("candidates", &["all", "0,2,3"]),
        ("groups", &["0", "2"]),
    ];
    let mut chosen: Vec<Vec<(&str, &str)>> = vec![Vec::new()];
    for (name, values) in VALUES {
        let with = |said: &Vec<_>| -> Vec<Vec<_>> {
            let more = values
                .iter()
                .map(|value| [said.as_slice(), &[(*name, *value)]].concat());
            more.collect()
        };
        chosen = chosen.iter().flat_map(with).collect();
    }
    let mut plan = plan("controller", 5, 3);
    plan.workload.arrivals = OneAtATime.into();
    plan.workload.quota = Quota::Total(400);
    let (mut admitted, mut applied) = (0, 0);
    for params in chosen {
        let info = plan.info();
        plan.params = info.choose(&params).expect("they are there");
        if (info.more.refuses)(&plan.params, plan.nodes).is_some() {
            continue;
        }
        admitted += 1;
        let topology = plan.build_topology().expect("a complete graph");
        for line in judge(&plan, &topology, &simulate(&plan)).theory {
            applied += 1;
            assert_eq!(line.agrees, Some(true), "{params:?}: {line:?}");
        }
    }
    assert_eq!((admitted, applied), (1_433, 244));
}

/// How many messages of a kind were sent.
fn count(run: &Run, kind: &str) -> u64 {
    let rows = run.messages.iter().filter(|((_, _, of), _)| *of == kind);
    rows.map(|(_, row)| row.sent).sum()
}

/// The first line about messages that is no mere account.
fn theory(plan: &Plan) -> Option<TheoryLine> {
    let topology = plan.build_topology().expect("a complete graph");
    let lines = judge(plan, &topology, &simulate(plan)).theory;
    let mut lines = lines.into_iter();
    lines.find(|line| line.kind == FormKind::Mean && line.metric == "messages_per_entry")
}

fn token(queue: &'static str) -> &'static [(&'static str, &'static str)] {
    let cells = taxonomy::of("controller").iter();
    let mut named = cells.filter(|cell| cell.name == "Suzuki and Kasami");
    named
        .find(|cell| cell.row == queue)
        .expect("it is in the table")
        .params
}

/// The cell among so many nodes, everybody asking four times with pauses.
fn of_cell(cell: &Cell, nodes: u32, seed: u64) -> Plan {
    let mut plan = plan("controller", nodes, seed);
    set(&mut plan, cell.params);
    plan.workload.arrivals = closed(Span::Exponential(2 * MS));
    plan.workload.quota = Quota::PerNode(4);
    plan.delay = "1ms 900us".parse().expect("a delay");
    plan.bound_ns = 2 * MS;
    plan
}

/// The same with a timer instead of a counter, where the cell's column has both.
fn by_the_clock(plan: &mut Plan, cell: &Cell) -> bool {
    let has_both = cell.column.ends_with("counter or timer");
    if has_both {
        let mut params = cell.params.to_vec();
        params.extend([("migrate", "timer"), ("max_time", "7000")]);
        set(plan, &params);
    }
    has_both
}
