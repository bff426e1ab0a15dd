//! Slots that are free are used: the good site takes one like anybody, and the next cycle begins
//! while it is inside. Slots still out when the token leaves are owed to the first sites of the new
//! queue; they are passed on, oldest debts first, as they come home.

use std::collections::VecDeque;

use super::entry::k;
use super::line::{self, Line, Site, State, in_line};
use super::{Message, Token};
use crate::contract::{
    Algorithm, NodeId, Outbox, Request, Snapshot, Timer, declared, ignores, invariants, node,
};
use crate::view::View;

node! {
    /// What one site knows.
    pub(crate) struct Pipeline of setup {
        line: Line = Line::new(setup),
        /// Slots that have arrived before the token.
        releases: u32 = 0,
        /// Our entry was, or will be, made with the token in hand: our slot comes home to us.
        leads: bool = false,
        /// Slots in hand while we have the token.
        free: u32 = if setup.is_holder() { k(&setup.setting.params) } else { 0 },
        /// To whom the slots go that come home to us.
        owed: VecDeque<NodeId> = VecDeque::new(),
    }
}

in_line!(Pipeline);

impl Site for Pipeline {
    fn receive_token_request(&mut self, site: NodeId, out: &mut Outbox<Message>) {
        let queued = self.line.enqueue_or_keep(site, out);
        if queued && !self.line.waiting && self.line.state != State::WaitingForSlot {
            self.line.begin_cycle(out);
        }
    }

    fn receive_token(&mut self, mut token: Token, out: &mut Outbox<Message>) {
        let mark = self.line.take(&mut token, out);
        self.line.append_local_queue(&mut token, out);
        self.line.state = State::WaitingForSlot;
        if mark == Some(self.line.me) {
            token.line.mark = None;
            self.free = token
                .semaphore
                .saturating_add(std::mem::take(&mut self.releases));
            self.leads = true;
            self.line.token = Some(token);
            self.lead_in(out);
            return;
        }
        self.leads = false;
        self.line.release_site = line::release_site(&token, self.line.k);
        let free = token.semaphore;
        token.semaphore = free.saturating_sub(1);
        line::send_token(token, out);
        if free > 0 {
            self.line.enter(out);
        } else if self.releases > 0 {
            self.releases -= 1;
            self.line.enter(out);
        }
    }

    /// A slot comes home or is given to us. Older debts are paid first, or two could wait for each
    /// other.
    fn receive_release(&mut self, out: &mut Outbox<Message>) {
        if let Some(creditor) = self.owed.pop_front() {
            out.send(creditor, Message::Release);
        } else if self.line.token.is_some() {
            self.free = self.free.saturating_add(1);
            if self.line.state == State::WaitingForSlot {
                self.lead_in(out);
            }
        } else if self.line.state == State::WaitingForSlot {
            self.line.enter(out);
        } else {
            self.releases = self.releases.saturating_add(1);
        }
    }
}

impl Algorithm for Pipeline {
    declared! { Message }

    fn request(&mut self, _: Request, out: &mut Outbox<Message>) {
        let nobody_waits = |token: &Token| token.line.token_queue.is_empty();
        let idle = self.line.holds() && self.line.token.as_ref().is_some_and(nobody_waits);
        if idle && self.free > 0 {
            self.free -= 1;
            self.leads = true;
            self.line.note_idle(out);
            self.line.enter(out);
            return;
        }
        self.line.state = State::Requesting;
        self.line.ask(out);
        if self.line.holds() {
            self.line.begin_cycle(out);
        }
    }

    fn release(&mut self, out: &mut Outbox<Message>) {
        self.line.state = State::NotRequesting;
        if std::mem::take(&mut self.leads) {
            self.receive_release(out);
        } else {
            out.send(self.line.release_site, Message::Release);
        }
    }

    fn receive(&mut self, from: NodeId, message: Message, out: &mut Outbox<Message>) {
        line::receive(self, from, message, out);
    }

    /// The wait is over: the token leaves with the slots in hand. Those that are out will come home
    /// to us, and belong to the sites that would have got them from the token, or to the good site.
    fn timer(&mut self, timer: Timer, out: &mut Outbox<Message>) {
        let Some(mut token) = self.line.end_wait(timer, out) else {
            return;
        };
        token.semaphore = std::mem::take(&mut self.free);
        let queue = &token.line.token_queue;
        let mark = queue.iter().position(|site| Some(*site) == token.line.mark);
        let mark = mark.expect("a new cycle has its mark on the queue");
        let out_places = token.semaphore as usize..self.line.k as usize;
        self.owed
            .extend(out_places.map(|place| queue[place.min(mark)]));
        line::send_token(token, out);
    }

    ignores! { peer: "the thesis assumes that nobody fails: a lost token stays lost", link }

    fn draw(&self, view: &mut View) {
        self.line.draw(view);
        view.queue("owed", &self.owed);
        view.mark("leads", self.leads);
    }

    invariants! {
        "there is one token": line::one_token,
        "a request is in one place until the token has been there": line::requests_are_in_one_place,
        "there are k slots": k_slots,
    }
}

impl Pipeline {
    /// The good site enters as soon as it has a slot, and the next cycle begins.
    fn lead_in(&mut self, out: &mut Outbox<Message>) {
        if self.free == 0 {
            return;
        }
        self.free -= 1;
        self.line.enter(out);
        let somebody_waits = |token: &Token| !token.line.token_queue.is_empty();
        if self.line.holds() && self.line.token.as_ref().is_some_and(somebody_waits) {
            self.line.begin_cycle(out);
        }
    }
}

fn k_slots(world: &Snapshot<'_, Pipeline>) -> Result<(), String> {
    if world.has_crashed() {
        return Ok(());
    }
    let at_sites = world.alive().map(|(_, site)| {
        site.free + site.releases + u32::from(site.line.state == State::Executing)
    });
    let slots = line::slots_under_way(world) + at_sites.sum::<u32>();
    let k = world.alive().map(|(_, site)| site.line.k).next();
    match k {
        Some(k) if k != slots => Err(format!("there are {slots}, and k is {k}")),
        _ => Ok(()),
    }
}
