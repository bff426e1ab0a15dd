//! What every algorithm is: events in, effects out.

mod declarations;

use std::collections::{BTreeSet, VecDeque};
use std::fmt::{self, Debug};
use std::hash::Hash;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::erased::{MessageId, Shelf};
use crate::setup::Setup;
use crate::view::View;

pub(crate) use declarations::{
    declared, from_setup, ignores, invariants, messages, node, origin, shown,
};

/// A member of the group, numbered from 0.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The node's place in a table with one row per node.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The others of a group of so many, in a circle that begins behind this node.
    pub(crate) fn others_behind(self, nodes: usize) -> impl Iterator<Item = NodeId> + use<> {
        let nodes = nodes as u32;
        (self.0 + 1..nodes).chain(0..self.0).map(NodeId)
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// Just the number: states and messages are shown to people as they are.
impl Debug for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Debug::fmt(&self.0, f)
    }
}

/// The local client's wish to enter. A node has at most one open request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Request {
    /// Larger is more urgent; algorithms without priorities ignore it.
    pub priority: u32,
}

/// What became of a peer or of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Change {
    /// It is gone: the member died, or the link ended its session.
    Down,
    /// It is back: the member was restarted, or the link has a new session.
    Up,
}

impl Change {
    /// Keeps a set of those that are down.
    pub(crate) fn note_in(self, down: &mut BTreeSet<NodeId>, who: NodeId) {
        match self {
            Change::Down => down.insert(who),
            Change::Up => down.remove(&who),
        };
    }
}

/// A timer of one member. Setting a timer that is already set moves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Timer {
    /// What it is for.
    pub name: &'static str,
    /// Which one of that name: an epoch, an attempt, a request number.
    pub tag: u64,
}

impl Timer {
    /// The only timer of that name.
    pub const fn named(name: &'static str) -> Self {
        Self { name, tag: 0 }
    }
}

/// When a timer should go off, counted from the event that set it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum After {
    /// After exactly this long.
    Exactly(Duration),
    /// After exactly this long, to try once more what has failed and fails as long as the links are
    /// what they are. Without this a search of all schedules would meet one more attempt for ever.
    /// A node that begins an attempt before it goes off cancels it: it would be taken for that
    /// attempt.
    Again(Duration),
    /// At a moment between the two, which the driver draws: an algorithm has no randomness.
    Uniform(Duration, Duration),
}

/// A message between two nodes of one algorithm.
pub trait Message:
    Clone + Debug + Eq + Hash + Serialize + DeserializeOwned + Send + Sync + 'static
{
    /// The kinds there are, by the names they are counted under.
    const KINDS: &'static [&'static str];

    /// Which of [`KINDS`](Self::KINDS) this is.
    fn kind(&self) -> usize;

    /// Whose request this message is about, where the message says so. By default it does not: it is
    /// about the request of its sender or of its addressee, and [`Outbox::send_for`] says which.
    fn origin(&self) -> Option<NodeId> {
        None
    }

    /// Visits the numbers that [`Algorithm::growing`] is about.
    fn growing(&mut self, _each: Visit<'_>) {}
}

/// Takes a number that grows for ever, and the series it belongs to: whose, and of what.
pub type Visit<'a> = &'a mut dyn FnMut((NodeId, &'static str), &mut u64);

/// A distributed mutual exclusion algorithm at one node.
///
/// A driver handles one event, performs everything in the outbox in order, then takes the next.
/// There are no default bodies: "cannot happen" and "deliberately ignored" are written, in a line that
/// begins with `ignores!`, and not forgotten.
pub trait Algorithm: Clone + Debug + Eq + Hash + Serialize + Send + Sync + 'static {
    /// What its nodes say to each other.
    type Message: Message;

    /// Whether it wants to be told when a member dies or comes back; not where `ignores!` lists
    /// `peer`.
    const WANTS_PEER_EVENTS: bool = true;

    /// Whether it wants to be told when a link goes down or comes up; not where `ignores!` lists
    /// `link`.
    const WANTS_LINK_EVENTS: bool = true;

    /// The node before its first event.
    fn new(setup: &Setup<'_>) -> Self;

    /// The local client wants in.
    fn request(&mut self, request: Request, out: &mut Outbox<Self::Message>);

    /// The local client leaves. It comes only after [`Outbox::enter`].
    fn release(&mut self, out: &mut Outbox<Self::Message>);

    /// A message arrives. Every message arrives exactly once; in what order, the registry says.
    fn receive(&mut self, from: NodeId, message: Self::Message, out: &mut Outbox<Self::Message>);

    /// A timer that was set, and neither moved nor cancelled since, goes off.
    fn timer(&mut self, timer: Timer, out: &mut Outbox<Self::Message>);

    /// Another member died, or is there again.
    fn peer(&mut self, peer: NodeId, change: Change, out: &mut Outbox<Self::Message>);

    /// The link to a neighbour ended its session, or has a new one.
    fn link(&mut self, neighbour: NodeId, change: Change, out: &mut Outbox<Self::Message>);

    /// What is true of all nodes and all messages in flight, in every reachable state.
    fn invariants() -> &'static [Invariant<Self>];

    /// How the node wants to be drawn. Without it a page has only its state as data.
    fn draw(&self, _view: &mut View) {}

    /// Visits the numbers that grow for ever, such as those of attempts, where all that counts is which
    /// of two numbers of one series is the larger. The explorer numbers each series again in every
    /// state, from 0 and without gaps, so that worlds in which somebody tries again and again have an
    /// end. None where there are no such numbers.
    fn growing(&mut self, _each: Visit<'_>) {}
}

/// A named fact about a whole world, checked by the explorer in every state it visits.
pub struct Invariant<A: Algorithm> {
    /// What it says, in a few words.
    pub name: &'static str,
    /// Says how it is broken, if it is.
    pub check: fn(&Snapshot<'_, A>) -> Result<(), String>,
}

/// A whole world at one moment.
pub struct Snapshot<'a, A: Algorithm> {
    /// The nodes, by number; `None` for one that has crashed.
    pub nodes: Vec<Option<&'a A>>,
    /// The messages under way: from, to, what. Those of one link are in the order they were sent.
    pub flight: Vec<(NodeId, NodeId, &'a A::Message)>,
}

impl<'a, A: Algorithm> Snapshot<'a, A> {
    /// The nodes that are alive.
    pub fn alive(&self) -> impl Iterator<Item = (NodeId, &'a A)> {
        let nodes = self.nodes.iter().enumerate();
        nodes.filter_map(|(number, node)| node.map(|node| (NodeId(number as u32), node)))
    }

    /// Whether a node has crashed: what it had or owed is gone.
    pub(crate) fn has_crashed(&self) -> bool {
        self.nodes.iter().any(Option::is_none)
    }

    /// What travels as the token, wherever it is: at nodes that are alive, and under way.
    pub(crate) fn tokens<T: 'a>(
        &self,
        held: impl Fn(&'a A) -> Option<&'a T>,
        carried: impl Fn(&'a A::Message) -> Option<&'a T>,
    ) -> impl Iterator<Item = &'a T> {
        let at_rest = self.alive().filter_map(move |(_, node)| held(node));
        let flight = self.flight.iter();
        let under_way = flight.filter_map(move |&(_, _, message)| carried(message));
        at_rest.chain(under_way)
    }

    /// Checks that everybody in a queue that travels waits, and is in it once.
    pub(crate) fn queued_once(
        &self,
        queue: &VecDeque<NodeId>,
        waits: impl Fn(&A) -> bool,
    ) -> Result<(), String> {
        for (place, &queued) in queue.iter().enumerate() {
            if queue.iter().skip(place + 1).any(|&other| other == queued) {
                return Err(format!("{queued} is queued twice"));
            }
            if self.nodes[queued.index()].is_some_and(|node| !waits(node)) {
                return Err(format!("{queued} is queued and does not wait"));
            }
        }
        Ok(())
    }

    /// Checks that nobody has heard of a request that was not made, where every node counts its own
    /// requests and remembers the largest number it has heard of each.
    pub(crate) fn heard_of_no_more_than_made<'n>(
        &self,
        numbers: impl Fn(&'a A) -> &'n [u64],
    ) -> Result<(), String> {
        for (owner, node) in self.alive() {
            let made = numbers(node)[owner.index()];
            for (other, hearer) in self.alive() {
                let heard = numbers(hearer)[owner.index()];
                if heard > made {
                    return Err(format!(
                        "{other} heard of request {heard} of {owner}'s {made}"
                    ));
                }
            }
        }
        Ok(())
    }

    /// Checks that these are all open requests, each once: those of the nodes that wait. A crash may
    /// lose some.
    pub(crate) fn in_one_place(
        &self,
        requests: impl Iterator<Item = NodeId>,
        waits: impl Fn(&A) -> bool,
    ) -> Result<(), String> {
        let mut places = vec![0_usize; self.nodes.len()];
        requests.for_each(|origin| places[origin.index()] += 1);
        for (me, node) in self.alive().filter(|_| !self.has_crashed()) {
            if places[me.index()] != usize::from(waits(node)) {
                return Err(format!("that of {me} is in {} places", places[me.index()]));
            }
        }
        Ok(())
    }

    /// Checks that from every node the pointers lead to one where they end, or to one that has
    /// crashed.
    pub(crate) fn leads_somewhere(
        &self,
        pointer: impl Fn(&A) -> NodeId,
        ends: impl Fn(&A) -> bool,
    ) -> Result<(), String> {
        for (me, node) in self.alive() {
            let mut on_the_way = node;
            let mut steps = 0;
            while !ends(on_the_way) {
                let Some(further) = self.nodes[pointer(on_the_way).index()] else {
                    break;
                };
                on_the_way = further;
                steps += 1;
                if steps == self.nodes.len() {
                    return Err(format!("from {me} it goes in circles"));
                }
            }
        }
        Ok(())
    }

    /// Checks that no idle holder of the token has heard of a request that was not served. `idle` gives
    /// for such a node the largest number it has heard of each node, and the last that was served.
    pub(crate) fn keeps_from_nobody<'n>(
        &self,
        token: &str,
        idle: impl Fn(&'a A) -> Option<(&'n [u64], &'n [u64])>,
    ) -> Result<(), String> {
        for (me, node) in self.alive() {
            let (heard, served) = idle(node).unwrap_or_default();
            if let Some(other) = heard
                .iter()
                .zip(served)
                .position(|(heard, served)| heard > served)
            {
                return Err(format!("{me} keeps the {token} from {other}"));
            }
        }
        Ok(())
    }

    /// Checks that a node which has asked its neighbour towards the token is known there, or that a
    /// message on the edge between the two makes up for it. `asked` gives the neighbour, and `mends`
    /// tells for a message, and whether it goes to that neighbour, if it does.
    pub(crate) fn nobody_asks_in_vain(
        &self,
        asked: impl Fn(&A) -> Option<NodeId>,
        knows: impl Fn(&A, NodeId) -> bool,
        mends: impl Fn(&A::Message, bool) -> bool,
    ) -> Result<(), String> {
        let asking = self
            .alive()
            .filter_map(|(me, node)| Some((me, asked(node)?)));
        for (me, holder) in asking {
            let on_the_edge = self.flight.iter().any(|&(from, to, message)| {
                let there = (from, to) == (me, holder);
                (there || (from, to) == (holder, me)) && mends(message, there)
            });
            if self.nodes[holder.index()].is_some_and(|node| !knows(node, me)) && !on_the_edge {
                return Err(format!("{me} asked {holder} in vain"));
            }
        }
        Ok(())
    }

    /// Checks that exactly one token is somewhere, at a node or under way. Only a crash may lose it.
    pub(crate) fn one_token(
        &self,
        holds: impl Fn(&A) -> bool,
        carries: impl Fn(&A::Message) -> bool,
    ) -> Result<(), String> {
        let at_rest = self.alive().filter(|(_, node)| holds(node)).count();
        let under_way = self.flight.iter().filter(|(_, _, m)| carries(m)).count();
        match at_rest + under_way {
            1 => Ok(()),
            0 if self.has_crashed() => Ok(()),
            _ => Err(format!("{at_rest} hold it and {under_way} are under way")),
        }
    }
}

/// A node of an algorithm whose right to enter is a token that carries something.
pub(crate) trait TokenHolder: Algorithm {
    /// What travels with the right to enter.
    type Token: 'static;

    /// The token, if it is at this node.
    fn held(&self) -> Option<&Self::Token>;

    /// The token, if this message carries it.
    fn carried(message: &Self::Message) -> Option<&Self::Token>;
}

/// Says where the token of an algorithm is: `holds_token! { Token: Mra.token, Message::Token }` in a
/// field of the node, or in a message.
macro_rules! holds_token {
    ($Token:ty: $Node:ident.$token:ident, $Message:ident::$carries:ident) => {
        impl $crate::contract::TokenHolder for $Node {
            type Token = $Token;

            fn held(&self) -> Option<&$Token> {
                self.$token.as_ref()
            }

            fn carried(message: &$Message) -> Option<&$Token> {
                match message {
                    $Message::$carries(token) => Some(token),
                    _ => None,
                }
            }
        }
    };
}
pub(crate) use holds_token;

/// Checks that there is one token, at a node or under way. Only a crash may lose it.
pub(crate) fn one_token<A: TokenHolder>(world: &Snapshot<'_, A>) -> Result<(), String> {
    let carries = |message: &A::Message| A::carried(message).is_some();
    world.one_token(|node| node.held().is_some(), carries)
}

/// The tokens there are, at nodes and under way.
pub(crate) fn tokens<'a, A: TokenHolder>(
    world: &Snapshot<'a, A>,
) -> impl Iterator<Item = &'a A::Token> {
    world.tokens(A::held, A::carried)
}

/// Something a node wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect<M> {
    /// Send a message to another node.
    Send {
        /// The addressee, never the sender itself.
        to: NodeId,
        /// The message to send.
        message: M,
        /// The node whose latest request pays for it, if the algorithm says.
        charge: Option<NodeId>,
    },
    /// Let the local client in.
    Enter {
        /// A number that rises with every entry, where the algorithm has one.
        fence: Option<u64>,
    },
    /// Wake the node up later.
    SetTimer {
        /// The timer to set.
        timer: Timer,
        /// When the timer goes off, counted from now.
        after: After,
    },
    /// Forget a timer; harmless if it is not set.
    CancelTimer {
        /// The timer to forget.
        timer: Timer,
    },
    /// Remember a number that a claim is about.
    Note {
        /// What was counted or measured; the registry lists the names.
        name: &'static str,
        /// The number to remember.
        value: u64,
        /// The node whose latest request it belongs to, if any.
        charge: Option<NodeId>,
    },
    /// Send a message to oneself that travels like any other, uncounted. Only printed defects do.
    Post {
        /// The message to post.
        message: M,
    },
    /// Something arrived that the paper says cannot arrive.
    ProtocolError {
        /// What is wrong with it, in words.
        why: String,
    },
    /// The node cannot go on, and neither can the run: a program that is an algorithm died, was too
    /// slow, or answered what is no answer. No algorithm of this crate does that.
    Fail {
        /// What became of it, in words.
        why: String,
    },
}

impl<M> Effect<M> {
    /// The same effect with its message, if it has one, as something else.
    pub fn map_message<N>(self, change: impl FnOnce(M) -> N) -> Effect<N> {
        match self {
            Effect::Send {
                to,
                message,
                charge,
            } => Effect::Send {
                to,
                message: change(message),
                charge,
            },
            Effect::Post { message } => Effect::Post {
                message: change(message),
            },
            Effect::Enter { fence } => Effect::Enter { fence },
            Effect::SetTimer { timer, after } => Effect::SetTimer { timer, after },
            Effect::CancelTimer { timer } => Effect::CancelTimer { timer },
            Effect::Note {
                name,
                value,
                charge,
            } => Effect::Note {
                name,
                value,
                charge,
            },
            Effect::ProtocolError { why } => Effect::ProtocolError { why },
            Effect::Fail { why } => Effect::Fail { why },
        }
    }
}

/// Where an algorithm puts what it wants done.
///
/// A message to oneself is not an effect: it is delivered before the handler returns and is never
/// counted. Any other message is put on a shelf as it is sent, and only its id moves from there on.
#[derive(Debug)]
pub struct Outbox<M> {
    me: NodeId,
    effects: Vec<Effect<MessageId>>,
    to_self: VecDeque<M>,
    pub(crate) under_way: Shelf<M>,
}

impl<M> Outbox<M> {
    /// An empty outbox of this node.
    pub fn new(me: NodeId) -> Self {
        Self {
            me,
            effects: Vec::new(),
            to_self: VecDeque::new(),
            under_way: Shelf::new(),
        }
    }

    /// Sends a message, to oneself too.
    pub fn send(&mut self, to: NodeId, message: M) {
        self.dispatch(to, message, None);
    }

    /// Sends a message that is charged to the latest request of `origin`.
    pub fn send_for(&mut self, origin: NodeId, to: NodeId, message: M) {
        self.dispatch(to, message, Some(origin));
    }

    /// Sends a message about our own request to everybody else in a group of `nodes`.
    pub(crate) fn send_to_others(&mut self, nodes: u32, message: &M)
    where
        M: Clone,
    {
        let me = self.me;
        for other in (0..nodes).map(NodeId).filter(|&node| node != me) {
            self.send_for(me, other, message.clone());
        }
    }

    /// Lets the local client in.
    pub fn enter(&mut self) {
        self.effects.push(Effect::Enter { fence: None });
    }

    /// Lets the local client in, with a number that rises with every entry.
    pub fn enter_with(&mut self, fence: u64) {
        self.effects.push(Effect::Enter { fence: Some(fence) });
    }

    /// Asks to be woken up later.
    pub fn set_timer(&mut self, timer: Timer, after: After) {
        self.effects.push(Effect::SetTimer { timer, after });
    }

    /// Forgets a timer that was set; harmless if it was not.
    pub fn cancel_timer(&mut self, timer: Timer) {
        self.effects.push(Effect::CancelTimer { timer });
    }

    /// Remembers a number under a name.
    pub fn note(&mut self, name: &'static str, value: u64) {
        self.effects.push(Effect::Note {
            name,
            value,
            charge: None,
        });
    }

    /// Remembers a number about the latest request of `origin`.
    pub fn note_for(&mut self, origin: NodeId, name: &'static str, value: u64) {
        self.effects.push(Effect::Note {
            name,
            value,
            charge: Some(origin),
        });
    }

    /// Sends a message to oneself that travels. Only printed defects do that.
    pub fn post(&mut self, message: M) {
        let message = self.under_way.keep(message);
        self.effects.push(Effect::Post { message });
    }

    /// Reports a message that the paper says cannot arrive; the node carries on.
    pub fn protocol_error(&mut self, why: impl Into<String>) {
        self.effects.push(Effect::ProtocolError { why: why.into() });
    }

    /// Reports a timer that went off though it was not set.
    pub(crate) fn timer_was_not_set(&mut self, timer: Timer) {
        self.protocol_error(format!("{} went off and was not set", timer.name));
    }

    /// Makes the outbox that of another node, as empty as it was.
    pub(crate) fn address(&mut self, me: NodeId) {
        debug_assert!(self.effects.is_empty() && self.to_self.is_empty());
        self.me = me;
    }

    /// The next message from the node to itself.
    pub(crate) fn take_own(&mut self) -> Option<M> {
        self.to_self.pop_front()
    }

    /// Moves everything else to the end of a list, in order.
    pub(crate) fn pour_into(&mut self, effects: &mut Vec<Effect<MessageId>>) {
        if effects.is_empty() {
            // The list is as good as ours: nothing has to be copied.
            std::mem::swap(effects, &mut self.effects);
        } else {
            effects.append(&mut self.effects);
        }
    }

    fn dispatch(&mut self, to: NodeId, message: M, charge: Option<NodeId>) {
        if to == self.me {
            self.to_self.push_back(message);
        } else {
            let message = self.under_way.keep(message);
            self.effects.push(Effect::Send {
                to,
                message,
                charge,
            });
        }
    }
}
