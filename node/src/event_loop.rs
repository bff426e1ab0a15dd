//! The member itself: one event after another, each on record before it shows.
//!
//! Here is its life, from hello to done, and what it is told on the way. [`datagrams`] is what comes and
//! goes through the socket, [`events`] what happens here and what is done about it, [`looks`] what a live
//! page is told of it.

mod datagrams;
mod events;
mod looks;

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::net::SocketAddr;

use algorithms::{Change, NodeId};
use tracing::info;
use wire::{self, Bind, Bundle, Inbox, Moment, Port};

use self::datagrams::Arrival;
use self::events::token_kind;
use self::looks::Looks;
use crate::ControlChannel;
use crate::control::{Counts, FromMember, Group, Start, ToMember};
use crate::record::Record;
use crate::recorder::Recorder;
use crate::usage::{cpu_ms, usage};
use crate::witness::{Life, Witness};
use member::members::{Alarm, Effect, Input, Members};
use member::timer_queue::TimerQueue;
use model::run::UsageRow;
use safe_io::explained;
use transport::failure_detector::FailureDetector;
use transport::frame::Seal;
use transport::header::Carried;
use transport::{Identity, Transport};

/// Bytes of kernel buffer asked for on each side of the socket; the kernel may give less.
const SOCKET_BUFFER: usize = 1 << 20;
/// How often the transport's counters go to the file while something happens.
const COUNTERS_EVERY_NS: u64 = 100_000_000;
/// How many events are handled in a row before sockets and timers get their turn.
const EVENTS_PER_TURN: usize = 256;

/// Binds a socket, says hello, and does what it is told until the end.
pub(crate) async fn serve(place: Bind) -> Result<(), String> {
    let mut control = ControlChannel::open().map_err(|error| format!("stdin: {error}"))?;
    let port = Port::bind_within(place, SOCKET_BUFFER).map_err(|error| {
        let only = place.ports.filter(|(first, last)| first == last);
        let address = SocketAddr::new(place.address, only.map_or(0, |(port, _)| port));
        let taken = only.is_some() && error.kind() == io::ErrorKind::AddrInUse;
        let how = match taken {
            true => "; another process has taken this member's port",
            false => "",
        };
        let why = format!("cannot bind {address}: {error}{how}");
        control.say(&FromMember::Failed { why: why.clone() });
        why
    })?;
    let bound = port
        .address()
        .map_err(|error| format!("no local address: {error}"))?;
    control.say(&FromMember::Hello { port: bound.port() });
    let group = match control.next().await? {
        Some(ToMember::Group(group)) => *group,
        // It came back as the run ended.
        Some(ToMember::Finish) => return finished_early(&control),
        Some(other) => return Err(format!("expected 'group', got {other:?}")),
        None => return Ok(()),
    };
    let start = match control.next().await? {
        Some(ToMember::Start(start)) => start,
        Some(ToMember::Finish) => return finished_early(&control),
        Some(other) => return Err(format!("expected 'start', got {other:?}")),
        None => return Ok(()),
    };
    info!(member = %start.me, incarnation = start.incarnation, address = %bound, "started");
    let mut member = Member::new(group, start, port)?;
    control.say(&FromMember::Ready);
    match control.next().await? {
        Some(ToMember::Go { zero }) => {
            member.zero = zero;
            member.cpu_ms_before = cpu_ms();
        }
        Some(ToMember::Finish) => return finished_early(&control),
        Some(other) => return Err(format!("expected 'go', got {other:?}")),
        None => return Ok(()),
    }
    let ended = member.wait_and_live(&mut control).await;
    if let Err(why) = &ended {
        control.say(&FromMember::Failed { why: why.clone() });
    }
    ended
}

/// Ends a member that has done nothing.
fn finished_early(control: &ControlChannel) -> Result<(), String> {
    control.say(&FromMember::Done {
        state_bytes: 0,
        peak_state_bytes: None,
        usage: UsageRow::default(),
    });
    Ok(())
}

fn cannot_write(error: io::Error) -> String {
    format!("cannot write the records: {}", explained(error))
}

/// One member and everything its process owns.
pub(crate) struct Member {
    me: NodeId,
    /// Moment zero of the run. All times of this member, the transport's too, count from it.
    zero: Moment,
    /// Where to send what is for member i.
    book: Vec<SocketAddr>,
    port: Port,
    bundle: Bundle,
    transport: Transport,
    /// Set where the algorithm asks for link events, or deaths are guessed from silence.
    detector: Option<FailureDetector>,
    /// The algorithm and its clients; none in a later life of the member, which only listens.
    members: Option<Members>,
    witness: Witness,
    pub(crate) recorder: Recorder,
    /// What travels in front of messages: their numbers only where everything is traced.
    carried: Carried,
    wake_up: wire::Alarm,
    alarms: TimerQueue<Alarm>,
    arrivals: VecDeque<Arrival>,
    traffic: BTreeMap<NodeId, Traffic>,
    entries: u64,
    /// Since when somebody is inside here.
    pub(crate) inside_since_ns: Option<u64>,
    /// When the token last came here.
    pub(crate) token_since_ns: Option<u64>,
    /// The number of the kind of message that carries the token.
    token_kind: Option<u8>,
    /// What the algorithm calls its kinds of messages.
    kinds: &'static [&'static str],
    /// Steps of the plan's faults that must be in force before anything leaves.
    pub(crate) hits: Vec<usize>,
    /// The step that waits for the next entry here.
    pub(crate) catch: Option<usize>,
    /// Orders that came while the member waited for a fault.
    pub(crate) postponed: VecDeque<ToMember>,
    clogged: bool,
    /// Whether the member's program cannot go on, and the orchestrator has yet to be told.
    program_failed: bool,
    /// Whether the orchestrator knows that the clients here have nothing to do.
    said_idle: bool,
    /// What a live page will be told, if there is one.
    looks: Option<Looks>,
    counters_due_ns: u64,
    /// Processor time taken before the run began.
    cpu_ms_before: f64,
    /// Empty between events; kept so that handling one allocates nothing.
    effects: Vec<Effect>,
    datagram: Vec<u8>,
    message: Vec<u8>,
}

/// Algorithm messages to and from one peer.
#[derive(Clone, Copy, Default)]
struct Traffic {
    sent: u64,
    received: u64,
}

impl Member {
    fn new(group: Group, start: Start, port: Port) -> Result<Self, String> {
        let Start { me, incarnation } = start;
        let Group {
            plan,
            book,
            run,
            key,
            dir,
        } = group;
        let info = plan.info();
        let topology = plan
            .build_topology()
            .map_err(|error| format!("topology: {error}"))?;
        let suspects_after_ns = plan.suspects_after_ns();
        let config = plan.transport_config(info.link_contract);
        let identity = Identity {
            me,
            incarnation,
            members: plan.nodes,
        };
        let detector = match suspects_after_ns {
            _ if incarnation > 0 => None,
            Some(_) => Some(FailureDetector::everybody(plan.nodes, me)),
            None => info
                .wants_link_events()
                .then(|| FailureDetector::neighbours(&topology.without_direction(), me)),
        };
        let members = (incarnation == 0)
            .then(|| Members::new(&plan, &plan.setting(topology), me.0..me.0 + 1));
        let files = dir.join("members");
        let life = Life {
            node: me,
            incarnation,
        };
        let records = life.records(&files);
        let at_most = (info.more.admits)(&plan.params).min(plan.nodes);
        Ok(Self {
            me,
            zero: Moment::START,
            book,
            port,
            bundle: Bundle::default(),
            transport: Transport::new(config, Seal::new(plan.algorithm.name, run, key), identity),
            detector,
            members,
            witness: Witness::open(&files, plan.witness, (at_most, plan.nodes), life)
                .map_err(|error| format!("cannot open the witness files: {error}"))?,
            recorder: Recorder::create(&records)
                .map_err(|error| format!("cannot make {}: {error}", records.display()))?,
            carried: Carried {
                known: plan.certificate,
                number: plan.trace,
            },
            wake_up: wire::Alarm::new().map_err(|error| format!("cannot make a timer: {error}"))?,
            alarms: TimerQueue::default(),
            arrivals: VecDeque::new(),
            traffic: BTreeMap::new(),
            entries: 0,
            inside_since_ns: None,
            token_since_ns: (info.token.is_some() && plan.holder == me).then_some(0),
            token_kind: token_kind(&plan),
            kinds: plan.machine().kinds(),
            hits: Vec::new(),
            catch: None,
            postponed: VecDeque::new(),
            clogged: false,
            program_failed: false,
            said_idle: false,
            looks: None,
            counters_due_ns: 0,
            cpu_ms_before: 0.0,
            effects: Vec::new(),
            datagram: Vec::new(),
            message: Vec::new(),
        })
    }

    pub(crate) fn now_ns(&self) -> u64 {
        Moment::now().since(self.zero)
    }

    /// Takes part in the run from its moment zero on, and not before.
    async fn wait_and_live(&mut self, control: &mut ControlChannel) -> Result<(), String> {
        if self.wait_for_zero(control).await? {
            self.live(control).await
        } else {
            Ok(())
        }
    }

    /// Sleeps until moment zero, so that nothing happens before it: datagrams stay in the socket,
    /// and orders wait, except for those that stop the member or look at it. Says whether there is still a run.
    async fn wait_for_zero(&mut self, control: &mut ControlChannel) -> Result<bool, String> {
        while Moment::now() < self.zero {
            self.wake_up
                .set(self.zero)
                .map_err(|error| format!("cannot set the timer: {error}"))?;
            tokio::select! {
                biased;
                order = control.next() => match order? {
                    None => return Ok(false),
                    Some(ToMember::Halt) => self.halt(control).await?,
                    Some(look @ ToMember::Look { .. }) => self.obey(look, control)?,
                    Some(order) => self.postponed.push_back(order),
                },
                rang = self.wake_up.wait() => {
                    rang.map_err(|error| format!("the timer failed: {error}"))?;
                }
            }
        }
        Ok(true)
    }

    async fn live(&mut self, control: &mut ControlChannel) -> Result<(), String> {
        info!("begins");
        if let Some(members) = &mut self.members {
            for (at_ns, alarm) in members.opening() {
                self.alarms.add(at_ns, alarm);
            }
        }
        let mut inbox = Inbox::new();
        loop {
            self.handle_due(&mut inbox)?;
            self.flush()?;
            if std::mem::take(&mut self.program_failed) {
                control.say(&FromMember::ProgramFailed);
            }
            if !self.hits.is_empty() {
                self.wait_for_faults(control).await?;
            }
            let due = self.let_out(control)?;
            if due {
                // A member that always has something to do never waits, and what nobody waits for the
                // runtime does not look at: neither the socket nor the orders.
                tokio::task::yield_now().await;
            }
            let order = match self.postponed.pop_front() {
                Some(order) => Some(order),
                None => tokio::select! {
                    biased;
                    ready = self.port.readable() => {
                        ready.map_err(|error| format!("the socket failed: {error}"))?;
                        self.take_datagrams(&mut inbox)?;
                        continue;
                    }
                    rang = self.wake_up.wait() => {
                        rang.map_err(|error| format!("the timer failed: {error}"))?;
                        continue;
                    }
                    order = control.next() => order?,
                    () = std::future::ready(()), if due => continue,
                },
            };
            match order {
                None => return Ok(()),
                Some(ToMember::Finish) => return self.finish(control),
                Some(ToMember::Halt) => self.halt(control).await?,
                Some(order) => self.obey(order, control)?,
            }
        }
    }

    /// Handles what has arrived and what is due, until a fault must come into force first.
    fn handle_due(&mut self, inbox: &mut Inbox) -> Result<(), String> {
        for _ in 0..EVENTS_PER_TURN {
            if !self.hits.is_empty() || !self.handle_one()? {
                break;
            }
        }
        let now_ns = self.now_ns();
        self.take_all_before_ticking(inbox)?;
        self.tick(now_ns);
        self.look_out(now_ns);
        self.note_congestion(now_ns)?;
        self.keep_counters(now_ns);
        Ok(())
    }

    /// Lets out what is on disk, and says whether something is due already; if not, sets the timer for
    /// what comes next.
    fn let_out(&mut self, control: &ControlChannel) -> Result<bool, String> {
        self.transmit();
        self.report_idleness(control);
        if !self.arrivals.is_empty() {
            return Ok(true);
        }
        let alarm_ns = self.alarms.next_ns().into_iter();
        match alarm_ns.chain(self.transport.next_deadline()).min() {
            None => Ok(false),
            Some(at_ns) if at_ns <= self.now_ns() => Ok(true),
            Some(at_ns) => {
                let set = self.wake_up.set(self.zero.plus_ns(at_ns));
                set.map_err(|error| format!("cannot set the timer: {error}"))?;
                Ok(false)
            }
        }
    }

    fn flush(&mut self) -> Result<(), String> {
        self.recorder.flush().map_err(cannot_write)
    }

    fn look_out(&mut self, now_ns: u64) {
        if let (Some(detector), Some(members)) = (&mut self.detector, &self.members) {
            detector.look(now_ns, members.waits(self.me), &mut self.transport);
        }
    }

    fn note_congestion(&mut self, now_ns: u64) -> Result<(), String> {
        let clogged = self.transport.congested();
        if clogged == self.clogged {
            return Ok(());
        }
        self.clogged = clogged;
        self.happen(now_ns, Input::Clogged(clogged))
    }

    fn keep_counters(&mut self, now_ns: u64) {
        if now_ns >= self.counters_due_ns {
            self.counters_due_ns = now_ns + COUNTERS_EVERY_NS;
            let counts = self.wire_counts();
            self.recorder.add(now_ns, &Record::Counters(counts));
        }
    }

    fn report_idleness(&mut self, control: &ControlChannel) {
        let idle = self.members.as_ref().is_none_or(|members| {
            members.armed() == 0 && members.waiting() == 0 && self.inside_since_ns.is_none()
        });
        if idle && !self.said_idle {
            control.say(&FromMember::Idle);
        }
        self.said_idle = idle;
    }

    pub(crate) fn obey(&mut self, order: ToMember, control: &ControlChannel) -> Result<(), String> {
        let now_ns = self.now_ns();
        match order {
            ToMember::Cue { cue } => self.happen(now_ns, Input::Cue(cue)),
            ToMember::Count { round, dead } => {
                control.say(&FromMember::Counts {
                    round,
                    counts: self.counts(&dead),
                });
                Ok(())
            }
            ToMember::Down { peer } => self.happen(
                now_ns,
                Input::Peer {
                    peer,
                    change: Change::Down,
                },
            ),
            ToMember::Group(_) | ToMember::Start(_) | ToMember::Go { .. } => {
                Err("the run has begun already".to_owned())
            }
            ToMember::Look { most } => {
                if let Some(seen) = self.seen(most) {
                    control.say(&seen);
                }
                Ok(())
            }
            ToMember::Stretch { times } => {
                if let Some(members) = &mut self.members {
                    members.stretch(times);
                }
                Ok(())
            }
            // Told to go on, although it did not wait: the fault was in force already.
            ToMember::GoOn { catch } => {
                self.catch = catch.or(self.catch);
                Ok(())
            }
            ToMember::Halt | ToMember::Finish => unreachable!("the loop itself sees to these"),
        }
    }

    fn counts(&self, dead: &[NodeId]) -> Counts {
        let living = self.traffic.iter().filter(|(peer, _)| !dead.contains(peer));
        let (sent, received) = living.fold((0, 0), |(sent, received), (_, traffic)| {
            (sent + traffic.sent, received + traffic.received)
        });
        let core = self.members.as_ref();
        Counts {
            sent,
            received,
            pending: (self.transport.unsettled() + self.arrivals.len()) as u64,
            armed: core.map_or(0, Members::armed) as u64,
            waiting: core.map_or(0, Members::waiting) as u64,
            inside: u64::from(self.inside_since_ns.is_some()),
            entries: self.entries,
        }
    }

    fn finish(&mut self, control: &ControlChannel) -> Result<(), String> {
        let now_ns = self.now_ns();
        let counts = self.wire_counts();
        self.recorder.add(now_ns, &Record::Counters(counts));
        self.recorder.close().map_err(cannot_write)?;
        let state_bytes = self
            .members
            .as_ref()
            .map_or(0, |core| core.group().state_bytes(self.me) as u64);
        control.say(&FromMember::Done {
            state_bytes,
            peak_state_bytes: self.members.as_ref().and_then(Members::peak_state_bytes),
            usage: usage(self.cpu_ms_before),
        });
        info!(entries = self.entries, "done");
        Ok(())
    }
}
