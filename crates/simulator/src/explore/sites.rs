//! All sites that a search meets, each stored once, and what can happen to each.
//!
//! What can happen to a site, and what becomes of it, depends on nothing else. So it is worked out
//! once per site, and a state of the world is one small number per node.

use std::time::Duration;

use algorithms::erased::{Atlas, Input, MessageId, StateId};
use algorithms::registry::LinkOrder;
use algorithms::{After, Change, Effect, NodeId, Request, Timer};
use rustc_hash::FxHashMap;

use super::interned::Interned;
use super::mail::{self, Mail};
use super::site::{Alarm, Phase, Session, Site, Standing};

/// The number of a site; each is stored once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct SiteId(pub(super) u32);

/// A step that is possible at one site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SiteStep {
    /// The node's client asks.
    Request,
    /// The node's client leaves.
    Release,
    /// The message at that place of the mail from that node arrives.
    Deliver { from: NodeId, place: u32 },
    /// That one of its timers goes off.
    Timer(u32),
    /// It is told of a crash.
    Down(NodeId),
    /// It is told that the session with a neighbour ended.
    LinkDown(NodeId),
    /// It is told that there is a new one.
    LinkUp(NodeId),
    /// A message to it is lost.
    Lose { from: NodeId, place: u32 },
    /// A message to it is doubled.
    Duplicate { from: NodeId, place: u32 },
}

/// A step of a site, and the site after it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Move {
    pub(super) step: SiteStep,
    pub(super) next: SiteId,
    /// Where in `Sites::sent` the messages are that it sends to others.
    first_sent: u32,
    sent: u32,
    /// Something that must never happen, by its place in `Sites::wrongs`.
    pub(super) wrong: Option<u32>,
}

/// Something an algorithm must never do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wrong {
    /// It lets a client in that did not ask.
    Uninvited(String),
    /// It got a message that the paper says cannot arrive.
    ProtocolError(String),
}

/// How the world treats messages and clients.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub(super) order: LinkOrder,
    pub(super) may_lose: bool,
    pub(super) may_duplicate: bool,
    pub(super) told_of_crashes: bool,
    /// How time passes, where it counts.
    pub(super) clock: Option<Clock>,
    /// Whether a node that tries again waits until a link changes.
    pub(super) again_once_stirred: bool,
    pub(super) priorities: Vec<u32>,
}

/// How ticks relate to the algorithm's time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    /// The most ticks that a message takes.
    pub(super) bound: u32,
    /// How long the bound is in the algorithm's time.
    pub(super) bound_span: Duration,
}

impl Clock {
    /// The fewest ticks that are no shorter than this span.
    fn ticks(self, span: Duration) -> u32 {
        let ticks = span.as_nanos() * u128::from(self.bound);
        let ticks = ticks.div_ceil(self.bound_span.as_nanos().max(1));
        u32::try_from(ticks).unwrap_or(u32::MAX)
    }
}

/// The sites met so far.
pub(super) struct Sites {
    pub(super) atlas: Box<dyn Atlas>,
    rules: Rules,
    nodes: usize,
    known: Interned<Site>,
    standings: Vec<Standing>,
    views: Vec<View>,
    /// The mail of all sites: sender, addressee, message.
    mail: Vec<(NodeId, NodeId, MessageId)>,
    /// For each site where its moves begin and end, once they are worked out.
    moves_of: Vec<Option<(u32, u32)>>,
    moves: Vec<Move>,
    sent: Vec<(NodeId, Parcel)>,
    wrongs: Vec<Wrong>,
    parcels: Interned<(NodeId, MessageId)>,
    arrivals: FxHashMap<(SiteId, Parcel), SiteId>,
    aged: FxHashMap<SiteId, Option<SiteId>>,
    bereavements: FxHashMap<(SiteId, NodeId), Vec<SiteId>>,
}

/// A site as the invariants see it.
#[derive(Clone, Copy)]
struct View {
    state: Option<StateId>,
    /// Where its mail begins and ends in `Sites::mail`.
    mail: (u32, u32),
}

/// The number of a sender and a message; each pair is stored once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Parcel(u32);

impl Sites {
    pub(super) fn new(atlas: Box<dyn Atlas>, rules: Rules, nodes: usize) -> Self {
        Self {
            atlas,
            rules,
            nodes,
            known: Interned::new(),
            standings: Vec::new(),
            views: Vec::new(),
            mail: Vec::new(),
            moves_of: Vec::new(),
            moves: Vec::new(),
            sent: Vec::new(),
            wrongs: Vec::new(),
            parcels: Interned::new(),
            arrivals: FxHashMap::default(),
            aged: FxHashMap::default(),
            bereavements: FxHashMap::default(),
        }
    }

    /// The node before its first event.
    pub(super) fn fresh(&mut self, node: NodeId, wants: u32) -> SiteId {
        let state = self.atlas.initial(node);
        self.number(Site::fresh(node, state, wants, self.nodes))
    }

    /// The node once it has crashed.
    pub(super) fn crashed(&mut self, node: NodeId) -> SiteId {
        self.number(Site::crashed(node, self.nodes))
    }

    pub(super) fn get(&self, id: SiteId) -> &Site {
        self.known.get(id.0)
    }

    pub(super) fn standing(&self, id: SiteId) -> Standing {
        self.standings[id.0 as usize]
    }

    /// The algorithm's state at this site, none if it has crashed, and the mail on its way there.
    pub(super) fn view(&self, id: SiteId) -> (Option<StateId>, &[(NodeId, NodeId, MessageId)]) {
        let View { state, mail } = self.views[id.0 as usize];
        (state, &self.mail[mail.0 as usize..mail.1 as usize])
    }

    /// The numbers of the moves that can happen to this site, some only if a budget allows.
    pub(super) fn moves(&mut self, id: SiteId) -> std::ops::Range<u32> {
        let (first, end) = match self.moves_of[id.0 as usize] {
            Some(range) => range,
            None => self.work_out(id),
        };
        first..end
    }

    pub(super) fn a_move(&self, number: u32) -> Move {
        self.moves[number as usize]
    }

    pub(super) fn wrong(&self, number: u32) -> &Wrong {
        &self.wrongs[number as usize]
    }

    /// Hands what a move sends to its addressees, in a state that is one site per node.
    pub(super) fn post(&mut self, made: Move, state: &mut [u32]) {
        for at in made.first_sent..made.first_sent + made.sent {
            let (to, parcel) = self.sent[at as usize];
            let site = SiteId(state[to.index()]);
            let after = match self.arrivals.get(&(site, parcel)) {
                Some(&known) => known,
                None => self.arrive(site, parcel),
            };
            state[to.index()] = after.0;
        }
    }

    /// This site a tick later; none if something must happen to it first.
    pub(super) fn aged(&mut self, id: SiteId) -> Option<SiteId> {
        if let Some(&aged) = self.aged.get(&id) {
            return aged;
        }
        let aged = self.known.get(id.0).aged();
        let aged = aged.map(|later| self.number(later));
        self.aged.insert(id, aged);
        aged
    }

    /// What may become of this site when another node crashes: how much of the mail from there
    /// survives is open.
    pub(super) fn bereaved(&mut self, id: SiteId, victim: NodeId) -> &[SiteId] {
        if !self.bereavements.contains_key(&(id, victim)) {
            let left = self.bereave(id, victim);
            self.bereavements.insert((id, victim), left);
        }
        &self.bereavements[&(id, victim)]
    }

    /// How urgent the requests of a node are.
    pub(super) fn priority(&self, node: NodeId) -> u32 {
        self.rules.priorities[node.index()]
    }

    /// The algorithm's event of a step; none for a lost or doubled message.
    pub(super) fn event(&self, site: &Site, step: SiteStep) -> Option<Input> {
        match step {
            SiteStep::Request => Some(Input::Request(Request {
                priority: self.priority(site.node),
            })),
            SiteStep::Release => Some(Input::Release),
            SiteStep::Deliver { from, place } => Some(Input::Receive {
                from,
                message: site.inbox[from.index()][place as usize].message,
            }),
            SiteStep::Timer(place) => Some(Input::Timer(site.timers[place as usize].timer)),
            SiteStep::Down(peer) => Some(Input::Peer {
                peer,
                change: Change::Down,
            }),
            SiteStep::LinkDown(neighbour) => Some(Input::Link {
                neighbour,
                change: Change::Down,
            }),
            SiteStep::LinkUp(neighbour) => Some(Input::Link {
                neighbour,
                change: Change::Up,
            }),
            SiteStep::Lose { .. } | SiteStep::Duplicate { .. } => None,
        }
    }

    fn number(&mut self, site: Site) -> SiteId {
        let (number, new) = self.known.number(site);
        if new {
            let site = self.known.get(number);
            self.standings.push(site.standing());
            self.moves_of.push(None);
            let first = self.mail.len() as u32;
            for (from, queue) in (0..).map(NodeId).zip(&site.inbox) {
                let mail = queue.iter().map(|mail| (from, site.node, mail.message));
                self.mail.extend(mail);
            }
            let end = u32::try_from(self.mail.len()).expect("fewer than 2^32 messages of sites");
            self.views.push(View {
                state: site.state,
                mail: (first, end),
            });
        }
        SiteId(number)
    }

    fn arrive(&mut self, id: SiteId, parcel: Parcel) -> SiteId {
        let mut site = self.known.get(id.0).clone();
        let &(from, message) = self.parcels.get(parcel.0);
        if site.state.is_some() && !site.is_cut_off_from(from) {
            let sent = self.just_sent(message);
            mail::put(&mut site.inbox[from.index()], sent, self.rules.order);
        }
        let after = self.number(site);
        self.arrivals.insert((id, parcel), after);
        after
    }

    /// Renumbers the values that grow for ever, in a state that is one site per node.
    pub(super) fn renumber(&mut self, state: &mut [u32]) {
        let (mut nodes, mut flight) = (Vec::new(), Vec::new());
        for &site in state.iter() {
            let (node, mail) = self.view(SiteId(site));
            nodes.push(node);
            flight.extend(mail.iter().map(|&(_, _, message)| message));
        }
        if !self.atlas.renumber(&mut nodes, &mut flight) {
            return;
        }
        let mut flight = flight.into_iter();
        for (id, node) in state.iter_mut().zip(nodes) {
            let mut site = self.known.get(*id).clone();
            site.state = node;
            for queue in &mut site.inbox {
                for mail in queue.iter_mut() {
                    mail.message = flight.next().expect("as many as there were");
                }
                if self.rules.order == LinkOrder::Any {
                    queue.sort_unstable();
                }
            }
            *id = self.number(site).0;
        }
    }

    /// The site when its session with a neighbour ends.
    pub(super) fn severed(&mut self, id: SiteId, neighbour: NodeId) -> SiteId {
        let mut site = self.known.get(id.0).clone();
        site.end_session(neighbour);
        self.number(site)
    }

    /// The site when there is a new session, of which it has yet to be told.
    pub(super) fn mended(&mut self, id: SiteId, neighbour: NodeId) -> SiteId {
        let mut site = self.known.get(id.0).clone();
        site.links.insert(neighbour, Session::Renewed);
        self.number(site)
    }

    /// The site once some link of the world was cut or came back.
    pub(super) fn stirred(&mut self, id: SiteId) -> SiteId {
        let site = self.known.get(id.0);
        if site.stirred || site.state.is_none() || !self.rules.again_once_stirred {
            return id;
        }
        let mut site = site.clone();
        site.stirred = true;
        self.number(site)
    }

    fn bereave(&mut self, id: SiteId, victim: NodeId) -> Vec<SiteId> {
        let site = self.known.get(id.0).clone();
        if site.state.is_none() || site.node == victim {
            return vec![id];
        }
        let mail = mail::remains(&site.inbox[victim.index()], self.rules.order);
        mail.into_iter()
            .map(|remaining| {
                let mut left = site.clone();
                left.inbox[victim.index()] = remaining;
                if self.rules.told_of_crashes {
                    left.notices.push(victim);
                    left.notices.sort_unstable();
                }
                self.number(left)
            })
            .collect()
    }

    fn work_out(&mut self, id: SiteId) -> (u32, u32) {
        let site = self.known.get(id.0).clone();
        let first = self.moves.len() as u32;
        for step in self.possible(&site) {
            let made = self.make(&site, step);
            self.moves.push(made);
        }
        let end = u32::try_from(self.moves.len()).expect("fewer than 2^32 moves of sites");
        self.moves_of[id.0 as usize] = Some((first, end));
        (first, end)
    }

    fn possible(&self, site: &Site) -> Vec<SiteStep> {
        let mut possible = Vec::new();
        if site.state.is_none() {
            return possible;
        }
        match site.client.phase {
            Phase::Outside if site.client.wants > 0 => possible.push(SiteStep::Request),
            Phase::Inside => possible.push(SiteStep::Release),
            Phase::Outside | Phase::Waiting => {}
        }
        let mut next_mail = Vec::new();
        for (from, queue) in site.inbox.iter().enumerate() {
            // What a new session brings comes after the news of it.
            if site.links.contains_key(&NodeId(from as u32)) {
                continue;
            }
            let places = mail::next_places(queue, self.rules.order);
            next_mail.extend(places.map(|place| (NodeId(from as u32), place as u32)));
        }
        let arrivals = next_mail.iter();
        possible.extend(arrivals.map(|&(from, place)| SiteStep::Deliver { from, place }));
        let due = (0..).zip(&site.timers);
        let due = due.filter(|(_, alarm)| alarm.earliest == 0 && site.heeds(alarm));
        possible.extend(due.map(|(place, _)| SiteStep::Timer(place)));
        possible.extend(site.notices.iter().map(|&peer| SiteStep::Down(peer)));
        possible.extend(
            site.links
                .iter()
                .filter_map(|(&neighbour, session)| match session {
                    Session::Ended => Some(SiteStep::LinkDown(neighbour)),
                    Session::Renewed => Some(SiteStep::LinkUp(neighbour)),
                    Session::Down => None,
                }),
        );
        if self.rules.may_lose {
            let losses = next_mail.iter();
            possible.extend(losses.map(|&(from, place)| SiteStep::Lose { from, place }));
        }
        if self.rules.may_duplicate {
            let copies = next_mail.iter();
            possible.extend(copies.map(|&(from, place)| SiteStep::Duplicate { from, place }));
        }
        possible
    }

    fn make(&mut self, site: &Site, step: SiteStep) -> Move {
        let mut next = site.clone();
        match step {
            SiteStep::Request => {
                next.client.wants -= 1;
                next.client.phase = Phase::Waiting;
            }
            SiteStep::Release => next.client.phase = Phase::Outside,
            SiteStep::Deliver { from, place } | SiteStep::Lose { from, place } => {
                next.inbox[from.index()].remove(place as usize);
            }
            SiteStep::Duplicate { from, place } => {
                // Right behind the first: a doubled message does not overtake.
                let queue = &mut next.inbox[from.index()];
                queue.insert(place as usize, queue[place as usize]);
            }
            SiteStep::Timer(place) => {
                let alarm = next.timers.remove(place as usize);
                next.stirred &= !alarm.again;
            }
            SiteStep::Down(peer) => next.notices.retain(|&notice| notice != peer),
            SiteStep::LinkDown(neighbour) => {
                next.links.insert(neighbour, Session::Down);
            }
            SiteStep::LinkUp(neighbour) => {
                next.links.remove(&neighbour);
            }
        }
        let first_sent = self.sent.len() as u32;
        let wrong = self.happen(site, step, &mut next);
        let wrong = wrong.map(|wrong| {
            self.wrongs.push(wrong);
            self.wrongs.len() as u32 - 1
        });
        let sent = u32::try_from(self.sent.len()).expect("fewer than 2^32 sends") - first_sent;
        Move {
            step,
            next: self.number(next),
            first_sent,
            sent,
            wrong,
        }
    }

    fn just_sent(&self, message: MessageId) -> Mail {
        Mail {
            message,
            left: self.rules.clock.map_or(0, |clock| clock.bound),
        }
    }

    /// Lets the algorithm react and performs what it wants done, as far as it concerns this site;
    /// says the first thing that is wrong with it.
    fn happen(&mut self, site: &Site, step: SiteStep, next: &mut Site) -> Option<Wrong> {
        let event = self.event(site, step)?;
        let state = site.state.expect("nothing happens to a crashed node");
        let (clock, once_stirred) = (self.rules.clock, self.rules.again_once_stirred);
        let step = self.atlas.step(site.node, state, event);
        next.state = Some(step.next);
        let mut wrong = None;
        for effect in &step.effects {
            match effect {
                Effect::Send { to, message, .. } => {
                    let (parcel, _) = self.parcels.number((site.node, *message));
                    self.sent.push((*to, Parcel(parcel)));
                }
                Effect::Post { message } => {
                    let own = &mut next.inbox[site.node.index()];
                    let left = clock.map_or(0, |clock| clock.bound);
                    let message = *message;
                    mail::put(own, Mail { message, left }, self.rules.order);
                }
                Effect::Enter { .. } => {
                    if let Some(uninvited) = uninvited(site.node, next.client.phase) {
                        wrong.get_or_insert(uninvited);
                    }
                    next.client.phase = Phase::Inside;
                }
                Effect::SetTimer { timer, after } => {
                    next.timers.retain(|set| set.timer != *timer);
                    let alarm = alarm(*timer, *after, clock, once_stirred);
                    let place = next.timers.partition_point(|set| *set < alarm);
                    next.timers.insert(place, alarm);
                }
                Effect::CancelTimer { timer } => next.timers.retain(|set| set.timer != *timer),
                Effect::Note { .. } => {}
                Effect::ProtocolError { why } | Effect::Fail { why } => {
                    wrong.get_or_insert(Wrong::ProtocolError(format!("{}: {why}", site.node)));
                }
            }
        }
        wrong
    }
}

/// A timer as it is just set.
fn alarm(timer: Timer, after: After, clock: Option<Clock>, once_stirred: bool) -> Alarm {
    let ticks = |span| clock.map_or(0, |clock| clock.ticks(span));
    let (earliest, latest) = match after {
        After::Exactly(span) | After::Again(span) => (ticks(span), ticks(span)),
        After::Uniform(least, most) => (ticks(least), ticks(most)),
    };
    Alarm {
        timer,
        earliest,
        latest,
        again: once_stirred && matches!(after, After::Again(_)),
    }
}

fn uninvited(node: NodeId, phase: Phase) -> Option<Wrong> {
    match phase {
        Phase::Waiting => None,
        Phase::Outside => Some(format!("{node} is let in and did not ask")),
        Phase::Inside => Some(format!("{node} is let in and is inside already")),
    }
    .map(Wrong::Uninvited)
}
