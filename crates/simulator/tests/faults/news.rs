//! What members are told: that a link's session ended, with what was under way lost, and that
//! somebody died.

use std::ops::ControlFlow;

use algorithms::contract::Invariant;
use algorithms::erased::{Machine, Of};
use algorithms::registry::LinkContract;
use algorithms::{Algorithm, Change, Message, NodeId, Outbox, Request, Setup, Timer, Topology};
use model::plan::Plan;
use model::run::{End, FaultKind, Run};
use model::workload::{OneAtATime, Quota};
use serde::{Deserialize, Serialize};
use simulator::{Needs, simulate_needy};

use crate::scenes::{MS, fault, messages, plan};

/// Everybody asks member 0, who lets everybody in. Who waits asks again when its link is back, and
/// takes note of every change.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
struct Anxious {
    me: NodeId,
    waits: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Word {
    MayI,
    YouMay,
}

impl Message for Word {
    const KINDS: &'static [&'static str] = &["MAY_I", "YOU_MAY"];

    fn kind(&self) -> usize {
        match self {
            Word::MayI => 0,
            Word::YouMay => 1,
        }
    }

    fn origin(&self) -> Option<NodeId> {
        None
    }
}

const ZERO: NodeId = NodeId(0);

impl Algorithm for Anxious {
    type Message = Word;

    fn new(setup: &Setup<'_>) -> Self {
        Self {
            me: setup.me,
            waits: false,
        }
    }

    fn request(&mut self, _: Request, out: &mut Outbox<Word>) {
        self.waits = true;
        out.send(ZERO, Word::MayI);
    }

    fn release(&mut self, _: &mut Outbox<Word>) {}

    fn receive(&mut self, from: NodeId, word: Word, out: &mut Outbox<Word>) {
        match word {
            Word::MayI => out.send(from, Word::YouMay),
            // A second answer, to a question that was asked again, is as good as none.
            Word::YouMay if self.waits => {
                self.waits = false;
                out.enter();
            }
            Word::YouMay => {}
        }
    }

    fn timer(&mut self, _: Timer, _: &mut Outbox<Word>) {}

    fn peer(&mut self, peer: NodeId, _: Change, out: &mut Outbox<Word>) {
        out.note("died", u64::from(peer.0));
    }

    fn link(&mut self, neighbour: NodeId, change: Change, out: &mut Outbox<Word>) {
        match change {
            Change::Down => out.note("down", 1),
            Change::Up => {
                out.note("up", 1);
                if self.waits && neighbour == ZERO && self.me != ZERO {
                    out.send(ZERO, Word::MayI);
                }
            }
        }
    }

    fn invariants() -> &'static [Invariant<Self>] {
        &[]
    }
}

static ANXIOUS: &dyn Machine = &Of::<Anxious>::MACHINE;

const SESSIONS: Needs = Needs {
    links: LinkContract::Sessions,
    link_events: true,
    peer_events: false,
};

fn simulate(plan: &Plan, needs: Needs) -> Run {
    let topology = Topology::complete(plan.nodes);
    let mut watch = |_| ControlFlow::Continue(());
    simulate_needy(ANXIOUS, needs, plan, topology, &mut watch).expect("time passes")
}

/// How often a member noted that links went down, or came up.
fn noted(run: &Run, node: u32, name: &'static str) -> u64 {
    let row = run.notes.get(&(NodeId(node), name));
    row.map_or(0, |row| row.count)
}

#[test]
fn a_cut_ends_the_session_at_both_ends_and_a_new_one_begins() {
    for in_flight in ["drop", "hold"] {
        let cut = format!("at 12ms cut 0-1 {in_flight} for 3s");
        let plan = plan("centralised", 3, 1, &[&cut]);
        let run = simulate(&plan, SESSIONS);
        assert_eq!(run.end, End::Finished, "{in_flight}");
        assert!(fault(&plan, &run, "cut").acted > 0, "{in_flight}");
        for node in [0, 1] {
            assert_eq!(noted(&run, node, "down"), 1, "{in_flight} at {node}");
            assert_eq!(noted(&run, node, "up"), 1, "{in_flight} at {node}");
        }
        assert_eq!(noted(&run, 2, "down"), 0, "{in_flight}");
        let entered = run.requests.iter().filter(|row| row.left_ns.is_some());
        assert_eq!(entered.count(), 15, "{in_flight}");
        // The answer that was under way is lost, and the question asked again.
        assert_eq!(messages(&run, "MAY_I"), (11, 11, 0), "{in_flight}");
        assert_eq!(messages(&run, "YOU_MAY"), (11, 10, 1), "{in_flight}");
    }
}

#[test]
fn every_survivor_learns_of_a_death_once_and_in_its_own_time() {
    let mut plan = plan("centralised", 6, 1, &[]);
    plan.workload.quota = Quota::PerNode(100);
    let times = |faults: &[&str], quota_ns| {
        let mut plan = plan.clone();
        plan.faults = with_words(6, faults);
        plan.workload.quota = Quota::Until(quota_ns);
        let needs = Needs {
            links: LinkContract::Patient,
            link_events: false,
            peer_events: true,
        };
        simulate(&plan, needs)
    };
    let kill = "at 20ms kill 5";
    let told = |run: &Run| {
        let died = (0..6).filter(|node| noted(run, *node, "died") > 0);
        died.collect::<Vec<_>>()
    };
    let run = times(&[kill], 1_000 * MS);
    assert_eq!(told(&run), [0, 1, 2, 3, 4]);
    let rows = run.notes.iter().filter(|((_, name), _)| *name == "died");
    assert!(rows.clone().all(|(_, row)| (row.count, row.sum) == (1, 5)));
    // After 50 ms nobody has heard of it, after 500 ms everybody; in between some have.
    assert_eq!(told(&times(&[kill], 60 * MS)), [0; 0]);
    let some = told(&times(&[kill], 300 * MS)).len();
    assert!((1..5).contains(&some), "{some}");
    // Who is not to hear of it does not, and that counts.
    let run = times(&[kill, "hide down 5 from 3"], 1_000 * MS);
    assert_eq!(told(&run), [0, 1, 2, 4]);
    let hidden = run.faults.iter();
    let mut hidden = hidden.filter(|fault| fault.kind == FaultKind::Message);
    assert_eq!(hidden.next().map(|fault| fault.acted), Some(1));
}

#[test]
fn a_patient_link_only_delays_and_tells_nobody() {
    let plan = plan("centralised", 3, 1, &["at 12ms cut 0-1 for 3s"]);
    let needs = Needs {
        links: LinkContract::Patient,
        ..SESSIONS
    };
    let run = simulate(&plan, needs);
    assert_eq!(run.end, End::Finished);
    assert!(run.notes.is_empty(), "{:?}", run.notes);
    assert_eq!(messages(&run, "MAY_I"), (10, 10, 0));
}

#[test]
fn silence_is_noticed_while_somebody_waits_and_only_then() {
    // The answer is lost with its session: who waits has nothing under way, and asks whether anybody
    // is there.
    let lost = [
        "lose message YOU_MAY from 0 to 1 #1",
        "at 100ms cut 0-1 for 3s",
    ];
    let mut troubled = plan("centralised", 2, 1, &["at 100ms cut 0-1 for 3s"]);
    troubled.faults = with_words(2, &lost);
    troubled.workload.weights = vec![0.0, 1.0];
    troubled.workload.quota = Quota::Total(1);
    let run = simulate(&troubled, SESSIONS);
    assert_eq!(run.end, End::Finished);
    assert_eq!((noted(&run, 1, "down"), noted(&run, 1, "up")), (1, 1));
    assert!(run.ended_ns > 3_100 * MS);
    // Who does not ask for link events never learns of it.
    let needs = Needs {
        link_events: false,
        ..SESSIONS
    };
    let run = simulate(&troubled, needs);
    assert_eq!((run.end, noted(&run, 1, "down")), (End::Deadlock, 0));
}

/// A link that is cut for good: nothing moves any more, and that is seen before the time limit.
#[test]
fn a_cut_for_good_is_a_standstill_and_no_matter_of_the_time_limit() {
    let mut cut = plan("centralised", 3, 1, &["at 12ms cut 0-1"]);
    cut.time_limit_ns = Some(40_000 * MS);
    let run = simulate(&cut, SESSIONS);
    assert_eq!(run.end, End::Deadlock);
    let silences = run.ended_ns / cut.silence_ns;
    assert!((15..=22).contains(&silences), "{silences} silences");
    // Patient links try for ever, and tell nobody.
    let needs = Needs {
        links: LinkContract::Patient,
        link_events: false,
        ..SESSIONS
    };
    assert_eq!(simulate(&cut, needs).end, End::TimeLimit);
}

/// A link that comes back sets the group in motion again, however long nothing has happened.
#[test]
fn a_group_is_not_given_up_just_when_its_link_is_back() {
    let plan = plan("centralised", 3, 1, &["at 12ms cut 0-1 for 300s"]);
    let run = simulate(&plan, SESSIONS);
    assert_eq!(run.end, End::Finished);
    let entered = run.requests.iter().filter(|row| row.left_ns.is_some());
    assert_eq!(entered.count(), 15);
}

/// Faults on the toy's own messages.
fn with_words(nodes: u32, faults: &[&str]) -> chaos::Timeline {
    let read = |_: &str| Err(String::new());
    let group = chaos::timeline::Group {
        nodes,
        edges: chaos::partition::Edges::Complete { nodes },
        kinds: Some(Word::KINDS),
        token: None,
        seed: 1,
        read: &read,
    };
    let entries = faults.iter().map(|text| text.parse().expect("a fault"));
    let entries = entries.collect::<Vec<_>>();
    chaos::Timeline::resolve(&entries, &group).expect("they fit")
}

#[test]
fn churn_ends_many_sessions_and_everything_is_accounted_for() {
    for seed in 0..40 {
        let faults = ["churn edges fail 2s repair 1500ms", "at 0s loss 10% on all"];
        let mut plan = plan("centralised", 4, seed, &faults);
        plan.delay = "5ms 4ms".parse().expect("a delay");
        if seed % 2 == 1 {
            plan.workload.arrivals = OneAtATime.into();
            plan.workload.quota = Quota::Total(40);
        }
        let run = simulate(&plan, SESSIONS);
        assert_eq!(run.end, End::Finished, "seed {seed}");
        for kind in Word::KINDS {
            let (sent, received, lost) = messages(&run, kind);
            assert_eq!(sent, received + lost, "seed {seed}: {kind}");
        }
        assert_eq!(run, simulate(&plan, SESSIONS), "seed {seed}");
    }
}
