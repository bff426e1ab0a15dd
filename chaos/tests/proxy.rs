//! The proxy between real sockets. Every test waits for what must happen, with a deadline, and for
//! nothing else.
#![cfg(feature = "proxy")]

mod common;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::rc::Rc;
use std::time::{Duration, Instant};

use chaos::proxy::{
    Address, Command, Config, Control, FaultRow, Journal, MemberConfig, Proxy, Reply,
};
use chaos::{Network, Timeline};
use common::{MS, timeline};
use tokio::net::UdpSocket;

const LOCALHOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
/// Longer than anything here takes on the busiest machine.
const DEADLINE: Duration = Duration::from_secs(20);
/// How long nothing more must come after what was expected.
const QUIET: Duration = Duration::from_millis(100);

/// Members with a running proxy between them.
struct Rig {
    sockets: Vec<UdpSocket>,
    aliases: Vec<SocketAddr>,
    control: Control,
}

impl Rig {
    async fn send(&self, from: usize, to: usize, bytes: &[u8]) {
        let sent = self.sockets[from].send_to(bytes, self.aliases[to]).await;
        sent.expect("loopback takes everything");
    }

    async fn receive(&self, at: usize) -> (Vec<u8>, SocketAddr) {
        let mut room = vec![0; 70_000];
        let received = tokio::time::timeout(DEADLINE, self.sockets[at].recv_from(&mut room)).await;
        let (length, source) = received.expect("in time").expect("a datagram");
        room.truncate(length);
        (room, source)
    }

    /// Everything that arrives until so many have come and it is quiet.
    async fn receive_all(&self, at: usize, expected: usize) -> Vec<Vec<u8>> {
        let mut all = Vec::new();
        while all.len() < expected {
            all.push(self.receive(at).await.0);
        }
        let mut room = vec![0; 70_000];
        let socket = &self.sockets[at];
        while let Ok(more) = tokio::time::timeout(QUIET, socket.recv(&mut room)).await {
            all.push(room[..more.expect("a datagram")].to_vec());
        }
        all
    }

    async fn nothing_arrives(&self, at: usize) {
        assert_eq!(self.receive_all(at, 0).await, Vec::<Vec<u8>>::new());
    }

    async fn tell(&self, command: Command) -> Reply {
        let reply = self.control.ask(command).await;
        reply.unwrap_or_else(|why| panic!("{why}"))
    }

    async fn faults(&self) -> Vec<FaultRow> {
        match self.tell(Command::Faults).await {
            Reply::Faults(rows) => rows,
            other => panic!("{other:?}"),
        }
    }

    /// A counter's value in the metrics.
    async fn metric(&self, line: &str) -> u64 {
        let Reply::Text(text) = self.tell(Command::Metrics).await else {
            panic!("metrics are text");
        };
        let found = text
            .lines()
            .find_map(|l| l.strip_prefix(line)?.trim().parse().ok());
        found.unwrap_or(0)
    }
}

/// Runs a test among so many members, and stops the proxy after it.
fn among(members: usize, faults: &[&str], test: impl AsyncFnOnce(&Rig)) {
    among_with(members, faults, Journal::default(), test);
}

fn among_with(members: usize, faults: &[&str], journal: Journal, test: impl AsyncFnOnce(&Rig)) {
    let change = |config: &mut Config| config.journal = journal;
    among_changed(members, faults, change, test);
}

/// The same, with another configuration.
fn among_changed(
    members: usize,
    faults: &[&str],
    change: impl FnOnce(&mut Config),
    test: impl AsyncFnOnce(&Rig),
) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(async {
        let mut sockets = Vec::new();
        for _ in 0..members {
            let socket = UdpSocket::bind((LOCALHOST, 0)).await;
            sockets.push(socket.expect("a free port"));
        }
        let member = |(n, socket): (usize, &UdpSocket)| MemberConfig {
            name: format!("m{n}"),
            address: Address::Fixed(socket.local_addr().expect("an address")),
            port: 0,
        };
        let mut config = Config::between(sockets.iter().enumerate().map(member).collect());
        config.timeline = timeline(members as u32, faults);
        change(&mut config);
        let proxy = Proxy::bind(config).expect("free ports");
        let links = proxy.links().expect("addresses");
        let rig = Rig {
            sockets,
            aliases: links.iter().map(|link| link.alias).collect(),
            control: proxy.control(),
        };
        tokio::select! {
            ended = proxy.run() => panic!("the proxy ended: {ended:?}"),
            () = test(&rig) => {}
        }
        let reuse = UdpSocket::bind(rig.aliases[0]).await;
        assert!(reuse.is_ok(), "the proxy's sockets are closed");
    });
}

/// What the model says happens to so many packets of this length from 0 to 1, a moment apart.
fn model(faults: &[&str], packets: u64, size: u32) -> Vec<chaos::Fate> {
    let timeline: Timeline = timeline(2, faults);
    let mut network: Network = timeline.network();
    (0..packets).map(|n| network.fate(n, 0, 1, size)).collect()
}

/// A packet that can be told from others.
fn packet(number: u64) -> Vec<u8> {
    let mut bytes = vec![0xaa; 100];
    bytes[..8].copy_from_slice(&number.to_be_bytes());
    bytes
}

fn number(bytes: &[u8]) -> u64 {
    u64::from_be_bytes(bytes[..8].try_into().expect("eight bytes"))
}

/// Sends so many packets from 0 to 1, in small bursts so that no buffer overflows.
async fn send_packets(rig: &Rig, packets: u64) {
    for n in 0..packets {
        rig.send(0, 1, &packet(n)).await;
        if n % 16 == 15 {
            while rig
                .metric("chaos_datagrams_received_total{from=\"m0\",to=\"m1\"}")
                .await
                <= n
            {
                tokio::task::yield_now().await;
            }
        }
    }
}

#[test]
fn each_believes_to_talk_to_the_other() {
    among(3, &[], async |rig| {
        rig.send(0, 1, b"hello").await;
        let (bytes, source) = rig.receive(1).await;
        assert_eq!((bytes.as_slice(), source), (&b"hello"[..], rig.aliases[0]));
        rig.sockets[1].send_to(b"and you", source).await.unwrap();
        let (bytes, source) = rig.receive(0).await;
        assert_eq!(
            (bytes.as_slice(), source),
            (&b"and you"[..], rig.aliases[1])
        );
        rig.send(2, 1, b"").await;
        assert_eq!(
            rig.receive(1).await,
            (Vec::new(), rig.aliases[2]),
            "an empty datagram is one"
        );
        let long = vec![7; 65_507];
        rig.send(1, 2, &long).await;
        assert_eq!(
            rig.receive(2).await,
            (long, rig.aliases[1]),
            "so is the longest"
        );
    });
}

#[test]
fn a_burst_of_mixed_lengths_arrives_as_it_was_sent() {
    among(2, &[], async |rig| {
        let lengths = [100, 100, 100, 40, 100, 0, 0, 7, 1200, 1200, 1200, 3];
        for (n, length) in lengths.into_iter().enumerate() {
            rig.send(0, 1, &vec![n as u8; length]).await;
        }
        let arrived = rig.receive_all(1, lengths.len()).await;
        let expected = lengths
            .into_iter()
            .enumerate()
            .map(|(n, length)| vec![n as u8; length]);
        assert_eq!(arrived, expected.collect::<Vec<_>>());
    });
}

#[test]
fn the_same_packets_are_lost_as_in_the_model() {
    for fault in [
        "loss 30%",
        "loss gemodel 10% 30%",
        "loss every 3",
        "loss 30% 50%",
    ] {
        among(2, &[fault], async |rig| {
            send_packets(rig, 200).await;
            let fates = model(&[fault], 200, 100);
            let expected = (0..200)
                .filter(|n| !fates[*n as usize].is_lost())
                .collect::<Vec<_>>();
            let arrived = rig.receive_all(1, expected.len()).await;
            assert_eq!(
                arrived
                    .iter()
                    .map(|bytes| number(bytes))
                    .collect::<Vec<_>>(),
                expected
            );
            let lost = 200 - expected.len() as u64;
            assert!(lost > 20, "{fault} acted");
            assert_eq!(rig.faults().await[0].count.acted, lost);
        });
    }
}

#[test]
fn the_same_packets_are_doubled_damaged_and_cut_short_as_in_the_model() {
    let faults = ["duplicate 30%", "corrupt 30% bits 2", "truncate 30%"];
    among(2, &faults, async |rig| {
        send_packets(rig, 100).await;
        let mut expected = Vec::new();
        for (n, fate) in model(&faults, 100, 100).iter().enumerate() {
            for copy in &fate.copies {
                let mut bytes = packet(n as u64);
                let length = copy.mangle(&mut bytes);
                bytes.truncate(length);
                expected.push(bytes);
            }
        }
        let arrived = rig.receive_all(1, expected.len()).await;
        assert_eq!(arrived, expected);
        for row in rig.faults().await {
            assert!(row.count.acted > 10, "{} acted", row.fault);
        }
    });
}

#[test]
fn no_packet_is_early_and_all_arrive() {
    let faults = ["delay 60ms 30ms"];
    among(2, &faults, async |rig| {
        let fates = model(&faults, 50, 100);
        let mut sent = Vec::new();
        for n in 0..50 {
            sent.push(Instant::now());
            rig.send(0, 1, &packet(n)).await;
        }
        let mut missing = (0..50).collect::<BTreeSet<_>>();
        while !missing.is_empty() {
            let (bytes, _) = rig.receive(1).await;
            let n = number(&bytes);
            assert!(missing.remove(&n), "{n} came twice");
            let took = sent[n as usize].elapsed();
            let asked = Duration::from_nanos(fates[n as usize].copies[0].delay_ns);
            assert!(took >= asked, "{n} took {took:?} instead of {asked:?}");
        }
        assert_eq!(rig.faults().await[0].count.acted, 50);
    });
}

#[test]
fn reordered_packets_come_first() {
    let faults = ["delay 600ms", "reorder 30% gap 2"];
    among(2, &faults, async |rig| {
        send_packets(rig, 40).await;
        let fates = model(&faults, 40, 100);
        let at_once = |n: &u64| fates[*n as usize].copies[0].delay_ns == 0;
        let (first, then): (Vec<_>, Vec<_>) = (0..40).partition(at_once);
        assert!(first.len() > 5);
        let arrived = rig.receive_all(1, 40).await;
        let arrived = arrived
            .iter()
            .map(|bytes| number(bytes))
            .collect::<Vec<_>>();
        assert_eq!(arrived, [first, then].concat());
    });
}

#[test]
fn a_narrow_link_keeps_its_pace_and_drops_what_does_not_fit() {
    // 100 bytes at 8 kbit/s take 100 ms.
    among(2, &["rate 8kbit limit 3"], async |rig| {
        let began = Instant::now();
        for n in 0..20 {
            rig.send(0, 1, &packet(n)).await;
        }
        let sending = began.elapsed();
        let mut arrived = 0;
        for _ in 0..3 {
            rig.receive(1).await;
            arrived += 1;
            assert!(
                began.elapsed() >= Duration::from_millis(100) * arrived,
                "{arrived} is early"
            );
        }
        // If sending took long on a busy machine, some of the queue had left in the meantime.
        let more = rig.receive_all(1, 0).await.len() as u128;
        assert!(
            more <= sending.as_millis() / 100 + 1,
            "{more} more, {sending:?}"
        );
        let line = "chaos_datagrams_lost_total{from=\"m0\",to=\"m1\"}";
        assert_eq!(rig.metric(line).await, 17 - more as u64);
    });
}

#[test]
fn cuts_begin_and_end_when_they_are_told_to() {
    among(3, &[], async |rig| {
        rig.tell(Command::Add("cut m0->m1".to_owned())).await;
        rig.send(0, 1, b"lost").await;
        rig.nothing_arrives(1).await;
        rig.send(1, 0, b"one way").await;
        assert_eq!(rig.receive(0).await.0, b"one way");
        rig.tell(Command::Heal(None)).await;
        rig.send(0, 1, b"healed").await;
        assert_eq!(rig.receive(1).await.0, b"healed");

        rig.tell(Command::Add("partition m0|m1,m2".to_owned()))
            .await;
        rig.send(2, 0, b"lost").await;
        rig.send(2, 1, b"same side").await;
        assert_eq!(rig.receive(1).await.0, b"same side");
        rig.tell(Command::Heal(Some("m2-m0".to_owned()))).await;
        rig.send(2, 0, b"this edge").await;
        assert_eq!(rig.receive(0).await.0, b"this edge");
        rig.send(1, 0, b"not this").await;
        rig.nothing_arrives(0).await;
        rig.tell(Command::Reset).await;
        rig.send(1, 0, b"reset").await;
        assert_eq!(rig.receive(0).await.0, b"reset");
        assert_eq!(rig.faults().await.len(), 0);
    });
}

#[test]
fn what_is_under_way_is_dropped_held_or_delivered() {
    among(2, &["delay 50ms"], async |rig| {
        for (policy, arrives) in [("drop", false), ("hold", false), ("deliver", true)] {
            rig.send(0, 1, policy.as_bytes()).await;
            while rig.metric("chaos_in_flight").await == 0 {
                tokio::task::yield_now().await;
            }
            let added = rig.tell(Command::Add(format!("cut m0-m1 {policy}"))).await;
            let Reply::Fault(row) = added else {
                panic!("{added:?}")
            };
            let arrived = rig.receive_all(1, usize::from(arrives)).await;
            assert_eq!(arrived.len(), usize::from(arrives), "{policy}");
            rig.tell(Command::Remove(row.id)).await;
            let released = rig.receive_all(1, usize::from(policy == "hold")).await;
            assert_eq!(released.len(), usize::from(policy == "hold"), "{policy}");
        }
    });
}

#[test]
fn no_more_is_under_way_than_may_be_and_a_reset_drops_it() {
    let page = Page::default();
    let journal = Journal::new(page.clone());
    let change = |config: &mut Config| {
        config.queue_bytes = 1 << 16;
        config.journal = journal;
    };
    among_changed(2, &["delay 1000s"], change, async |rig| {
        send_packets(rig, 1_000).await;
        let (count, bytes) = (
            rig.metric("chaos_in_flight ").await,
            rig.metric("chaos_in_flight_bytes ").await,
        );
        assert!((100..1_000).contains(&count), "{count} are under way");
        assert!(bytes <= 1 << 16, "{bytes} bytes are under way");
        let crowded = "chaos_datagrams_crowded_out_total{from=\"m0\",to=\"m1\"}";
        assert_eq!(rig.metric(crowded).await, 1_000 - count);
        let Reply::Report(did) = rig.tell(Command::Report).await else {
            panic!("a report");
        };
        let full = did.iter().find(|did| did.step.is_none());
        assert_eq!(full.map(|did| did.count.acted), Some(1_000 - count));

        rig.tell(Command::Reset).await;
        assert_eq!(rig.metric("chaos_in_flight ").await, 0);
        assert_eq!(rig.metric("chaos_in_flight_bytes ").await, 0);
        let lost = "chaos_datagrams_lost_total{from=\"m0\",to=\"m1\"}";
        assert_eq!(rig.metric(lost).await, count);
        rig.send(0, 1, b"at once").await;
        assert_eq!(rig.receive_all(1, 1).await, [b"at once"]);
    });
    let text = String::from_utf8(page.0.borrow().clone()).unwrap();
    let full = text
        .lines()
        .filter(|line| line.contains(r#""event":"full""#));
    assert_eq!(full.count(), 1, "it is said once: {text}");
}

#[test]
fn faults_are_added_changed_and_removed() {
    among(2, &["loss 100% on 1->0"], async |rig| {
        let misread = rig
            .control
            .ask(Command::Add("loss 5% on m0->m7".to_owned()))
            .await;
        let why = misread.unwrap_err().to_string();
        assert!(
            why.contains("loss 5% on m0->m7") && why.contains("^^"),
            "{why}"
        );
        for (text, why) in [
            ("kill 1", "no hold on processes"),
            ("isolate holder", "who is inside"),
            ("when enter 1 cut m0-m1", "not what members do"),
            ("lose message X", "look into datagrams"),
            ("loss 0%", "never do anything"),
            ("delay matrix wan.csv", "--fault-files"),
            ("churn all fail 1ns repair 1ns", "at least 1ms"),
        ] {
            let refused = rig
                .control
                .ask(Command::Add(text.to_owned()))
                .await
                .unwrap_err();
            assert!(refused.to_string().contains(why), "{refused}");
        }
        assert_eq!(
            rig.faults().await.len(),
            1,
            "what was refused changed nothing"
        );

        let id = rig.faults().await[0].id;
        rig.send(1, 0, b"lost").await;
        rig.nothing_arrives(0).await;
        rig.tell(Command::Change(id, "duplicate 100% on m1->m0".to_owned()))
            .await;
        rig.send(1, 0, b"twice").await;
        assert_eq!(rig.receive_all(0, 2).await, [b"twice", b"twice"]);
        rig.tell(Command::Remove(id)).await;
        rig.send(1, 0, b"once").await;
        assert_eq!(rig.receive_all(0, 1).await, [b"once"]);
        assert!(rig.control.ask(Command::Remove(id)).await.is_err());
    });
}

#[test]
fn a_fault_added_later_counts_its_times_from_then() {
    among(2, &[], async |rig| {
        let began = Instant::now();
        rig.tell(Command::Add("cut m0-m1 for 300ms".to_owned()))
            .await;
        let mut n = 0;
        while rig
            .metric("chaos_datagrams_delivered_total{from=\"m0\",to=\"m1\"}")
            .await
            == 0
        {
            rig.send(0, 1, &packet(n)).await;
            n += 1;
            assert!(began.elapsed() < DEADLINE);
        }
        assert!(began.elapsed() >= Duration::from_millis(300));
        assert!(rig.faults().await[0].count.acted > 0);
    });
}

#[test]
fn strangers_change_nothing() {
    among(2, &["loss every 2"], async |rig| {
        let stranger = UdpSocket::bind((LOCALHOST, 0)).await.unwrap();
        let mut bytes = Vec::new();
        for n in 0..10_000_usize {
            bytes.resize(n % 1_500, n as u8);
            stranger.send_to(&bytes, rig.aliases[n % 2]).await.unwrap();
            if n % 50 == 49 {
                while rig.metric("chaos_strays_total").await <= n as u64 {
                    tokio::task::yield_now().await;
                }
            }
        }
        rig.nothing_arrives(0).await;
        rig.nothing_arrives(1).await;
        assert_eq!(
            rig.faults().await[0].count.seen,
            0,
            "no packet of theirs was counted"
        );
        rig.send(0, 1, b"first").await;
        assert_eq!(rig.receive(1).await.0, b"first");
    });
}

#[test]
fn two_hundred_members_all_talk_to_all() {
    let members = 200;
    among(members, &["delay 1ms 500us"], async |rig| {
        let began = Instant::now();
        for apart in 1..members {
            for from in 0..members {
                rig.send(from, (from + apart) % members, &[from as u8])
                    .await;
            }
            for to in 0..members {
                let (bytes, source) = rig.receive(to).await;
                let from = (to + members - apart) % members;
                assert_eq!((bytes[0], source), (from as u8, rig.aliases[from]));
            }
        }
        println!(
            "{} packets in {:?}",
            members * (members - 1),
            began.elapsed()
        );
        assert_eq!(rig.faults().await[0].count.acted, 39_800);
    });
}

/// A place to write to that the test can read.
#[derive(Clone, Default)]
struct Page(Rc<RefCell<Vec<u8>>>);

impl Write for Page {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn the_journal_tells_what_was_done() {
    let page = Page::default();
    among_with(2, &["loss 5%"], Journal::new(page.clone()), async |rig| {
        rig.tell(Command::Add("cut m0-m1".to_owned())).await;
        rig.tell(Command::Heal(None)).await;
        rig.tell(Command::Remove(2)).await;
        rig.tell(Command::Reset).await;
    });
    let text = String::from_utf8(page.0.borrow().clone()).unwrap();
    let lines = text
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let lines = lines.collect::<Vec<_>>();
    let events = lines
        .iter()
        .map(|line| line["event"].as_str().unwrap())
        .collect::<Vec<_>>();
    assert_eq!(events, ["listening", "added", "healed", "removed", "reset"]);
    assert_eq!(lines[0]["faults"][0]["fault"], "loss 5% on all");
    assert_eq!(lines[1]["fault"], "cut m0-m1");
    for line in &lines {
        let utc = line["utc"].as_str().unwrap();
        assert!(utc.starts_with("20") && utc.ends_with('Z'), "{utc}");
    }
    let times = lines.iter().map(|line| line["time_ns"].as_u64().unwrap());
    assert!(times.is_sorted() && lines[4]["time_ns"].as_u64() < Some(20_000 * MS));
}
