//! Schedules, found or written by hand, replayed step by step.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use algorithms::erased::{Group, Input, MessageId};
use algorithms::registry::{self, AlgorithmInfo, LinkOrder};
use algorithms::{Effect, NodeId, Request, Setting, Timer};
use simulator::explore::{
    Kind, MessageName, Mishap, Options, Outcome, Schedule, Step, explore, replay,
};

use crate::registry::{finite, once, setting_of};
use crate::toys;
use crate::wrong::{self, Change};

#[test]
fn what_the_explorer_finds_replays_to_the_same_end() {
    let lamport = registry::find("lamport").expect("it is registered");
    let any_order: Change = |options| options.order = LinkOrder::Any;
    for (info, nodes, change) in wrong::worlds().chain([(lamport, 3, any_order)]) {
        let name = info.name;
        let mut options = Options::new(info, nodes);
        change(&mut options);
        let setting = setting_of(info, nodes);
        let watch = &mut |_| ControlFlow::Continue(());
        let report = explore(info, &setting, &options, watch).expect("the options fit");
        let finding = report.finding.expect(name);
        let outcome = replay(info, &setting, &options, &finding.schedule).expect(name);
        let end = Mishap {
            step: finding.schedule.steps.len(),
            kind: finding.kind,
            why: finding.why,
        };
        assert_eq!(outcome.findings, [end], "{name}: {}", finding.schedule);
        assert_eq!(outcome.told, finding.told, "{name}");
    }
}

#[test]
fn mail_of_the_dead_may_arrive_after_the_news_of_their_death() {
    let late = "req 1; req 2; 2>0:ASK; crash 0; down 0@1; 0>2:GRANT";
    let outcome = replayed(&toys::HEIR, 3, late).expect("every step is possible");
    assert_eq!(
        outcome.findings,
        [mishap(6, Kind::Exclusion, "1 and 2 are inside")]
    );
    assert_eq!(outcome.inside, [NodeId(1), NodeId(2)]);
}

#[test]
fn mail_of_the_dead_may_die_with_them() {
    let lost = "req 2; 2>0:ASK; crash 0 losing 0>2:GRANT; down 0@1; down 0@2";
    let outcome = replayed(&toys::HEIR, 3, lost).expect("every step is possible");
    let why = "nothing can happen any more; waiting: 2";
    assert_eq!(outcome.findings, [mishap(5, Kind::Deadlock, why)]);
    assert_eq!(outcome.waiting, [NodeId(2)]);
    assert_eq!(outcome.possible, []);
}

#[test]
fn each_step_is_told_with_what_it_does() {
    let outcome = replayed(&toys::HEIR, 2, "req 1; 1>0:ASK; 0>1:GRANT; exit 1");
    let told = outcome.expect("every step is possible").told;
    let lines: Vec<_> = told.iter().map(ToString::to_string).collect();
    assert_eq!(
        lines,
        [
            "req 1  -> sends Ask to 0",
            "1>0:ASK  -> sends Grant to 1",
            "0>1:GRANT  -> enters",
            "exit 1  -> sends Done to 0",
        ]
    );
}

#[test]
fn an_impossible_step_says_why_and_what_would_be_possible() {
    let cases = [
        (
            "req 0; exit 0",
            "step 2, 'exit 0': it cannot happen here; possible here: 0>0:GRANT",
        ),
        (
            "req 1",
            "there is no node 1; there are 1, from 0; possible here: nothing",
        ),
        (
            "0>0",
            "no message is on its way from 0 to 0; possible here: nothing",
        ),
        (
            "req 0; 0>0:ASK",
            "no ASK is on its way from 0 to 0; possible here: 0>0:GRANT",
        ),
        ("req 0; 0>0:GRANT#2", "only 1 GRANT on the way from 0 to 0"),
        (
            "req 0; 0>0:ABRACADABRA",
            "no message kind 'ABRACADABRA'; there are ASK, GRANT,",
        ),
        ("timer 0:wait", "0 has no such timer set"),
        ("crash 0 losing 1>0:ASK", "1>0:ASK is not mail from 0"),
        ("down 0@0", "it cannot happen here"),
    ];
    for (schedule, expected) in cases {
        let error = replayed(&toys::POSTAL, 1, schedule).expect_err(schedule);
        assert!(error.contains(expected), "{schedule}: {error}");
    }
}

#[test]
fn a_message_is_named_by_its_age() {
    let schedule = "req 0; exit 0; 0>1:NUMBER; req 0; exit 0; 0>1:NUMBER#2";
    let outcome = replayed(&toys::PEDANT, 2, schedule).expect("every step is possible");
    // On the way were 2, then 1 and 2 again.
    let why = "1: heard Number(1) after 1";
    assert_eq!(outcome.findings[0], mishap(6, Kind::ProtocolError, why));
}

#[test]
fn without_a_kind_the_oldest_message_is_meant() {
    let schedule = "req 0; exit 0; req 0; exit 0; 0>1; 0>1; 0>1";
    let outcome = replayed(&toys::PEDANT, 2, schedule).expect("every step is possible");
    // On the way were 1, 2, 1 and 2.
    let broken = "not so: nobody has heard two numbers (1 has)";
    let error = "1: heard Number(1) after 2";
    assert_eq!(
        outcome.findings,
        [
            mishap(6, Kind::Invariant, broken),
            mishap(7, Kind::ProtocolError, error)
        ]
    );
}

/// The explorer looks steps up in an atlas; a run lets living members take them. Both must do the
/// same, over whole schedules drawn at random.
#[test]
fn living_members_do_the_same() {
    for info in registry::ALL {
        for seed in 1..=10 {
            let setting = setting_of(info, 3);
            let mut options = Options::new(info, 3);
            // Votes go a long way: two entries of three nodes are enough.
            options.wants = match once(info) {
                [1, 1, 1] if finite().any(|other| other.name == info.name) => vec![2, 2, 2],
                _ => vec![1, 1, 0],
            };
            let mut members = Members::new(info, &setting);
            let mut schedule = Schedule::default();
            let mut draw: u64 = seed;
            loop {
                let outcome = replay(info, &setting, &options, &schedule);
                let outcome = outcome.expect("only possible steps are taken");
                if let Some(told) = outcome.told.last() {
                    let done = members.perform(&told.step);
                    let (name, step) = (info.name, schedule.steps.len());
                    assert_eq!(
                        told.effects(),
                        done,
                        "{name}, seed {seed}, step {step}: {schedule}"
                    );
                }
                if outcome.possible.is_empty() {
                    assert_eq!(outcome.waiting, [], "{}: {schedule}", info.name);
                    break;
                }
                draw = draw * 48_271 % 0x7fff_ffff;
                let chosen = draw as usize % outcome.possible.len();
                schedule.steps.push(outcome.possible[chosen].clone());
            }
            assert!(schedule.steps.len() >= 12, "{}: {schedule}", info.name);
        }
    }
}

/// Living members, and what they have under way.
struct Members {
    group: Box<dyn Group>,
    kinds: &'static [&'static str],
    /// From, to, what; oldest first.
    mail: Vec<(NodeId, NodeId, MessageId)>,
    timers: BTreeSet<(NodeId, Timer)>,
}

impl Members {
    fn new(info: &AlgorithmInfo, setting: &Setting) -> Self {
        let machine = info.machine(&setting.params, &setting.printed);
        Self {
            group: machine.group(setting, 0..setting.nodes()),
            kinds: machine.kinds(),
            mail: Vec::new(),
            timers: BTreeSet::new(),
        }
    }

    fn perform(&mut self, step: &Step) -> Vec<String> {
        let request = Request { priority: 0 };
        let (me, event) = match step {
            Step::Request(node) => (*node, Input::Request(request)),
            Step::Release(node) => (*node, Input::Release),
            Step::Deliver(named) => {
                let (from, message) = (named.from, self.take(named));
                (named.to, Input::Receive { from, message })
            }
            Step::Timer { node, name, tag } => {
                let tag = tag.unwrap_or(0);
                let mut set = self.timers.iter().copied();
                let due = set.find(|(owner, timer)| {
                    (owner, timer.name, timer.tag) == (node, name.as_str(), tag)
                });
                let (_, timer) = due.expect("only a timer that is set goes off");
                self.timers.remove(&(*node, timer));
                (*node, Input::Timer(timer))
            }
            other => panic!("{other} is a fault"),
        };
        let mut effects = Vec::new();
        self.group.handle(me, event, &mut effects);
        let mut words = Vec::new();
        for effect in effects {
            match effect {
                Effect::Send { to, message, .. } => {
                    words.push(format!("sends {} to {to}", self.group.describe(message)));
                    self.mail.push((me, to, message));
                }
                Effect::Enter { fence: None } => words.push("enters".to_owned()),
                Effect::Enter { fence: Some(fence) } => words.push(format!("enters as {fence}")),
                Effect::Note { name, value, .. } => words.push(format!("notes {name} = {value}")),
                Effect::SetTimer { timer, .. } => {
                    words.push(format!("sets timer {}", timer.name));
                    self.timers.insert((me, timer));
                }
                Effect::CancelTimer { timer } => {
                    words.push(format!("cancels timer {}", timer.name));
                    self.timers.remove(&(me, timer));
                }
                other => panic!("{other:?} in a repaired algorithm without faults"),
            }
        }
        words
    }

    fn take(&mut self, named: &MessageName) -> MessageId {
        let fits = |&(from, to, message): &(NodeId, NodeId, MessageId)| {
            let kind = self.kinds[self.group.kind(message)];
            (from, to, Some(kind)) == (named.from, named.to, named.kind.as_deref())
        };
        let places = self.mail.iter().enumerate().filter(|(_, one)| fits(one));
        let nth = named.nth.unwrap_or(1) as usize - 1;
        let (place, _) = places.into_iter().nth(nth).expect("it is under way");
        self.mail.remove(place).2
    }
}

fn mishap(step: usize, kind: Kind, why: &str) -> Mishap {
    let why = why.to_owned();
    Mishap { step, kind, why }
}

fn replayed(info: &AlgorithmInfo, nodes: u32, schedule: &str) -> Result<Outcome, String> {
    let schedule = schedule.parse().expect("the schedule is well written");
    let options = Options {
        wants: vec![0; nodes as usize],
        ..Options::new(info, nodes)
    };
    let outcome = replay(info, &toys::setting(nodes), &options, &schedule);
    outcome.map_err(|error| error.to_string())
}
