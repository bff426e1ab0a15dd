//! The kernel: who is controller, who is inside, and when the role moves.
//!
//! Every node is three things at once. As *requestor* it asks for its client; as *auxiliary* it
//! passes requests on and accepts the role; as *controller*, which at most one node is, it grants
//! entries one after the other and hands the role on between two of them.
//!
//! ```text
//!   requestor                      controller                       next controller
//!      |--------- REQUEST ------------>|                                    |
//!      |<-------- GRANT ---------------|                                    |
//!      |--------- EXIT --------------->|  due: the role moves               |
//!      |                               |------ BECOME (what is pending) --->|
//!      |<-------- INFORM --------------|                                    |
//! ```
//!
//! The kernel knows neither where requests are kept ([`RequestsInfo`]) nor what makes a migration
//! due ([`super::migration_info`]). It repairs the printed one in three respects: deciding is one
//! step ([`Kernel::dispatch`]) instead of a message to oneself; each tenure has a number, so that
//! late news of an old controller is recognised; and an exit goes to who granted the entry.

use std::collections::VecDeque;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::chosen::Chosen;
use super::invariants;
use super::migration_info::{Cause, Column, MigrationInfo};
use super::news::News;
use super::requests_info::{Heard, Letter, Parcel, RequestsInfo, Role};
use super::rules::Rules;
use super::target::{Preference, Target, Undefined};
use crate::contract::{Algorithm, NodeId, Outbox, Request, Snapshot, Timer, ignores, invariants};
use crate::setup::Setup;
use crate::view::View;

/// All kinds of message of a row: the kernel's, then its own.
macro_rules! kinds_behind_the_kernels {
    ($($own:literal),+) => {
        &["GRANT", "EXIT", "BECOME", "INFORM", "WAKE_UP", $($own),+]
    };
}
pub(super) use kinds_behind_the_kernels;

/// What servers say to each other.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub(super) enum Message<R: RequestsInfo> {
    /// `request_granted`: the controller lets the addressee in.
    Grant {
        controller: NodeId,
        epoch: u64,
        extra: R::Extra,
    },
    /// `exit_cs`: the sender has left.
    Exit(R::Note),
    /// `become_controller`: the role itself, and all that goes with it.
    Become {
        epoch: u64,
        baton: R::Baton,
        recent: VecDeque<NodeId>,
    },
    /// `new_controller`: who has the role now.
    Inform { controller: NodeId, epoch: u64 },
    /// `wake_up`, from a controller to itself; only the printed text sends it.
    WakeUp,
    /// What the row says.
    Row(R::Letter),
}

impl<R: RequestsInfo> fmt::Debug for Message<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Message::Grant {
                controller,
                epoch,
                extra,
            } => write!(f, "Grant({controller}, epoch {epoch}, {extra:?})"),
            Message::Exit(note) => write!(f, "Exit({note:?})"),
            Message::Become {
                epoch,
                baton,
                recent,
            } if recent.is_empty() => write!(f, "Become(epoch {epoch}, {baton:?})"),
            Message::Become {
                epoch,
                baton,
                recent,
            } => write!(f, "Become(epoch {epoch}, {baton:?}, granted {recent:?})"),
            Message::Inform { controller, epoch } => {
                write!(f, "Inform({controller}, epoch {epoch})")
            }
            Message::WakeUp => write!(f, "WakeUp"),
            Message::Row(letter) => letter.fmt(f),
        }
    }
}

impl<R: RequestsInfo> crate::contract::Message for Message<R> {
    const KINDS: &'static [&'static str] = R::KINDS;

    fn kind(&self) -> usize {
        match self {
            Message::Grant { .. } => 0,
            Message::Exit(_) => 1,
            Message::Become { .. } => 2,
            Message::Inform { .. } => 3,
            Message::WakeUp => 4,
            Message::Row(letter) => 5 + letter.kind(),
        }
    }

    fn origin(&self) -> Option<NodeId> {
        match self {
            Message::Row(letter) => Some(letter.origin()),
            // Grants and exits are between the controller and the one whose request it is.
            Message::Grant { .. }
            | Message::Exit(_)
            | Message::Become { .. }
            | Message::Inform { .. }
            | Message::WakeUp => None,
        }
    }
}

impl<R: RequestsInfo> Message<R> {
    /// Whether it speaks only of nodes that exist.
    fn fits(&self, nodes: u32) -> bool {
        let exists = |node: &NodeId| node.0 < nodes;
        match self {
            Message::Grant {
                controller, extra, ..
            } => exists(controller) && extra.fits(nodes),
            Message::Exit(note) => note.fits(nodes),
            Message::Become { baton, recent, .. } => baton.fits(nodes) && recent.iter().all(exists),
            Message::Inform { controller, .. } => exists(controller),
            Message::WakeUp => true,
            Message::Row(letter) => letter.fits(nodes),
        }
    }
}

/// What the local client does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
enum Client {
    Outside,
    Waiting,
    Inside,
}

/// A server, and what it knows of its client.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub(super) struct Kernel<R> {
    nodes: u32,
    role: Role,
    /// `cs_status`: somebody is inside by our grant. The controller's.
    busy: bool,
    client: Client,
    /// Who let our client in.
    granter: NodeId,
    /// Our client has left and what the exit must say is not yet known.
    leaving: bool,
    requests: R,
    column: Column,
    /// The migration condition is also tested when a request finds nobody inside.
    tests_on_wake: bool,
    target: Target,
    news: News,
    rules: Rules,
}

impl<R: Row> Algorithm for Kernel<R> {
    type Message = Message<R>;

    fn new(setup: &Setup<'_>) -> Self {
        let chosen = Chosen(&setup.setting.params);
        let holder = setup.setting.holder;
        Self {
            nodes: setup.nodes(),
            role: Role {
                me: setup.me,
                active: setup.is_holder(),
                controller: holder,
                epoch: 0,
            },
            busy: false,
            client: Client::Outside,
            granter: holder,
            leaving: false,
            requests: R::new(setup),
            column: Column::chosen(&chosen),
            tests_on_wake: chosen.tests_on_wake(),
            target: R::candidates(setup, Target::chosen(&chosen, R::USUAL_TARGET)),
            news: match R::INFORMS {
                true => News::chosen(&chosen, setup),
                false => News::Nobody,
            },
            rules: Rules::of(&setup.setting.printed),
        }
    }

    fn request(&mut self, _: Request, out: &mut Outbox<Message<R>>) {
        self.client = Client::Waiting;
        // A node that has not told its exit yet asks when it has.
        if !self.leaving {
            self.register(out);
        }
    }

    fn release(&mut self, out: &mut Outbox<Message<R>>) {
        self.client = Client::Outside;
        match self.requests.leave() {
            Some(note) => self.leave(note, out),
            None => self.leaving = true,
        }
    }

    fn receive(&mut self, from: NodeId, message: Message<R>, out: &mut Outbox<Message<R>>) {
        if !message.fits(self.nodes) {
            out.protocol_error(format!("{from} speaks of nodes that are not there"));
            return;
        }
        match message {
            Message::Grant {
                controller,
                epoch,
                extra,
            } => self.on_grant(from, controller, epoch, extra, out),
            Message::Exit(note) => self.on_exit(from, note, out),
            Message::Become {
                epoch,
                baton,
                recent,
            } => {
                self.news.take_over(recent);
                self.on_become(from, epoch, baton, out);
            }
            Message::Inform { controller, epoch } => match controller == self.role.me {
                true => out.protocol_error(format!("{from} says that we have the role")),
                false => self.learn(controller, epoch),
            },
            Message::WakeUp if self.role.active => self.serve(out),
            Message::WakeUp => {}
            Message::Row(letter) => {
                let heard = self.requests.receive(from, letter, &self.role, out);
                self.act_on(heard, out);
            }
        }
    }

    fn timer(&mut self, timer: Timer, out: &mut Outbox<Message<R>>) {
        let since = self.role.active.then_some(self.role.epoch);
        self.column.went_off(timer, since, out);
    }

    ignores! {
        peer: "the paper assumes that nobody fails: a lost role stays lost, nobody makes another",
        link,
    }

    fn draw(&self, view: &mut View) {
        view.points_to("controller", self.role.controller);
        view.mark("controller", self.role.active);
        self.requests.draw(view);
    }

    invariants! {
        "one node is controller": one_controller,
        "the role moves only between two entries": at_rest_while_inside,
        "every hop of a request is to a newer pointer": invariants::hops_are_newer,
        "no request runs in a circle": invariants::no_circles,
    }
}

impl<R: RequestsInfo> Kernel<R> {
    fn register(&mut self, out: &mut Outbox<Message<R>>) {
        let heard = self.requests.register(&self.role, out);
        self.act_on(heard, out);
    }

    fn act_on(&mut self, heard: Heard<R::Note>, out: &mut Outbox<Message<R>>) {
        match heard {
            Heard::Nothing => {}
            Heard::Wake if !self.role.active || self.busy => {}
            Heard::Wake if self.rules.requests_dispatch => self.dispatch(Cause::Wake, out),
            // rana-C1: as printed, the controller tells itself, and is free until it hears it.
            Heard::Wake => out.post(Message::WakeUp),
            Heard::Leave(note) if self.leaving => self.leave(note, out),
            Heard::Leave(_) => out.protocol_error("nobody was leaving"),
        }
    }

    fn leave(&mut self, note: R::Note, out: &mut Outbox<Message<R>>) {
        self.leaving = false;
        // rana-C3: as printed, the exit goes to the node that is believed to be the controller now.
        let to = match self.rules.exit_to_granter {
            true => self.granter,
            false => self.role.controller,
        };
        out.send_for(self.role.me, to, Message::Exit(note));
        if self.client == Client::Waiting {
            self.register(out);
        }
    }

    fn on_grant(
        &mut self,
        from: NodeId,
        controller: NodeId,
        epoch: u64,
        extra: R::Extra,
        out: &mut Outbox<Message<R>>,
    ) {
        if from != controller || self.client != Client::Waiting || self.leaving {
            out.protocol_error(format!("{from} grants an entry that was not asked for"));
            return;
        }
        self.learn(controller, epoch);
        self.granter = controller;
        self.requests.granted(extra);
        self.client = Client::Inside;
        out.enter();
    }

    fn on_exit(&mut self, from: NodeId, note: R::Note, out: &mut Outbox<Message<R>>) {
        // As printed, a wake_up that found nobody may have freed us too early.
        let wakes_itself = !self.rules.requests_dispatch || !self.rules.take_over_dispatches;
        if self.role.active && (self.busy || wakes_itself) {
            self.requests.absorb(note);
            self.dispatch(Cause::Exit, out);
        } else if self.rules.exit_to_granter {
            out.protocol_error(format!("{from} leaves and we had not let it in"));
        }
        // As printed, an auxiliary has no rule for an exit: nothing happens.
    }

    fn on_become(
        &mut self,
        from: NodeId,
        epoch: u64,
        baton: R::Baton,
        out: &mut Outbox<Message<R>>,
    ) {
        if self.role.active {
            out.protocol_error(format!("{from} sends a second controller role"));
            return;
        }
        self.role.active = true;
        (self.role.controller, self.role.epoch) = (self.role.me, epoch);
        self.requests.take_over(baton, &self.role, out);
        // rana-C2', rana-D5: as printed, the new controller is free until it hears its wake_up.
        if self.rules.take_over_dispatches {
            self.dispatch(Cause::Begin, out);
        } else {
            self.busy = false;
            out.post(Message::WakeUp);
        }
    }

    /// What others say of the controller. Numbers of tenures decide which news is newer.
    fn learn(&mut self, controller: NodeId, epoch: u64) {
        // rana-C4: as printed, whatever comes last is believed.
        let newer = epoch > self.role.epoch || !self.rules.epochs;
        if newer && !self.role.active {
            (self.role.controller, self.role.epoch) = (controller, epoch);
        }
    }

    /// Nobody is inside: hand the role on if that is due, else let the next one in. One step.
    fn dispatch(&mut self, cause: Cause, out: &mut Outbox<Message<R>>) {
        self.busy = false;
        self.column.watch(self.role.epoch, out);
        if self.is_due(cause) {
            let (me, view) = (self.role.me, self.requests.view());
            match self.target.select(me, self.nodes, &view, &self.rules) {
                Ok(Some(next)) => return self.move_to(next, out),
                Ok(None) => {}
                Err(Undefined) => out.protocol_error("nobody is left to become controller"),
            }
        }
        self.serve(out);
    }

    fn is_due(&mut self, cause: Cause) -> bool {
        match cause {
            Cause::Begin => false,
            Cause::Exit => self.column.due(cause),
            Cause::Wake => self.tests_on_wake && self.column.due(cause),
        }
    }

    /// Grants the next entry, if somebody waits.
    fn serve(&mut self, out: &mut Outbox<Message<R>>) {
        let next = self.requests.select();
        self.busy = next.is_some();
        let Some((node, extra)) = next else {
            return;
        };
        self.news.granted(node);
        let grant = Message::Grant {
            controller: self.role.me,
            epoch: self.role.epoch,
            extra,
        };
        if node == self.role.me {
            out.note("granted_here", 1);
        }
        out.send_for(node, node, grant);
    }

    /// We pass requests on to that node.
    pub(super) fn points_at(&self, node: NodeId) -> bool {
        !self.role.active && self.role.controller == node
    }

    /// Hands the role on: `update_controller_info` and `become_controller`.
    fn move_to(&mut self, next: NodeId, out: &mut Outbox<Message<R>>) {
        let me = self.role.me;
        if next == me {
            out.protocol_error("the role moves to where it is: property 7");
        }
        self.column.tenure_ends(self.role.epoch, out);
        self.role.active = false;
        self.role.controller = next;
        self.role.epoch = self.role.epoch.saturating_add(1);
        let epoch = self.role.epoch;
        let informed = self.news.informed(self.nodes);
        let r#become = Message::Become {
            epoch,
            baton: self.requests.hand_over(),
            recent: self.news.hand_over(),
        };
        let inform = Message::Inform {
            controller: next,
            epoch,
        };
        out.note("moves", 1);
        // rana-C5: as printed, the news is sent before the role.
        if self.rules.role_goes_first {
            out.send(next, r#become.clone());
        }
        for node in informed {
            if node != me && node != next {
                out.send(node, inform.clone());
            }
        }
        if !self.rules.role_goes_first {
            out.send(next, r#become);
        }
    }
}

/// A row as the kernel runs it.
pub(super) trait Row: RequestsInfo {
    /// Whom it prefers as the next controller, unless the parameters say otherwise.
    const USUAL_TARGET: Preference;

    /// Whether anybody has to know where the controller is.
    const INFORMS: bool;

    /// The choice of the next controller, where the row narrows it.
    fn candidates(_: &Setup<'_>, target: Target) -> Target {
        target
    }
}

/// One node, or one message, has the controller role.
fn one_controller<R: Row>(world: &Snapshot<'_, Kernel<R>>) -> Result<(), String> {
    world.one_token(
        |node| node.role.active,
        |message| matches!(message, Message::Become { .. }),
    )
}

/// The role waits until the member that it let in has left.
fn at_rest_while_inside<R: Row>(world: &Snapshot<'_, Kernel<R>>) -> Result<(), String> {
    let under_way =
        |(_, _, message): &&(_, _, &Message<R>)| matches!(message, Message::Become { .. });
    let inside = world
        .alive()
        .find(|(_, node)| node.client == Client::Inside);
    match (world.flight.iter().find(under_way), inside) {
        (Some((from, to, _)), Some((inside, node)))
            if node.rules.requests_dispatch && node.rules.take_over_dispatches =>
        {
            Err(format!(
                "{from} sends the role to {to} while {inside} is inside"
            ))
        }
        _ => Ok(()),
    }
}
