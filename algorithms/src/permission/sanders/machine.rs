//! A node: a requester, an arbiter for those who ask it, and a survivor of others.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use super::invariants;
use super::rules::{Policy, Rules, Version};
use super::structure::{Set, Structure};
use crate::common::phase::Phase;
use crate::common::stamp::Stamp;
use crate::contract::{
    Algorithm, Change, NodeId, Outbox, Request, declared, ignores, invariants, messages, node,
};
use crate::view::View;

messages! {
    /// What nodes say to each other.
    pub(crate) enum Message, shown as below {
        /// The sender wants in, with this clock. Recovery adds which attempt of asking the addressee this
        /// is, and who is known to be dead.
        Request { t: u64, attempt: u32, down: Set } = "REQUEST",
        /// As far as the sender is concerned, go ahead; it answers that attempt.
        Grant { attempt: u32 } = "GRANT",
        /// The sender has left.
        Release = "RELEASE",
        /// Do not count on the sender soon: somebody with a smaller stamp comes first.
        Fail = "FAIL",
        /// Will you give the grant back? `by` has asked with a smaller stamp.
        Inquire { by: NodeId } of by = "INQUIRE",
        /// Here it is, to the benefit of `by`.
        Yield { by: NodeId } of by = "YIELD",
    }
}

/// What belongs to recovery is shown only where it says something.
impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Message::Request { t, attempt, down } => {
                write!(f, "Request {{ t: {t}")?;
                if *attempt > 0 {
                    write!(f, ", attempt: {attempt}")?;
                }
                if !down.is_empty() {
                    write!(f, ", down: {down:?}")?;
                }
                f.write_str(" }")
            }
            Message::Grant { attempt: 0 } => f.write_str("Grant"),
            Message::Grant { attempt } => write!(f, "Grant {{ attempt: {attempt} }}"),
            Message::Release => f.write_str("Release"),
            Message::Fail => f.write_str("Fail"),
            Message::Inquire { by } => write!(f, "Inquire {{ by: {by} }}"),
            Message::Yield { by } => write!(f, "Yield {{ by: {by} }}"),
        }
    }
}

/// A request as its arbiter keeps it; the stamp decides who is first, unless arrivals do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub(super) struct Asked {
    /// The place in which it came where the first to come is the first served; else 0 for all.
    pub(super) arrival: u64,
    pub(super) stamp: Stamp,
    pub(super) attempt: u32,
    /// The node whose request pays for the grant: its own, or the one it has yielded to.
    pub(super) payer: NodeId,
}

node! {
    /// What one node knows.
    pub(crate) struct Sanders of setup with me
    given
        structure = Structure::read(
            setup.setting.params.word("structure"),
            setup.nodes(),
            setup.setting.holder,
        )
        .expect("the registry refuses a structure that does not fit"),
        rules = Rules::of(&setup.setting.params, &setup.setting.printed, &structure);
    {
        pub(super) rules: Rules = rules,
        /// I: those we tell that we have left.
        pub(super) inform_set: Set = structure.inform_set(setup.me),
        /// R: those we ask.
        pub(super) request_set: Set = structure.request_set(setup.me),
        /// S: those who tell us that they have left.
        pub(super) status_set: Set = structure.status_set(setup.me),
        pub(super) clock: u64 = 0,

        // As a requester.
        pub(super) phase: Phase = Phase::Idle,
        /// Of our latest request.
        pub(super) stamp: Stamp = Stamp { t: 0, id: setup.me },
        /// Those whose grant we hold.
        pub(super) got: Set = Set::new(),
        /// Those who sent FAIL and no GRANT since.
        pub(super) failed: Set = Set::new(),
        /// Those we sent YIELD and who sent no GRANT since.
        pub(super) yielded: Set = Set::new(),
        /// Those who inquired and have no answer yet, each with the one it inquired for.
        pub(super) pending: BTreeMap<NodeId, NodeId> = BTreeMap::new(),

        // As an arbiter.
        /// CSSTAT: who of S we have granted and not heard to leave. It keeps the stamp, which the paper
        /// compares (sanders-F5).
        pub(super) csstat: Option<Asked> = None,
        /// Those who wait for our grant.
        pub(super) queue: BTreeSet<Asked> = BTreeSet::new(),
        /// For whose request CSSTAT's node has been inquired; nobody's when CSSTAT changes (sanders-F5).
        pub(super) inquired: Option<NodeId> = None,
        /// Those in the queue who know that they are not next: they were sent FAIL, or have yielded
        /// (sanders-F6).
        pub(super) told: Set = Set::new(),

        // As a survivor.
        /// The whole structure as it was, which recovery must know; else nothing.
        #[serde(skip)]
        pub(super) structure: Option<Arc<Structure>> = rules.recovery.then(|| Arc::new(structure)),
        /// Those we know to be dead.
        pub(super) down: Set = Set::new(),
        /// How often we have asked each again within a request; those never asked again are not listed.
        pub(super) attempts: BTreeMap<NodeId, u32> = BTreeMap::new(),
    }
}

impl Algorithm for Sanders {
    declared! { Message }

    fn request(&mut self, _: Request, out: &mut Outbox<Message>) {
        self.clock = self.clock.saturating_add(1);
        self.stamp.t = self.clock;
        self.phase = Phase::Waiting;
        self.got.clear();
        self.failed.clear();
        self.yielded.clear();
        self.pending.clear();
        for arbiter in self.request_set.clone() {
            self.ask(arbiter, out);
        }
        self.try_enter(out);
    }

    fn release(&mut self, out: &mut Outbox<Message>) {
        self.phase = Phase::Idle;
        for &informed in &self.inform_set {
            out.send_for(self.me, informed, Message::Release);
        }
    }

    fn receive(&mut self, from: NodeId, message: Message, out: &mut Outbox<Message>) {
        // sanders-L6b: a late RELEASE or YIELD of the dead would free what has moved on.
        if self.rules.repairs.mail_of_the_dead_is_dropped && self.down.contains(&from) {
            return;
        }
        match message {
            Message::Request { t, attempt, down } => {
                self.on_request(from, t, attempt, &down, out);
            }
            Message::Grant { attempt } => self.on_grant(from, attempt, out),
            Message::Release => self.on_release(from, out),
            Message::Fail => self.on_fail(from, out),
            Message::Inquire { by } => self.on_inquire(from, by, out),
            Message::Yield { by } => self.on_yield(from, by, out),
        }
    }

    ignores! { timer, link }

    fn peer(&mut self, peer: NodeId, change: Change, out: &mut Outbox<Message>) {
        match change {
            Change::Down => self.learn_of_death(peer, out),
            // Nothing says how a node would join again: it stays dead to us.
            Change::Up => {}
        }
    }

    fn draw(&self, view: &mut View) {
        view.set("asks", &self.request_set);
        view.set("informs", &self.inform_set);
        view.set("granted us", &self.got);
        view.points_to("granted", self.csstat.as_ref().map(|asked| asked.stamp.id));
        view.queue("queue", self.queue.iter().map(|asked| asked.stamp.id));
    }

    invariants! {
        "a node that is inside is CSSTAT of all it asked and informs (the lemma, first half)": invariants::the_inside_are_known,
        "CSSTAT names only who is to enter, is inside or whose RELEASE is on its way (the \
         lemma, second half)": invariants::csstat_is_reset,
        "an arbiter with nobody to wait for has nobody waiting": invariants::the_free_serve,
        "a request is granted, queued or on its way": invariants::nobody_is_forgotten,
        "a node that is not next knows it, or will": invariants::the_hopeless_know,
    }
}

/// What a node does as a requester.
impl Sanders {
    /// Sends our request to one of the request set, which may be ourselves.
    pub(super) fn ask(&mut self, arbiter: NodeId, out: &mut Outbox<Message>) {
        let request = Message::Request {
            t: self.stamp.t,
            attempt: self.attempt(arbiter),
            // sanders-L1, sanders-L2: who is asked because of a death must know of it.
            down: match self.rules.repairs.deaths_travel {
                true => self.down.clone(),
                false => Set::new(),
            },
        };
        // sanders-S1: the print lets our own request travel, and meanwhile we grant to others.
        if arbiter == self.me && !self.rules.repairs.own_request_is_at_once {
            out.post(request);
        } else {
            out.send_for(self.me, arbiter, request);
        }
    }

    /// How often we have asked this arbiter again.
    pub(super) fn attempt(&self, arbiter: NodeId) -> u32 {
        self.attempts.get(&arbiter).copied().unwrap_or(0)
    }

    fn on_grant(&mut self, arbiter: NodeId, attempt: u32, out: &mut Outbox<Message>) {
        // A grant under the structure as it was before a death is void.
        if self.phase != Phase::Waiting || attempt != self.attempt(arbiter) {
            return;
        }
        self.got.insert(arbiter);
        // sanders-F4: as printed, "has received a FAIL" is for ever.
        if self.rules.repairs.fails_expire {
            self.failed.remove(&arbiter);
        }
        self.yielded.remove(&arbiter);
        self.try_enter(out);
    }

    /// Enters if everybody has granted; if only our own late grant is missing, gives that.
    pub(super) fn try_enter(&mut self, out: &mut Outbox<Message>) {
        if self.phase != Phase::Waiting {
            return;
        }
        if self.request_set.is_subset(&self.got) {
            self.phase = Phase::Inside;
            // sanders-F4: nobody yields from inside.
            if self.rules.repairs.fails_expire {
                self.failed.clear();
            }
            self.yielded.clear();
            self.pending.clear();
            out.enter();
        } else if self.rules.late && self.all_others_have_granted() {
            self.serve(out);
        }
    }

    fn all_others_have_granted(&self) -> bool {
        let mut others = self
            .request_set
            .iter()
            .filter(|&&arbiter| arbiter != self.me);
        others.all(|arbiter| self.got.contains(arbiter))
    }

    fn on_fail(&mut self, arbiter: NodeId, out: &mut Outbox<Message>) {
        if self.phase != Phase::Waiting {
            return;
        }
        self.failed.insert(arbiter);
        // sanders-F1: as printed, an INQUIRE that came before its FAIL is forgotten.
        if self.rules.repairs.inquiries_are_remembered {
            for (inquirer, by) in self.pending.clone() {
                self.yield_to(inquirer, by, out);
            }
        }
    }

    fn on_inquire(&mut self, arbiter: NodeId, by: NodeId, out: &mut Outbox<Message>) {
        let repairs = self.rules.repairs;
        // sanders-F4: as printed, a FAIL of long ago makes a node yield even from inside.
        let may_yield = match self.phase {
            Phase::Idle => false,
            Phase::Waiting => true,
            Phase::Inside => !repairs.fails_expire && !self.failed.is_empty(),
        };
        // sanders-F3: as printed, a grant that was used up in the last entry is given back.
        let held = self.got.contains(&arbiter) || !repairs.only_held_grants_are_yielded;
        if !may_yield || !held {
            return;
        }
        let not_next = !self.failed.is_empty() || !self.yielded.is_empty();
        if not_next || self.rules.version == Version::NoFail {
            self.yield_to(arbiter, by, out);
        } else if repairs.inquiries_are_remembered {
            // sanders-F1: perhaps a FAIL will come.
            self.pending.insert(arbiter, by);
        }
    }

    fn yield_to(&mut self, arbiter: NodeId, by: NodeId, out: &mut Outbox<Message>) {
        self.got.remove(&arbiter);
        self.pending.remove(&arbiter);
        self.yielded.insert(arbiter);
        out.send_for(by, arbiter, Message::Yield { by });
    }
}

/// What a node does as an arbiter.
impl Sanders {
    fn on_request(
        &mut self,
        from: NodeId,
        t: u64,
        attempt: u32,
        down: &Set,
        out: &mut Outbox<Message>,
    ) {
        self.clock = self.clock.max(t);
        for &dead in down {
            self.learn_of_death(dead, out);
        }
        // Asked again, because of a death: the older request is void.
        if self.rules.recovery {
            self.queue.retain(|asked| asked.stamp.id != from);
            self.told.remove(&from);
        }
        let newcomer = Asked {
            arrival: match self.rules.policy {
                Policy::Stamp => 0,
                Policy::Arrival => self.queue.last().map_or(1, |last| last.arrival + 1),
            },
            stamp: Stamp { t, id: from },
            attempt,
            payer: from,
        };
        if self.queue.iter().any(|asked| asked.stamp.id == from) {
            out.protocol_error(format!("{from} asks again before it was granted"));
            return;
        }
        self.queue.insert(newcomer);
        match (self.csstat, self.rules.version) {
            (None, _) => self.serve(out),
            (Some(_), Version::Basic) => {}
            (Some(holder), Version::DeadlockFree | Version::NoFail) => {
                self.inquire_for(newcomer.stamp, holder.stamp, out);
                if self.rules.version == Version::DeadlockFree {
                    self.tell_who_is_not_next(newcomer.stamp, holder.stamp, out);
                }
            }
        }
    }

    /// A newcomer with a smaller stamp than the holder's: the holder is asked, once.
    fn inquire_for(&mut self, newcomer: Stamp, holder: Stamp, out: &mut Outbox<Message>) {
        if newcomer < holder && self.inquired.is_none() {
            let by = newcomer.id;
            self.inquired = Some(by);
            out.send_for(by, holder.id, Message::Inquire { by });
        }
    }

    /// Sends FAIL, once, to everybody in the queue who is not next: who is not its head, or is behind
    /// a smaller holder.
    fn tell_who_is_not_next(&mut self, newcomer: Stamp, holder: Stamp, out: &mut Outbox<Message>) {
        let head = self.queue.first().map(|asked| asked.stamp);
        for asked in &self.queue {
            let stamp = asked.stamp;
            // sanders-F2: as printed, the newcomer is told only of a smaller holder, and of the others
            // only those behind the newcomer are told.
            let not_next = match self.rules.repairs.all_but_the_head_are_told {
                true => holder < stamp || Some(stamp) != head,
                false => newcomer < stamp || (newcomer == stamp && holder < stamp),
            };
            if not_next && self.told.insert(stamp.id) {
                out.send_for(stamp.id, stamp.id, Message::Fail);
            }
        }
    }

    /// Grants to the first in the queue, and to the next ones until one of S has it.
    pub(super) fn serve(&mut self, out: &mut Outbox<Message>) {
        while self.csstat.is_none()
            && let Some(&first) = self.queue.first()
        {
            let own = first.stamp.id == self.me;
            if own && self.rules.late && !self.all_others_have_granted() {
                return;
            }
            self.queue.remove(&first);
            self.told.remove(&first.stamp.id);
            if self.status_set.contains(&first.stamp.id) {
                self.csstat = Some(first);
                self.inquired = None;
            }
            let grant = Message::Grant {
                attempt: first.attempt,
            };
            out.send_for(first.payer, first.stamp.id, grant);
        }
    }

    fn on_release(&mut self, from: NodeId, out: &mut Outbox<Message>) {
        // sanders-S5: as printed, any RELEASE frees CSSTAT, no matter whom it names.
        if self.holds_for(from) || !self.rules.repairs.release_is_the_holders {
            self.free(out);
        }
    }

    fn on_yield(&mut self, from: NodeId, by: NodeId, out: &mut Outbox<Message>) {
        if self.holds_for(from) {
            let payer = by;
            self.queue
                .extend(self.csstat.map(|asked| Asked { payer, ..asked }));
            self.told.insert(from);
            self.free(out);
        } else if !self.rules.repairs.only_held_grants_are_yielded {
            // sanders-F3: as printed, a stale YIELD frees what somebody else has.
            self.free(out);
        }
    }

    fn holds_for(&self, node: NodeId) -> bool {
        self.csstat.is_some_and(|asked| asked.stamp.id == node)
    }

    pub(super) fn free(&mut self, out: &mut Outbox<Message>) {
        self.csstat = None;
        self.inquired = None;
        self.serve(out);
    }
}
