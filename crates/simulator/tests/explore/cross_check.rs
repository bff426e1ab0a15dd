//! The same worlds as stateright models: it must count as many states.
//!
//! The model shares only the algorithms with the explorer. Everything between them, the links, the
//! clients, the timers and the faults, is written a second time, as plainly as possible.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Mutex;

use algorithms::erased::{Atlas, Input, MessageId, StateId};
use algorithms::registry::{self, AlgorithmInfo, LinkOrder};
use algorithms::{Change, Effect, NodeId, Request, Setting, Timer};
use simulator::explore::{Options, Timers, explore};
use stateright::{Checker, Model, Property};

use crate::registry::{finite, once, setting_of};
use crate::toys;

#[test]
fn every_algorithm_has_as_many_states() {
    for info in finite() {
        for order in [LinkOrder::Fifo, LinkOrder::Any] {
            if info.link_order == LinkOrder::Fifo && order == LinkOrder::Any {
                continue;
            }
            let worlds: &[&[u32]] = match once(info) {
                [1, 1, 1] => &[&[2, 2], &[1, 1, 1], &[1, 0, 2]],
                _ => &[&[1, 2], &[1, 0, 0]],
            };
            for wants in worlds {
                let options = Options {
                    wants: wants.to_vec(),
                    order,
                    ..Options::new(info, wants.len() as u32)
                };
                compare(info, &setting_of(info, wants.len() as u32), &options);
            }
        }
    }
}

#[test]
fn lost_messages_and_crashes_lead_to_as_many_states() {
    let info = registry::find("ricart-agrawala").expect("it is registered");
    for order in [LinkOrder::Fifo, LinkOrder::Any] {
        for (lose, crash) in [(1, 0), (2, 0), (0, 1), (0, 2), (1, 1)] {
            let options = Options {
                wants: vec![1, 1, 1],
                order,
                lose,
                crash,
                safety_only: true,
                ..Options::new(info, 3)
            };
            compare(info, &setting_of(info, 3), &options);
        }
    }
}

#[test]
fn doubled_messages_and_notices_of_crashes_lead_to_as_many_states() {
    for (duplicate, crash) in [(1, 0), (2, 0), (0, 1), (0, 2), (1, 1)] {
        let options = Options {
            wants: vec![0, 0, 2],
            order: LinkOrder::Any,
            duplicate,
            crash,
            safety_only: true,
            ..Options::new(&toys::HEIR, 3)
        };
        compare(&toys::HEIR, &toys::setting(3), &options);
    }
}

#[test]
fn timers_lead_to_as_many_states() {
    let options = Options {
        wants: vec![3, 3],
        order: LinkOrder::Fifo,
        timers: Timers::Patient,
        ..Options::new(&toys::HASTY, 2)
    };
    compare(&toys::HASTY, &toys::setting(2), &options);
    let alone = Options {
        wants: vec![3, 0],
        timers: Timers::Free,
        ..options
    };
    compare(&toys::HASTY, &toys::setting(2), &alone);
}

fn compare(info: &AlgorithmInfo, setting: &Setting, options: &Options) {
    let ours = explore(info, setting, options, &mut |_| ControlFlow::Continue(()))
        .expect("the options fit");
    let (name, wants) = (info.name, &options.wants);
    assert_eq!(ours.finding, None, "{name} {options:?}");
    assert!(ours.complete, "{name} {wants:?}");
    let model = World::new(info, setting, options);
    let theirs = model.checker().spawn_bfs().join();
    assert_eq!(
        ours.states,
        theirs.unique_state_count() as u64,
        "{name} {options:?}"
    );
}

/// The small world, once more.
struct World {
    atlas: Mutex<Box<dyn Atlas>>,
    options: Options,
    told_of_crashes: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    /// None where crashed.
    nodes: Vec<Option<Node>>,
    flight: BTreeMap<(u32, u32), Vec<MessageId>>,
    lost: u32,
    doubled: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Node {
    state: StateId,
    wants: u32,
    waiting: bool,
    inside: bool,
    timers: BTreeSet<Timer>,
    to_be_told: BTreeSet<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Action {
    Ask(u32),
    Leave(u32),
    Deliver(u32, u32, MessageId),
    Lose(u32, u32, MessageId),
    Double(u32, u32, MessageId),
    GoOff(u32, Timer),
    /// The victim, and what is left of its mail, by addressee.
    Crash(u32, BTreeMap<u32, Vec<MessageId>>),
    Tell(u32, u32),
}

impl World {
    fn new(info: &AlgorithmInfo, setting: &Setting, options: &Options) -> Self {
        let machine = info.machine(&setting.params, &setting.printed);
        Self {
            atlas: Mutex::new(machine.atlas(setting.clone())),
            options: options.clone(),
            told_of_crashes: machine.wants_peer_events(),
        }
    }

    /// What can be taken from a link next.
    fn next_on(&self, mail: &[MessageId]) -> BTreeSet<MessageId> {
        match self.options.order {
            LinkOrder::Fifo => mail.first().copied().into_iter().collect(),
            LinkOrder::Any => mail.iter().copied().collect(),
        }
    }

    /// What can be left of a link when its sender dies.
    fn rests(&self, mail: &[MessageId]) -> BTreeSet<Vec<MessageId>> {
        match self.options.order {
            LinkOrder::Fifo => (0..=mail.len()).map(|kept| mail[..kept].to_vec()).collect(),
            LinkOrder::Any => (0..1_u32 << mail.len())
                .map(|chosen| {
                    let kept = (0..mail.len()).filter(|place| chosen >> place & 1 == 1);
                    kept.map(|place| mail[place]).collect()
                })
                .collect(),
        }
    }

    fn happen(&self, state: &mut State, me: u32, input: Input) {
        let node = state.nodes[me as usize].as_mut().expect("it is alive");
        let mut atlas = self.atlas.lock().expect("nobody panicked");
        let step = atlas.step(NodeId(me), node.state, input).clone();
        node.state = step.next;
        let mut sent = Vec::new();
        for effect in step.effects {
            match effect {
                Effect::Send { to, message, .. } => sent.push((to.0, message)),
                Effect::Post { message } => sent.push((me, message)),
                Effect::Enter { .. } => (node.waiting, node.inside) = (false, true),
                Effect::SetTimer { timer, .. } => {
                    node.timers.insert(timer);
                }
                Effect::CancelTimer { timer } => {
                    node.timers.remove(&timer);
                }
                Effect::Note { .. } => {}
                Effect::ProtocolError { why } | Effect::Fail { why } => panic!("{why}"),
            }
        }
        for (to, message) in sent {
            if state.nodes[to as usize].is_some() {
                self.add(state, (me, to), message);
            }
        }
    }

    fn add(&self, state: &mut State, link: (u32, u32), message: MessageId) {
        let mail = state.flight.entry(link).or_default();
        mail.push(message);
        if self.options.order == LinkOrder::Any {
            mail.sort();
        }
    }
}

impl State {
    fn remove(&mut self, link: (u32, u32), message: MessageId) {
        let mail = self.flight.get_mut(&link).expect("it is under way");
        let place = mail.iter().position(|&other| other == message);
        mail.remove(place.expect("it is under way"));
        self.flight.retain(|_, mail| !mail.is_empty());
    }
}

impl Model for World {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let mut atlas = self.atlas.lock().expect("nobody panicked");
        let wants = self.options.wants.iter();
        let nodes = (0..).zip(wants).map(|(me, &wants)| {
            Some(Node {
                state: atlas.initial(NodeId(me)),
                wants,
                waiting: false,
                inside: false,
                timers: BTreeSet::new(),
                to_be_told: BTreeSet::new(),
            })
        });
        vec![State {
            nodes: nodes.collect(),
            flight: BTreeMap::new(),
            lost: 0,
            doubled: 0,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        let alive = |node: u32| state.nodes[node as usize].as_ref();
        let everyone = 0..state.nodes.len() as u32;
        for me in everyone.clone() {
            let Some(node) = alive(me) else { continue };
            if node.inside {
                actions.push(Action::Leave(me));
            } else if !node.waiting && node.wants > 0 {
                actions.push(Action::Ask(me));
            }
            if self.options.timers == Timers::Free || state.flight.is_empty() {
                let timers = node.timers.iter();
                actions.extend(timers.map(|&timer| Action::GoOff(me, timer)));
            }
            let news = node.to_be_told.iter();
            actions.extend(news.map(|&victim| Action::Tell(victim, me)));
        }
        for (&(from, to), mail) in &state.flight {
            for message in self.next_on(mail) {
                actions.push(Action::Deliver(from, to, message));
                if state.lost < self.options.lose {
                    actions.push(Action::Lose(from, to, message));
                }
                if state.doubled < self.options.duplicate {
                    actions.push(Action::Double(from, to, message));
                }
            }
        }
        let crashed = everyone.clone().filter(|&node| alive(node).is_none());
        if (crashed.count() as u32) < self.options.crash {
            for victim in everyone.filter(|&node| alive(node).is_some()) {
                let mut rests = vec![BTreeMap::new()];
                for (&(_, to), mail) in state.flight.iter().filter(|((from, _), _)| *from == victim)
                {
                    let mut longer = Vec::new();
                    for rest in &rests {
                        for left in self.rests(mail) {
                            let mut rest = rest.clone();
                            rest.insert(to, left);
                            longer.push(rest);
                        }
                    }
                    rests = longer;
                }
                actions.extend(rests.into_iter().map(|rest| Action::Crash(victim, rest)));
            }
        }
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        let node = |state: &mut State, me: u32, change: &dyn Fn(&mut Node)| {
            change(state.nodes[me as usize].as_mut().expect("it is alive"));
        };
        match action {
            Action::Ask(me) => {
                node(&mut state, me, &|node| {
                    node.wants -= 1;
                    node.waiting = true;
                });
                self.happen(&mut state, me, Input::Request(Request { priority: 0 }));
            }
            Action::Leave(me) => {
                node(&mut state, me, &|node| node.inside = false);
                self.happen(&mut state, me, Input::Release);
            }
            Action::Deliver(from, to, message) => {
                state.remove((from, to), message);
                let from = NodeId(from);
                self.happen(&mut state, to, Input::Receive { from, message });
            }
            Action::Lose(from, to, message) => {
                state.lost += 1;
                state.remove((from, to), message);
            }
            Action::Double(from, to, message) => {
                state.doubled += 1;
                let mail = state.flight.get_mut(&(from, to)).expect("it is under way");
                let place = mail.iter().position(|&other| other == message);
                mail.insert(place.expect("it is under way"), message);
            }
            Action::GoOff(me, timer) => {
                node(&mut state, me, &|node| {
                    node.timers.remove(&timer);
                });
                self.happen(&mut state, me, Input::Timer(timer));
            }
            Action::Crash(victim, rest) => {
                state.nodes[victim as usize] = None;
                let not_theirs = |link: &(u32, u32)| link.0 != victim && link.1 != victim;
                state.flight.retain(|link, _| not_theirs(link));
                for (to, mail) in rest {
                    if to != victim && !mail.is_empty() {
                        state.flight.insert((victim, to), mail);
                    }
                }
                for node in state.nodes.iter_mut().flatten() {
                    if self.told_of_crashes {
                        node.to_be_told.insert(victim);
                    }
                }
            }
            Action::Tell(victim, me) => {
                node(&mut state, me, &|node| {
                    node.to_be_told.remove(&victim);
                });
                let (peer, change) = (NodeId(victim), Change::Down);
                self.happen(&mut state, me, Input::Peer { peer, change });
            }
        }
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        // Without a property stateright looks at nothing.
        vec![Property::always("there is a state", |_, _| true)]
    }
}
