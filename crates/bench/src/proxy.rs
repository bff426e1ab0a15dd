//! The proxy against a process that only passes datagrams on, and against the delays it was asked for.

use std::cell::{Cell, RefCell};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::rc::Rc;

use chaos::proxy::child::{Between, FromProxy, ToProxy};
use chaos::{Delay, Timeline};
use tokio::sync::{Notify, mpsc};
use tokio::task::LocalSet;
use wire::{Alarm, Bundle, Inbox, Moment, Port};

use crate::comparison::{Comparison, Wanted, directory, median, sorted};
use cluster::child::{Child, Heard, Launcher, Output};
use orchestrator::Failure;

/// How often each comparison is repeated, and for how long each side runs.
const PAIRS: usize = 5;
const STREAM_NS: u64 = 500_000_000;
const PINGS: usize = 2_000;
/// The most datagrams under way while a stream is measured: enough to keep all processes busy, few
/// enough that no buffer overflows.
const UNDER_WAY: u64 = 128;
/// The length of a small frame.
const DATAGRAM: usize = 64;
/// How long to wait for a datagram before it is given up.
const PATIENCE_NS: u64 = 1_000_000_000;

/// All comparisons of the proxy.
pub(crate) struct Measured {
    pub(crate) comparisons: Vec<Comparison>,
    pub(crate) punctuality: Vec<Punctuality>,
    pub(crate) crowd: Crowd,
}

/// By how much the delays given differ from those drawn, in microseconds: what a datagram takes beyond
/// what it takes without a delay, in the median.
#[derive(Debug)]
pub(crate) struct Punctuality {
    pub(crate) what: String,
    /// The differences, sorted.
    pub(crate) late_us: Vec<f64>,
    /// How late this machine wakes a process that only waits for a timer, in the same run: the bench
    /// itself, which sends at a steady pace. Sorted.
    pub(crate) machine_us: Vec<f64>,
    /// Percentiles and what each should stay below.
    pub(crate) wanted_us: &'static [(f64, f64)],
}

/// Many members, every pair of which has something to say.
pub(crate) struct Crowd {
    pub(crate) sent: u64,
    pub(crate) arrived: u64,
    /// How late the last hundredth was, in milliseconds.
    pub(crate) late_p99_ms: f64,
}

/// Whether a percentile is as low as it should be. The worst comes last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LimitCheck {
    Met,
    /// The machine wakes nobody in time, so nothing is known of the proxy.
    Busy,
    Missed,
}

impl Punctuality {
    pub(crate) fn at_us(&self, percentile: f64) -> f64 {
        at(&self.late_us, percentile)
    }

    /// How late the machine itself was, at the same percentile.
    pub(crate) fn machine_at_us(&self, percentile: f64) -> f64 {
        at(&self.machine_us, percentile)
    }

    pub(crate) fn check(&self, percentile: f64, most_us: f64) -> LimitCheck {
        if self.at_us(percentile) < most_us {
            LimitCheck::Met
        } else if self.machine_at_us(percentile) < most_us / 2.0 {
            LimitCheck::Missed
        } else {
            LimitCheck::Busy
        }
    }

    /// The worst of all percentiles that are wanted.
    pub(crate) fn check_all(&self) -> LimitCheck {
        let wanted = self.wanted_us.iter();
        let kept = wanted.map(|(percentile, most_us)| self.check(*percentile, *most_us));
        kept.max().unwrap_or(LimitCheck::Met)
    }
}

fn at(sorted: &[f64], percentile: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    let place = (percentile / 100.0 * last as f64).round() as usize;
    sorted.get(place).copied().unwrap_or(f64::NAN)
}

impl Crowd {
    pub(crate) const MEMBERS: usize = 200;
    pub(crate) const PER_SECOND: u64 = 20_000;

    /// Everything arrived, and nothing had to queue for long.
    pub(crate) fn is_met(&self) -> bool {
        self.arrived == self.sent && self.late_p99_ms < 100.0
    }
}

/// Measures the proxy.
pub(crate) fn measure(executable: &Path, note: &dyn Fn(&str)) -> Result<Measured, Failure> {
    block_on(executable, note, async |bench| bench.measure().await)
}

/// Datagrams per second that the proxy carries without a fault, wherever the kernel places it.
pub(crate) fn capacity(executable: &Path) -> Result<f64, Failure> {
    let measure = async |bench: Bench<'_>| bench.stream(Middle::Proxy, None).await;
    block_on(executable, &|_| {}, measure)
}

fn block_on<T>(
    executable: &Path,
    note: &dyn Fn(&str),
    measure: impl AsyncFnOnce(Bench<'_>) -> io::Result<T>,
) -> Result<T, Failure> {
    let failed = |error: io::Error| Failure::Testbed(format!("the proxy's bench failed: {error}"));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(failed)?;
    let dir = directory()?;
    let bench = Bench {
        executable,
        dir: dir.path(),
        note,
    };
    LocalSet::new()
        .block_on(&runtime, measure(bench))
        .map_err(failed)
}

struct Bench<'a> {
    executable: &'a Path,
    dir: &'a Path,
    note: &'a dyn Fn(&str),
}

/// The process between the members.
#[derive(Clone, Copy)]
enum Middle {
    Proxy,
    Forwarder,
}

impl Bench<'_> {
    async fn measure(&self) -> io::Result<Measured> {
        let placements = [
            ("no fault, each on its own core", Some(1)),
            ("no fault, both on one core", Some(0)),
        ];
        let mut comparisons = Vec::new();
        stay_on(0)?;
        for (what, core) in placements {
            let mut pairs = Vec::new();
            for nth in 1..=PAIRS {
                (self.note)(&format!("{what}, {nth} of {PAIRS}"));
                let product = self.stream(Middle::Proxy, core).await?;
                pairs.push((product, self.stream(Middle::Forwarder, core).await?));
            }
            comparisons.push(Comparison {
                what: what.to_owned(),
                unit: "packets/s",
                pairs,
                wanted: Wanted::AtLeast(0.7),
            });
        }
        let mut pairs = Vec::new();
        for nth in 1..=PAIRS {
            (self.note)(&format!("added latency, {nth} of {PAIRS}"));
            let direct = self.direct_latency_ns().await?;
            let product = self.latency_ns(Middle::Proxy).await? - direct;
            pairs.push((product, self.latency_ns(Middle::Forwarder).await? - direct));
        }
        comparisons.push(Comparison {
            what: "added median latency".to_owned(),
            unit: "ns",
            pairs,
            wanted: Wanted::AtMost(1.5),
        });
        let mut punctuality = Vec::new();
        for per_second in [1_000, 10_000] {
            (self.note)(&format!("delay 10ms at {per_second} packets per second"));
            let (late_us, machine_us) = self.lateness_us("10ms", per_second).await?;
            punctuality.push(Punctuality {
                what: format!("delay 10ms, {per_second} packets/s"),
                late_us,
                machine_us,
                wanted_us: &[(50.0, 150.0), (99.0, 1_000.0)],
            });
        }
        (self.note)("delay 10ms 3ms distribution normal");
        let normal = "10ms 3ms distribution normal";
        let (late_us, machine_us) = self.lateness_us(normal, 1_000).await?;
        punctuality.push(Punctuality {
            what: format!("delay {normal}, 1000 packets/s"),
            late_us,
            machine_us,
            wanted_us: &[(10.0, 150.0), (50.0, 150.0), (90.0, 150.0)],
        });
        (self.note)("200 members, every pair active");
        let crowd = self.crowd().await?;
        Ok(Measured {
            comparisons,
            punctuality,
            crowd,
        })
    }

    /// Datagrams per second that get from one member to the other, as many as will go.
    async fn stream(&self, middle: Middle, core: Option<usize>) -> io::Result<f64> {
        let mut group = self.group(middle, 2, Delay::NONE, core).await?;
        let start = Moment::now();
        let (mut sent, mut arrived, mut inbox) = (0, 0, Inbox::new());
        while Moment::now().since(start) < STREAM_NS {
            while sent - arrived < UNDER_WAY {
                group.send(0, 1, sent)?;
                sent += 1;
            }
            group.members[1].readable().await?;
            let places = group.members[1].receive(&mut inbox)?;
            arrived += inbox.datagrams(places).count() as u64;
        }
        let took_ns = Moment::now().since(start);
        group.finish().await?;
        Ok(arrived as f64 * 1e9 / took_ns as f64)
    }

    /// The median time from one member to the other.
    async fn latency_ns(&self, middle: Middle) -> io::Result<f64> {
        let mut group = self.group(middle, 2, Delay::NONE, Some(1)).await?;
        let median = group.ping().await?;
        group.finish().await?;
        Ok(median)
    }

    async fn direct_latency_ns(&self) -> io::Result<f64> {
        let mut group = Group::open(2)?;
        group.aliases = group.addresses()?;
        group.ping().await
    }

    /// By how much the delay of each datagram differs from what was drawn for it, and how late each was
    /// sent, in order.
    async fn lateness_us(&self, delay: &str, per_second: u64) -> io::Result<(Vec<f64>, Vec<f64>)> {
        let delay = delay.parse::<Delay>().expect("the bench's own delays");
        // What the way takes without a delay is not the delay's.
        let way_ns = self.latency_ns(Middle::Proxy).await?;
        let group = self.group(Middle::Proxy, 2, delay, Some(1)).await?;
        let flights = group.paced(per_second, 2 * per_second, |_| (0, 1)).await?;
        let mut drawn = quiet(2).network().taking(delay);
        let late = flights.iter().map(|flight| {
            let fate = drawn.fate(flight.sent_ns, 0, 1, DATAGRAM as u32);
            let due_ns = flight.sent_ns + fate.copies[0].delay_ns;
            // What never came is later than anything that is allowed.
            flight.arrived_ns.map_or(f64::INFINITY, |arrived_ns| {
                (arrived_ns as f64 - due_ns as f64 - way_ns).abs() / 1e3
            })
        });
        let machine = flights.iter();
        let machine = machine.map(|flight| (flight.sent_ns - flight.due_ns) as f64 / 1e3);
        Ok((sorted(late), sorted(machine)))
    }

    async fn crowd(&self) -> io::Result<Crowd> {
        let members = Crowd::MEMBERS;
        let delay_ns = 1_000_000;
        let delay = Delay::Constant { ns: delay_ns };
        let group = self.group(Middle::Proxy, members, delay, Some(1)).await?;
        // Every pair once, neighbours far apart in time.
        let pairs = (members * (members - 1)) as u64;
        let pair = move |n: u64| {
            let (from, step) = (n as usize % members, n as usize / members % (members - 1));
            (from, (from + 1 + step) % members)
        };
        let flights = group.paced(Crowd::PER_SECOND, pairs, pair).await?;
        let arrived = flights.iter().filter_map(|flight| {
            let late_ns = flight.arrived_ns? - flight.sent_ns;
            Some(late_ns as f64 / 1e6 - delay_ns as f64 / 1e6)
        });
        let late_ms = sorted(arrived);
        Ok(Crowd {
            sent: flights.len() as u64,
            arrived: late_ms.len() as u64,
            late_p99_ms: late_ms
                .get(late_ms.len() * 99 / 100)
                .copied()
                .unwrap_or(f64::NAN),
        })
    }

    /// Members that reach each other through what stands in the middle.
    async fn group(
        &self,
        middle: Middle,
        members: usize,
        delay: Delay,
        core: Option<usize>,
    ) -> io::Result<Group> {
        let (reports, mut heard) = mpsc::unbounded_channel();
        let launcher = Launcher {
            executable: self.executable.to_owned(),
            members: self.dir.to_owned(),
            reports,
            cores: Vec::new(),
        };
        let mut group = Group::open(members)?;
        let kind = match middle {
            Middle::Proxy => "chaos",
            Middle::Forwarder => "forwarder",
        };
        let child = launcher.start_between(kind, core)?;
        child.tell(ToProxy::Begin(Box::new(Between {
            members: group.addresses()?,
            delay,
            timeline: quiet(members as u32),
            bind: Ipv4Addr::LOCALHOST.into(),
            ports: None,
        })));
        match heard.recv().await {
            Some(Heard::Proxy {
                what: Output::Message(FromProxy::Bound { aliases }),
                ..
            }) => {
                group.aliases = aliases;
            }
            other => return Err(io::Error::other(format!("expected aliases, got {other:?}"))),
        }
        group.middle = Some((child, heard));
        Ok(group)
    }
}

/// Members in this process, and what stands between them.
struct Group {
    members: Vec<Rc<Port>>,
    aliases: Vec<SocketAddr>,
    bundle: Bundle,
    middle: Option<(Child<ToProxy>, mpsc::UnboundedReceiver<Heard>)>,
}

/// A datagram from its sending to its arrival.
#[derive(Clone, Copy, Debug, Default)]
struct Flight {
    /// When it should have been sent.
    due_ns: u64,
    sent_ns: u64,
    arrived_ns: Option<u64>,
}

impl Group {
    fn open(members: usize) -> io::Result<Self> {
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let ports = (0..members).map(|_| Port::bind(any, 4 << 20).map(Rc::new));
        Ok(Self {
            members: ports.collect::<io::Result<_>>()?,
            aliases: Vec::new(),
            bundle: Bundle::default(),
            middle: None,
        })
    }

    fn addresses(&self) -> io::Result<Vec<SocketAddr>> {
        self.members.iter().map(|port| port.address()).collect()
    }

    /// Sends the n-th datagram, alone, as a member would.
    fn send(&mut self, from: usize, to: usize, nth: u64) -> io::Result<()> {
        let mut datagram = [0; DATAGRAM];
        datagram[..8].copy_from_slice(&nth.to_le_bytes());
        let port = &self.members[from];
        self.bundle.send(port, self.aliases[to], &datagram)?;
        self.bundle.flush(port)
    }

    /// The median time a datagram takes, one after the other.
    async fn ping(&mut self) -> io::Result<f64> {
        let mut inbox = Inbox::new();
        let mut took_ns = Vec::new();
        for nth in 0..PINGS as u64 {
            let sent = Moment::now();
            self.send(0, 1, nth)?;
            loop {
                self.members[1].readable().await?;
                if self.members[1].receive(&mut inbox)? > 0 {
                    break;
                }
            }
            took_ns.push(Moment::now().since(sent) as f64);
        }
        Ok(median(&sorted(took_ns.into_iter())))
    }

    /// Sends datagrams at a steady pace, and writes down when each arrives.
    async fn paced(
        mut self,
        per_second: u64,
        total: u64,
        pair: impl Fn(u64) -> (usize, usize),
    ) -> io::Result<Vec<Flight>> {
        let start = Moment::now();
        let flights = Rc::new(RefCell::new(vec![Flight::default(); total as usize]));
        let (missing, all_here) = (Rc::new(Cell::new(total)), Rc::new(Notify::new()));
        let inbox = Rc::new(RefCell::new(Inbox::new()));
        for port in &self.members {
            let (port, inbox, flights) = (Rc::clone(port), Rc::clone(&inbox), Rc::clone(&flights));
            let (missing, all_here) = (Rc::clone(&missing), Rc::clone(&all_here));
            tokio::task::spawn_local(async move {
                while port.readable().await.is_ok() {
                    let mut inbox = inbox.borrow_mut();
                    let Ok(places) = port.receive(&mut inbox) else {
                        break;
                    };
                    let now_ns = Moment::now().since(start);
                    for (_, datagram) in inbox.datagrams(places) {
                        let nth = datagram[..8].try_into().map(u64::from_le_bytes);
                        let nth = nth.expect("a datagram of the bench begins with its number");
                        flights.borrow_mut()[nth as usize].arrived_ns = Some(now_ns);
                        missing.set(missing.get() - 1);
                    }
                    if missing.get() == 0 {
                        all_here.notify_one();
                    }
                }
            });
        }
        let alarm = Alarm::new()?;
        for nth in 0..total {
            let due_ns = nth * 1_000_000_000 / per_second;
            while Moment::now().since(start) < due_ns {
                alarm.set(start.plus_ns(due_ns))?;
                alarm.wait().await?;
            }
            let (from, to) = pair(nth);
            let flight = &mut flights.borrow_mut()[nth as usize];
            (flight.due_ns, flight.sent_ns) = (due_ns, Moment::now().since(start));
            self.send(from, to, nth)?;
        }
        alarm.set(Moment::now().plus_ns(PATIENCE_NS))?;
        tokio::select! {
            () = all_here.notified() => {}
            rang = alarm.wait() => rang?,
        }
        self.finish().await?;
        Ok(flights.take())
    }

    /// Ends what stands in the middle, and waits until it is gone.
    async fn finish(self) -> io::Result<()> {
        let Some((child, mut heard)) = self.middle else {
            return Ok(());
        };
        child.tell(ToProxy::Finish);
        loop {
            match heard.recv().await {
                None
                | Some(Heard::Proxy {
                    what: Output::Ended(_),
                    ..
                }) => return Ok(()),
                Some(_) => {}
            }
        }
    }
}

/// A timeline without faults.
fn quiet(nodes: u32) -> Timeline {
    Timeline {
        nodes,
        ..Timeline::default()
    }
}

/// Keeps this process on one processor, as the one in the middle is kept on its own.
fn stay_on(core: usize) -> io::Result<()> {
    let birth = wire::ChildArgs {
        core: Some(core),
        ..wire::ChildArgs::default()
    };
    birth.settle().map_err(io::Error::other)
}
