//! What a site knows of the waiting line, the same in both modes: whom to ask, and what it filed.

use std::collections::VecDeque;
use std::time::Duration;

use serde::Serialize;

use super::{Message, Token, WAIT};
use crate::contract::{After, Algorithm, Message as _, NodeId, Outbox, Snapshot, Timer};
use crate::setup::Setup;
use crate::token::banta_efficient::{queue, wait};
use crate::view::View;

/// What a site does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub(super) enum State {
    NotRequesting,
    Requesting,
    /// The token has been here, or is, and there was no free slot: a RELEASE will come.
    WaitingForSlot,
    /// In drain mode: we are the good site, have the token, and collect the slots that are out.
    Collecting,
    Executing,
}

/// A site's view of the waiting line, and what it does.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub(super) struct Line {
    pub(super) me: NodeId,
    nodes: u32,
    pub(super) k: u32,
    pub(super) state: State,
    /// Who gets our slot when we leave; nobody where the slot comes home to us.
    pub(super) release_site: NodeId,
    pub(super) good_site: NodeId,
    /// The epoch in which it became so.
    epoch: u64,
    /// Requests that reached us before the token.
    local_queue: VecDeque<NodeId>,
    /// The token, while we have it.
    pub(super) token: Option<Token>,
    /// The queue is marked, and the token leaves when the wait is over.
    pub(super) waiting: bool,
    wait: Duration,
    /// Rules that the thesis leaves out.
    strays_are_forwarded: bool,
    epochs: bool,
}

impl Line {
    pub(super) fn draw(&self, view: &mut View) {
        view.points_to("good site", self.good_site);
        view.points_to("release site", self.release_site);
        view.queue("local queue", &self.local_queue);
        view.token_with_queue(self.token.as_ref(), "token queue", |token| {
            &token.line.token_queue
        });
    }

    pub(super) fn new(setup: &Setup<'_>) -> Self {
        let k = super::entry::k(&setup.setting.params);
        Self {
            me: setup.me,
            nodes: setup.nodes(),
            k,
            state: State::NotRequesting,
            release_site: setup.me,
            good_site: setup.setting.holder,
            epoch: 0,
            local_queue: VecDeque::new(),
            token: setup.is_holder().then(|| Token {
                line: queue::Token::default(),
                semaphore: k,
            }),
            waiting: false,
            wait: wait::of(setup),
            strays_are_forwarded: !setup.without("strays-are-forwarded"),
            epochs: !setup.without("epochs"),
        }
    }

    /// Lets our client in.
    pub(super) fn enter(&mut self, out: &mut Outbox<Message>) {
        self.state = State::Executing;
        out.enter();
    }

    /// Whether we have the token and no cycle has begun since.
    pub(super) fn holds(&self) -> bool {
        self.token.is_some() && !self.waiting
    }

    /// Sends our request to the good site; with the token in hand we join the queue ourselves.
    pub(super) fn ask(&mut self, out: &mut Outbox<Message>) {
        let request = Message::Request { site: self.me };
        match &mut self.token {
            Some(token) => {
                token.line.register(self.me, out);
                token.line.token_queue.push_back(self.me);
                out.note("own", 1);
            }
            None => out.send_for(self.me, self.good_site, request),
        }
    }

    /// Takes a request in, if we have the token; says whether we do.
    pub(super) fn enqueue(&mut self, site: NodeId, out: &mut Outbox<Message>) -> bool {
        let Some(token) = &mut self.token else {
            return false;
        };
        token.line.register(site, out);
        token.line.token_queue.push_back(site);
        if self.waiting {
            out.note("late", 1);
        }
        true
    }

    /// Takes a request in as [`Line::enqueue`] does; one that reached us without the token is kept while we
    /// ask for it, else passed on.
    pub(super) fn enqueue_or_keep(&mut self, site: NodeId, out: &mut Outbox<Message>) -> bool {
        let queued = self.enqueue(site, out);
        if !queued {
            self.keep_or_forward(site, out);
        }
        queued
    }

    fn keep_or_forward(&mut self, site: NodeId, out: &mut Outbox<Message>) {
        // banta-K7: the thesis files what comes too late, and nobody reads it.
        if self.state == State::Requesting || !self.strays_are_forwarded {
            self.local_queue.push_back(site);
        } else if self.good_site == self.me {
            out.protocol_error("our good site is ourselves, and we do not expect the token");
        } else {
            out.note("stray", 1);
            out.send_for(site, self.good_site, Message::Request { site });
        }
    }

    /// Believes what is newer.
    pub(super) fn learn(&mut self, good: NodeId, epoch: u64, out: &mut Outbox<Message>) {
        if epoch > self.epoch || !self.epochs {
            self.good_site = good;
            self.epoch = epoch;
        } else {
            out.note("stale", 1);
        }
    }

    /// The token arrives, and we leave its queue. Gives the good site.
    pub(super) fn take(&mut self, token: &mut Token, out: &mut Outbox<Message>) -> Option<NodeId> {
        token.line.token_queue.pop_front();
        let mark = token.line.mark?;
        self.learn(mark, token.line.epoch, out);
        Some(mark)
    }

    /// What we filed joins the queue.
    pub(super) fn append_local_queue(&mut self, token: &mut Token, out: &mut Outbox<Message>) {
        for site in self.local_queue.drain(..) {
            token.line.register(site, out);
            token.line.token_queue.push_back(site);
        }
    }

    /// We enter with the token in hand, and nobody else is in line.
    pub(super) fn note_idle(&mut self, out: &mut Outbox<Message>) {
        let token = self.token.as_mut().expect("an idle holder has it");
        token.line.register(self.me, out);
        out.note("idle", 1);
    }

    /// The wait is over: gives the token that leaves.
    pub(super) fn end_wait(&mut self, timer: Timer, out: &mut Outbox<Message>) -> Option<Token> {
        let due = timer == WAIT && self.waiting;
        let token = self.token.take_if(|_| due);
        match &token {
            Some(_) => self.waiting = false,
            None => out.protocol_error(format!("{} went off, and nothing waits", timer.name)),
        }
        token
    }

    /// Marks the last of the queue, tells those who are not on it, and waits for late requests.
    pub(super) fn begin_cycle(&mut self, out: &mut Outbox<Message>) {
        let token = self.token.as_mut().expect("only the holder begins a cycle");
        let update = |good, epoch| Message::Update { good, epoch };
        self.good_site = token.line.begin_cycle((self.me, self.nodes), update, out);
        self.epoch = token.line.epoch;
        self.waiting = true;
        out.set_timer(WAIT, After::Exactly(self.wait));
    }

    /// Whether a message speaks of this group, and a token is addressed to us.
    pub(super) fn could_be(&self, message: &Message) -> Result<(), String> {
        let known = |site: &NodeId| site.0 < self.nodes;
        match message {
            Message::Request { site } | Message::Update { good: site, .. } if !known(site) => {
                Err(format!("spoke of {site}, nobody here"))
            }
            Message::Token(token) => {
                let queue = &token.line.token_queue;
                let ours = queue.front() == Some(&self.me) && queue.iter().all(known);
                let marked = token.line.mark.is_some_and(|mark| queue.contains(&mark));
                match (ours && marked, &self.token) {
                    (false, _) => Err("sent a token that is not for this site".to_owned()),
                    (true, Some(_)) => Err("sent a second token".to_owned()),
                    (true, None) => Ok(()),
                }
            }
            Message::Request { .. } | Message::Update { .. } | Message::Release => Ok(()),
        }
    }
}

/// Sends the token to the first of its queue.
pub(super) fn send_token(token: Token, out: &mut Outbox<Message>) {
    let &first = token.line.token_queue.front().expect("the mark is on it");
    out.send_for(first, first, Message::Token(token));
}

/// Whom a slot goes to: the k-th site of the queue, or the good site if that is nearer.
pub(super) fn release_site(token: &Token, k: u32) -> NodeId {
    let queue = &token.line.token_queue;
    let mark = queue.iter().position(|site| Some(*site) == token.line.mark);
    let mark = mark.expect("a token that is passed on has its mark on the queue");
    queue[mark.min(k as usize - 1)]
}

/// A site that stands in the line, in either mode.
pub(super) trait InLine: Algorithm<Message = Message> {
    /// What it knows of the waiting line.
    fn line(&self) -> &Line;

    /// The same, to be changed.
    fn line_mut(&mut self) -> &mut Line;

    /// Whether its client waits and the token has not been there yet.
    fn awaits_token(&self) -> bool {
        self.line().state == State::Requesting
    }
}

/// Says of a site that its `line` is where one would look for it.
macro_rules! in_line {
    ($Site:ty) => {
        impl super::line::InLine for $Site {
            fn line(&self) -> &Line {
                &self.line
            }

            fn line_mut(&mut self) -> &mut Line {
                &mut self.line
            }
        }
    };
}
pub(super) use in_line;

/// What a site does about messages, which differs between the modes.
pub(super) trait Site: InLine {
    fn receive_token_request(&mut self, site: NodeId, out: &mut Outbox<Message>);

    fn receive_token(&mut self, token: Token, out: &mut Outbox<Message>);

    fn receive_release(&mut self, out: &mut Outbox<Message>);
}

/// A message arrives, in either mode.
pub(super) fn receive<S: Site>(
    site: &mut S,
    from: NodeId,
    message: Message,
    out: &mut Outbox<Message>,
) {
    if let Err(why) = site.line().could_be(&message) {
        out.protocol_error(format!("{from} {why}"));
        return;
    }
    match message {
        Message::Request { site: asks } => site.receive_token_request(asks, out),
        Message::Update { good, epoch } => site.line_mut().learn(good, epoch, out),
        Message::Token(token) => site.receive_token(token, out),
        Message::Release => site.receive_release(out),
    }
}

/// One token, at a site or under way.
pub(super) fn one_token<A: Site>(world: &Snapshot<'_, A>) -> Result<(), String> {
    world.one_token(
        |site| site.line().token.is_some(),
        |message| matches!(message, Message::Token(_)),
    )
}

/// The request of everybody who still waits for the token is in one place.
pub(super) fn requests_are_in_one_place<A: Site>(world: &Snapshot<'_, A>) -> Result<(), String> {
    let filed = world.alive().flat_map(|(_, site)| &site.line().local_queue);
    let queued = world.tokens(
        |site| site.line().token.as_ref(),
        |message| match message {
            Message::Token(token) => Some(token),
            Message::Request { .. } | Message::Update { .. } | Message::Release => None,
        },
    );
    let queued = queued.flat_map(|token| &token.line.token_queue);
    let flight = world.flight.iter();
    let asked = flight.filter_map(|(_, _, message)| message.origin());
    world.in_one_place(filed.chain(queued).copied().chain(asked), A::awaits_token)
}

/// How many slots are on their way to somebody.
pub(super) fn slots_under_way<A: Site>(world: &Snapshot<'_, A>) -> u32 {
    let slots = world.flight.iter().map(|(_, _, message)| match message {
        Message::Token(token) => token.semaphore,
        Message::Release => 1,
        Message::Request { .. } | Message::Update { .. } => 0,
    });
    slots.sum()
}
