//! A small world: its states, what can happen in each, and what must be true in all.
//!
//! A state is a row of numbers: the site of each node and, where messages may be lost or doubled or
//! links be cut, how many were.

use algorithms::erased::{MessageId, StateId};
use algorithms::registry::AlgorithmInfo;
use algorithms::{NodeId, Setting, Topology};

use super::site::{Session, Standing};
use super::sites::{Clock, Rules, SiteId, SiteStep, Sites, Wrong};
use super::{Kind, Options, Ties, Timers};

/// A small world and everything worked out about it so far.
pub(super) struct World {
    pub(super) sites: Sites,
    pub(super) nodes: usize,
    crashed: Vec<SiteId>,
    wants: Vec<u32>,
    /// How many may be inside.
    admits: u32,
    /// How many crashes the algorithm survives.
    tolerates: u32,
    timers: Timers,
    lose: u32,
    duplicate: u32,
    crash: u32,
    cut: u32,
    heal: bool,
    /// The links, each once, where they may be cut.
    links: Vec<(NodeId, NodeId)>,
    /// Invariants are facts about the repaired algorithm; the printed one is judged by what comes
    /// of it.
    checks_invariants: bool,
    /// Some numbers grow for ever, and only their order counts.
    renumbers: bool,
    view: View,
}

/// A state as the invariants see it; the room is used again for the next one.
#[derive(Default)]
struct View {
    nodes: Vec<Option<StateId>>,
    flight: Vec<(NodeId, NodeId, MessageId)>,
}

/// What can happen in one state, and the states it leads to.
#[derive(Default)]
pub(super) struct Successors {
    pub(super) transitions: Vec<Transition>,
    /// The states, one after the other.
    rows: Vec<u32>,
    width: usize,
}

/// Something that happens in a world.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transition {
    pub(super) act: Act,
    /// It must never happen, by its place in `Sites::wrongs`.
    pub(super) wrong: Option<u32>,
}

/// The kind of a transition, and where in the world it happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// A step of one site.
    Move { node: NodeId, number: u32 },
    /// A fault at one site, which nobody may need in order to be served.
    Fault { node: NodeId, number: u32 },
    /// Time passes by a tick.
    Tick,
    /// A node dies; how much of its mail survives, the next state tells.
    Crash { victim: NodeId },
    /// The session of a link ends, and what is on its way there is lost.
    Cut { ends: (NodeId, NodeId) },
    /// The link has a new session.
    Heal { ends: (NodeId, NodeId) },
}

impl Act {
    /// Whether it must happen sooner or later, so that others may count on it. That a link comes
    /// back is more than anybody can count on as long as there is another way.
    pub(super) fn is_certain(self) -> bool {
        matches!(self, Act::Move { .. } | Act::Tick)
    }
}

/// How many there are of what in one state.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Census {
    pub(super) inside: u32,
    pub(super) waiting: u32,
    pub(super) crashed: u32,
    mail: u32,
    due_mail: u32,
    timed: u32,
    news: u32,
    cut_off: u32,
    moving: u32,
    unserved: u32,
}

/// How many messages were lost, how many doubled, and how many links cut.
struct Spent {
    lost: u32,
    doubled: u32,
    cut: u32,
}

impl Spent {
    fn every_message_counts(&self) -> bool {
        (self.lost, self.doubled) == (0, 0)
    }
}

impl World {
    pub(super) fn new(info: &AlgorithmInfo, setting: &Setting, options: &Options) -> Self {
        let nodes = setting.nodes() as usize;
        let machine = info.machine(&setting.params, &setting.printed);
        let priorities = match options.priorities.as_slice() {
            [] => vec![0; nodes],
            given => given.to_vec(),
        };
        let rules = Rules {
            order: options.order,
            may_lose: options.lose > 0,
            may_duplicate: options.duplicate > 0,
            told_of_crashes: machine.wants_peer_events(),
            clock: match options.timers {
                Timers::Bounded { bound, .. } => Some(Clock {
                    bound,
                    bound_span: setting.bound,
                }),
                Timers::Free | Timers::Patient => None,
            },
            // Where timers are patient, what failed has failed for good, as long as links do not change.
            again_once_stirred: options.timers == Timers::Patient,
            priorities,
        };
        let mut sites = Sites::new(machine.atlas(setting.clone()), rules, nodes);
        let ids = (0..setting.nodes()).map(NodeId);
        Self {
            nodes,
            crashed: ids.map(|node| sites.crashed(node)).collect(),
            wants: options.wants.clone(),
            admits: (info.more.admits)(&setting.params),
            tolerates: info.survives(&setting.params),
            timers: options.timers,
            lose: options.lose,
            duplicate: options.duplicate,
            crash: options.crash,
            cut: options.cut,
            heal: options.heal,
            links: match options.cut {
                0 => Vec::new(),
                _ => setting.topology.without_direction().edges().collect(),
            },
            checks_invariants: setting.printed.is_repaired() && sites.atlas.has_invariants(),
            renumbers: sites.atlas.has_growing(),
            view: View::default(),
            sites,
        }
    }

    /// Makes one of states that differ only in numbers that grow for ever.
    pub(super) fn renumber(&mut self, state: &mut [u32]) {
        if self.renumbers {
            self.sites.renumber(&mut state[..self.nodes]);
        }
    }

    /// How many numbers a state has.
    pub(super) fn width(&self) -> usize {
        match (self.lose, self.duplicate, self.cut) {
            (0, 0, 0) => self.nodes,
            (_, _, 0) => self.nodes + 2,
            (_, _, _) => self.nodes + 3,
        }
    }

    /// The state before anything happened.
    pub(super) fn initial(&mut self) -> Vec<u32> {
        let mut state = Vec::with_capacity(self.width());
        for (node, &wants) in (0..).map(NodeId).zip(&self.wants) {
            state.push(self.sites.fresh(node, wants).0);
        }
        state.resize(self.width(), 0);
        state
    }

    /// Works out everything that can happen in a state.
    pub(super) fn expand(&mut self, state: &[u32], successors: &mut Successors) {
        successors.clear(state.len());
        let census = self.census(state);
        let timers_run = match self.timers {
            Timers::Free => true,
            Timers::Patient => census.mail == 0 && census.news == 0,
            Timers::Bounded { ties, .. } => match ties {
                Ties::Messages => census.due_mail == 0,
                Ties::Either => true,
            },
        };
        let Spent { lost, doubled, cut } = self.spent(state);
        for (node, &site) in state[..self.nodes].iter().enumerate() {
            for number in self.sites.moves(SiteId(site)) {
                let made = self.sites.a_move(number);
                let (allowed, fault) = match made.step {
                    SiteStep::Request
                    | SiteStep::Release
                    | SiteStep::Deliver { .. }
                    | SiteStep::Down(_)
                    | SiteStep::LinkDown(_)
                    | SiteStep::LinkUp(_) => (true, None),
                    SiteStep::Timer(_) => (timers_run, None),
                    SiteStep::Lose { .. } => (lost < self.lose, Some(0)),
                    SiteStep::Duplicate { .. } => (doubled < self.duplicate, Some(1)),
                };
                if !allowed {
                    continue;
                }
                let id = NodeId(node as u32);
                let act = match fault {
                    None => Act::Move { node: id, number },
                    Some(_) => Act::Fault { node: id, number },
                };
                let wrong = made.wrong;
                let next = successors.add(state, Transition { act, wrong });
                next[node] = made.next.0;
                if let Some(which) = fault {
                    next[self.nodes + which] += 1;
                }
                self.sites.post(made, next);
            }
        }
        self.expand_tick(state, &census, successors);
        if census.cut_off > 0 || cut < self.cut {
            self.expand_links(state, cut < self.cut, successors);
        }
        if census.crashed < self.crash {
            for victim in 0..self.nodes {
                if SiteId(state[victim]) != self.crashed[victim] {
                    self.expand_crash(state, victim, successors);
                }
            }
        }
    }

    /// Whether the state must never be: too many inside, or an invariant broken.
    pub(super) fn fault(&mut self, state: &[u32]) -> Option<(Kind, String)> {
        let census = self.census(state);
        if census.inside > self.admits {
            return Some((Kind::Exclusion, self.crowd(state)));
        }
        // They assume that every message arrives exactly once.
        if self.checks_invariants
            && self.spent(state).every_message_counts()
            && let Some(why) = self.broken_invariant(state)
        {
            return Some((Kind::Invariant, why));
        }
        None
    }

    /// Whether somebody waits, nothing can happen any more, and that is the algorithm's fault.
    pub(super) fn is_stuck(&self, state: &[u32]) -> bool {
        let census = self.census(state);
        census.waiting > 0 && census.moving == 0 && self.owes_liveness(state)
    }

    /// What [`is_stuck`](Self::is_stuck) has found, in words.
    pub(super) fn deadlock(&self, state: &[u32]) -> String {
        let waiting = listed(&self.waiting(state));
        format!("nothing can happen any more; waiting: {waiting}")
    }

    /// Why not everybody can be served, in words.
    pub(super) fn trap(&self, state: &[u32]) -> String {
        let waiting = listed(&self.waiting(state));
        format!("from here not everybody can be served; waiting: {waiting}")
    }

    /// Whether everybody who is alive got all they wanted.
    pub(super) fn is_served(&self, state: &[u32]) -> bool {
        self.census(state).unserved == 0
    }

    /// Whether the algorithm owes anybody anything: it survives as many crashes as there were, and
    /// the links that are left connect everybody.
    pub(super) fn owes_liveness(&self, state: &[u32]) -> bool {
        let census = self.census(state);
        let connected = census.cut_off == 0 || self.is_connected(state);
        census.crashed <= self.tolerates && connected
    }

    fn is_connected(&self, state: &[u32]) -> bool {
        let whole = self.links.iter().filter(|&&ends| !self.is_cut(state, ends));
        let whole: Vec<_> = whole.copied().collect();
        Topology::undirected(self.nodes as u32, &whole).is_connected()
    }

    fn is_cut(&self, state: &[u32], (a, b): (NodeId, NodeId)) -> bool {
        let site = |node: NodeId| self.sites.get(SiteId(state[node.index()]));
        site(a).is_cut_off_from(b) || site(b).is_cut_off_from(a)
    }

    /// Those whose clients are inside.
    pub(super) fn inside(&self, state: &[u32]) -> Vec<NodeId> {
        self.those(state, |standing| standing.inside)
    }

    /// Those whose clients wait.
    pub(super) fn waiting(&self, state: &[u32]) -> Vec<NodeId> {
        self.those(state, |standing| standing.waiting)
    }

    /// What is wrong with a transition that must never happen, in words.
    pub(super) fn wrong(&self, number: u32) -> (Kind, String) {
        match self.sites.wrong(number) {
            Wrong::Uninvited(why) => (Kind::Uninvited, why.clone()),
            Wrong::ProtocolError(why) => (Kind::ProtocolError, why.clone()),
        }
    }

    fn those(&self, state: &[u32], are: fn(Standing) -> bool) -> Vec<NodeId> {
        let sites = (0..).map(NodeId).zip(&state[..self.nodes]);
        sites
            .filter(|&(_, &site)| are(self.sites.standing(SiteId(site))))
            .map(|(node, _)| node)
            .collect()
    }

    fn census(&self, state: &[u32]) -> Census {
        let mut census = Census::default();
        for &site in &state[..self.nodes] {
            let standing = self.sites.standing(SiteId(site));
            census.inside += u32::from(standing.inside);
            census.waiting += u32::from(standing.waiting);
            census.crashed += u32::from(standing.crashed);
            census.mail += u32::from(standing.mail);
            census.due_mail += u32::from(standing.due_mail);
            census.timed += u32::from(standing.mail || standing.timer);
            census.news += u32::from(standing.news);
            census.cut_off += u32::from(standing.cut_off);
            census.moving += u32::from(standing.moves);
            census.unserved += u32::from(!standing.served);
        }
        census
    }

    fn spent(&self, state: &[u32]) -> Spent {
        let (lost, doubled, cut) = match state[self.nodes..] {
            [lost, doubled, cut] => (lost, doubled, cut),
            [lost, doubled] => (lost, doubled, 0),
            _ => (0, 0, 0),
        };
        Spent { lost, doubled, cut }
    }

    /// Ends sessions, and begins new ones where both ends know that theirs ended.
    fn expand_links(&mut self, state: &[u32], may_cut: bool, successors: &mut Successors) {
        for place in 0..self.links.len() {
            let ends @ (a, b) = self.links[place];
            let (one, other) = (SiteId(state[a.index()]), SiteId(state[b.index()]));
            let knows = |site, neighbour| self.sites.get(site).links.get(&neighbour).copied();
            let both_know =
                (knows(one, b), knows(other, a)) == (Some(Session::Down), Some(Session::Down));
            let (act, next) = if !self.is_cut(state, ends) && may_cut {
                let next = (self.sites.severed(one, b), self.sites.severed(other, a));
                (Act::Cut { ends }, next)
            } else if both_know && self.heal {
                let next = (self.sites.mended(one, b), self.sites.mended(other, a));
                (Act::Heal { ends }, next)
            } else {
                continue;
            };
            let row = successors.add(state, Transition { act, wrong: None });
            (row[a.index()], row[b.index()]) = (next.0.0, next.1.0);
            for site in &mut row[..self.nodes] {
                *site = self.sites.stirred(SiteId(*site)).0;
            }
            if matches!(act, Act::Cut { .. }) {
                row[self.nodes + 2] += 1;
            }
        }
    }

    /// Where time counts and something is to come with it, it may go on, unless something is due.
    fn expand_tick(&mut self, state: &[u32], census: &Census, successors: &mut Successors) {
        let Timers::Bounded { .. } = self.timers else {
            return;
        };
        if census.timed == 0 {
            return;
        }
        let mut later = state.to_vec();
        for site in &mut later[..self.nodes] {
            match self.sites.aged(SiteId(*site)) {
                Some(aged) => *site = aged.0,
                None => return,
            }
        }
        let tick = Transition {
            act: Act::Tick,
            wrong: None,
        };
        successors.add(&later, tick);
    }

    fn expand_crash(&mut self, state: &[u32], victim: usize, successors: &mut Successors) {
        let id = NodeId(victim as u32);
        let mut before = state.to_vec();
        before[victim] = self.crashed[victim].0;
        let mut outcomes = vec![before];
        for node in 0..self.nodes {
            let left = self.sites.bereaved(SiteId(state[node]), id);
            if node == victim || left.len() == 1 && left[0].0 == state[node] {
                continue;
            }
            outcomes = outcomes
                .iter()
                .flat_map(|outcome| {
                    left.iter().map(move |site| {
                        let mut outcome = outcome.clone();
                        outcome[node] = site.0;
                        outcome
                    })
                })
                .collect();
        }
        let crash = Transition {
            act: Act::Crash { victim: id },
            wrong: None,
        };
        for outcome in outcomes {
            successors.add(&outcome, crash);
        }
    }

    fn crowd(&self, state: &[u32]) -> String {
        let inside = listed(&self.inside(state));
        match self.admits {
            1 => format!("{inside} are inside"),
            k => format!("{inside} are inside, and at most {k} may be"),
        }
    }

    fn broken_invariant(&mut self, state: &[u32]) -> Option<String> {
        let View { nodes, flight } = &mut self.view;
        nodes.clear();
        flight.clear();
        for &site in &state[..self.nodes] {
            let (state, mail) = self.sites.view(SiteId(site));
            nodes.push(state);
            flight.extend_from_slice(mail);
        }
        let broken = self.sites.atlas.check(nodes, flight).err()?;
        Some(format!("not so: {} ({})", broken.invariant, broken.why))
    }
}

impl Successors {
    /// Makes one of states that differ only in numbers that grow for ever.
    pub(super) fn renumber(&mut self, world: &mut World) {
        if world.renumbers {
            for state in self.rows.chunks_exact_mut(self.width.max(1)) {
                world.renumber(state);
            }
        }
    }

    /// The states, in the order of the transitions.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Transition, &[u32])> {
        let states = self.rows.chunks_exact(self.width.max(1));
        self.transitions.iter().copied().zip(states)
    }

    fn clear(&mut self, width: usize) {
        self.transitions.clear();
        self.rows.clear();
        self.width = width;
    }

    /// Adds a transition to a state that is, so far, like the given one.
    fn add(&mut self, like: &[u32], transition: Transition) -> &mut [u32] {
        self.transitions.push(transition);
        let start = self.rows.len();
        self.rows.extend_from_slice(like);
        &mut self.rows[start..]
    }
}

/// `0`, `0 and 2`, `0, 1 and 2`.
pub(super) fn listed(nodes: &[NodeId]) -> String {
    let words: Vec<_> = nodes.iter().map(ToString::to_string).collect();
    match words.as_slice() {
        [] => "nobody".to_owned(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::time::Duration;

    use algorithms::printed::Printed;
    use algorithms::registry;

    use super::*;

    /// The states that a state leads to, renumbered.
    fn successors(world: &mut World, state: &[u32]) -> BTreeSet<Vec<u32>> {
        let mut successors = Successors::default();
        world.expand(state, &mut successors);
        successors.renumber(world);
        successors.iter().map(|(_, next)| next.to_vec()).collect()
    }

    /// Whatever can happen in a state can happen in the same one with other numbers, along walks of
    /// many attempts whose messages are late.
    #[test]
    fn numbers_that_grow_for_ever_may_be_replaced_at_any_time() {
        for name in ["thomas", "tb-dva"] {
            let info = registry::find(name).expect("it is registered");
            let setting = Setting::new(
                Topology::complete(3),
                NodeId(0),
                info.defaults(),
                Printed::repaired(),
                Duration::from_millis(50),
            );
            let mut options = Options::new(info, 3);
            options.wants = vec![2; 3];
            let mut world = World::new(info, &setting, &options);
            let mut renumbered = 0;
            for mut draw in 1..=20_u64 {
                let mut state = world.initial();
                for _ in 0..60 {
                    let mut renumbered_state = state.clone();
                    world.renumber(&mut renumbered_state);
                    renumbered += u32::from(renumbered_state != state);
                    let expected = successors(&mut world, &state);
                    assert_eq!(
                        successors(&mut world, &renumbered_state),
                        expected,
                        "{name}"
                    );
                    assert_eq!(
                        world.inside(&renumbered_state),
                        world.inside(&state),
                        "{name}"
                    );
                    let mut ways = Successors::default();
                    world.expand(&state, &mut ways);
                    draw = draw * 48_271 % 0x7fff_ffff;
                    let chosen = draw as usize % ways.transitions.len().max(1);
                    match ways.iter().nth(chosen) {
                        Some((_, next)) => state = next.to_vec(),
                        None => break,
                    }
                }
            }
            assert!(
                renumbered > 200,
                "{name}: only {renumbered} had other numbers"
            );
        }
    }
}
