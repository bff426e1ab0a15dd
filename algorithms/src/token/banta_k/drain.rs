//! As designed: the good site waits until all slots are home, and is inside alone.

use super::entry::k;
use super::line::{self, Line, Site, State, in_line};
use super::{Message, Token};
use crate::contract::{
    Algorithm, NodeId, Outbox, Request, Snapshot, Timer, declared, ignores, invariants, node,
};
use crate::printed::rules;
use crate::view::View;

node! {
    /// What one site knows.
    pub(crate) struct Drain of setup {
        line: Line = Line::new(setup),
        /// Releases that have arrived, also before the token.
        releases: u32 = 0,
        /// The free slots as the token brought them to the good site.
        semaphore: u32 = k(&setup.setting.params),
        /// The printed holder that has never run `receive_token`.
        // banta-K1: in the thesis only a token that arrives wakes a holder up.
        asleep: bool = setup.is_holder() && setup.without("starts-awake"),
        rules: Rules = Rules::of(&setup.setting.printed),
    }
}

rules! {
    /// The repairs that the thesis lacks.
    struct Rules {
        releases_are_those_owed: "releases-are-those-owed",
        semaphore_is_restored: "semaphore-is-restored",
        nearer_is_nearer: "nearer-is-nearer",
        early_releases_count: "early-releases-count",
        request_is_queued_once: "request-is-queued-once",
        every_visit_appends: "every-visit-appends",
        holder_enters: "holder-enters",
    }
}

in_line!(Drain);

impl Site for Drain {
    fn receive_token_request(&mut self, site: NodeId, out: &mut Outbox<Message>) {
        let queued = self.line.enqueue_or_keep(site, out);
        if queued && self.line.state == State::NotRequesting && !self.line.waiting && !self.asleep {
            // banta-K6: in the thesis an idle holder's wait_for and its handler both take it.
            if !self.rules.request_is_queued_once {
                self.line.enqueue(site, out);
            }
            self.line.begin_cycle(out);
        }
    }

    fn receive_token(&mut self, mut token: Token, out: &mut Outbox<Message>) {
        self.asleep = false;
        let mark = self.line.take(&mut token, out);
        // banta-K7c: in the thesis only the good site reads its local queue.
        if mark == Some(self.line.me) || self.rules.every_visit_appends {
            self.line.append_local_queue(&mut token, out);
        }
        if mark == Some(self.line.me) {
            token.line.mark = None;
            self.semaphore = token.semaphore;
            self.line.state = State::Collecting;
            self.line.token = Some(token);
        } else {
            self.line.release_site = self.release_site_of(&token);
            let free = token.semaphore;
            token.semaphore = free.saturating_sub(1);
            line::send_token(token, out);
            self.line.state = State::WaitingForSlot;
            if free > 0 {
                self.line.enter(out);
            }
        }
        self.enter_if_released(out);
    }

    fn receive_release(&mut self, out: &mut Outbox<Message>) {
        let expected = matches!(self.line.state, State::WaitingForSlot | State::Collecting);
        // banta-K5: in the thesis a release that overtakes the token is lost.
        if expected || self.rules.early_releases_count {
            self.releases += 1;
        }
        self.enter_if_released(out);
    }
}

impl Algorithm for Drain {
    declared! { Message }

    fn request(&mut self, _: Request, out: &mut Outbox<Message>) {
        // banta-K7d: in the thesis an idle holder asks itself, tells everybody, and waits.
        let idle_holder = self.line.holds() && !self.asleep;
        if idle_holder && self.rules.holder_enters {
            self.line.note_idle(out);
            self.line.enter(out);
            return;
        }
        self.line.state = State::Requesting;
        self.line.ask(out);
        if idle_holder {
            self.line.begin_cycle(out);
        }
    }

    fn release(&mut self, out: &mut Outbox<Message>) {
        self.line.state = State::NotRequesting;
        match &self.line.token {
            None => out.send(self.line.release_site, Message::Release),
            Some(token) if token.line.token_queue.is_empty() => self.line.good_site = self.line.me,
            Some(_) => self.line.begin_cycle(out),
        }
    }

    fn receive(&mut self, from: NodeId, message: Message, out: &mut Outbox<Message>) {
        line::receive(self, from, message, out);
    }

    /// The wait is over: the token leaves, with all slots.
    fn timer(&mut self, timer: Timer, out: &mut Outbox<Message>) {
        let Some(mut token) = self.line.end_wait(timer, out) else {
            return;
        };
        // banta-K3: in the thesis it leaves with what was free when it came.
        token.semaphore = match self.rules.semaphore_is_restored {
            true => self.line.k,
            false => self.semaphore,
        };
        line::send_token(token, out);
    }

    ignores! { peer: "the thesis assumes that nobody fails: a lost token stays lost", link }

    fn draw(&self, view: &mut View) {
        self.line.draw(view);
        view.mark("asleep", self.asleep);
    }

    invariants! {
        "there is one token": line::one_token,
        "a request is in one place until the token has been there": line::requests_are_in_one_place,
        "while the token rests all slots are home, or with one who is alone": a_holder_is_alone,
    }
}

impl Drain {
    fn release_site_of(&self, token: &Token) -> NodeId {
        if self.rules.nearer_is_nearer {
            return line::release_site(token, self.line.k);
        }
        // banta-K4: the thesis takes the smaller of the two numbers.
        let good = token.line.mark.unwrap_or(self.line.me);
        let kth = token.line.token_queue.get(self.line.k as usize - 1);
        kth.map_or(good, |&kth| kth.min(good))
    }

    fn enter_if_released(&mut self, out: &mut Outbox<Message>) {
        let needed = match self.line.state {
            State::WaitingForSlot => 1,
            // banta-K2: the thesis collects k, also where fewer were given out.
            State::Collecting if !self.rules.releases_are_those_owed => self.line.k,
            State::Collecting => self.line.k.saturating_sub(self.semaphore),
            State::NotRequesting | State::Requesting | State::Executing => return,
        };
        if self.releases >= needed {
            self.releases -= needed;
            self.line.enter(out);
        }
    }
}

fn a_holder_is_alone(world: &Snapshot<'_, Drain>) -> Result<(), String> {
    let at_rest = |site: &Drain| site.line.token.is_some() && site.line.state != State::Collecting;
    let Some((holder, _)) = world.alive().find(|(_, site)| at_rest(site)) else {
        return Ok(());
    };
    let out = line::slots_under_way(world);
    if out > 0 {
        return Err(format!(
            "{holder} has the token and {out} slots are under way"
        ));
    }
    let busy = |site: &Drain| {
        matches!(site.line.state, State::Executing | State::WaitingForSlot) || site.releases > 0
    };
    match world.alive().find(|&(me, site)| me != holder && busy(site)) {
        Some((other, site)) => Err(format!(
            "{holder} has the token, {other} is {:?}",
            site.line.state
        )),
        None => Ok(()),
    }
}
