//! What the transport costs without a network: nanoseconds per frame and per message.
//!
//! `cargo run --release -p node --example transport_cost`
#![expect(clippy::print_stdout, reason = "printing is what it is for")]

use std::hint::black_box;
use std::time::Instant;

use algorithms::NodeId;
use transport::frame::{Header, Key, Seal};
use transport::{Config, Identity, Notice, Transport};

/// Short enough to fit into one slice of processor time.
const ROUNDS: u64 = 2_000;
const RUNS: u64 = 200;
const A: NodeId = NodeId(0);
const B: NodeId = NodeId(1);

fn main() {
    println!("least of {RUNS} runs, nanoseconds");
    for length in [8, 16, 64, 256, 1_000] {
        let frame = least(|| sealed_and_opened(length));
        let hop = least(|| token_hops(length));
        let one_way = least(|| one_way(length));
        println!(
            "{length:>5} bytes: {frame:>5.0} to seal and open a frame, {hop:>5.0} per token hop, \
             {one_way:>5.0} per message one way"
        );
    }
    let bytes = 40_000;
    let token = least(|| large(bytes));
    println!("{bytes:>5} bytes: {token:>5.0} per message, in fragments");
}

fn seal() -> Seal {
    Seal::new("cost", 1, Key::new([1; 32]))
}

/// The least of many short runs: what other processes take from the machine is not our cost.
fn least(mut measure: impl FnMut() -> f64) -> f64 {
    (0..RUNS).map(|_| measure()).fold(f64::INFINITY, f64::min)
}

fn per(rounds: u64, work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_nanos() as f64 / rounds as f64
}

/// The cost of sealing and opening a frame, without a transport.
fn sealed_and_opened(length: usize) -> f64 {
    let seal = seal();
    let body = vec![7; length];
    let mut datagram = Vec::new();
    let rounds = ROUNDS;
    per(rounds, || {
        for number in 1..=rounds {
            let header = Header {
                source: A,
                destination: B,
                source_incarnation: 0,
                destination_incarnation: 0,
                number,
            };
            seal.begin(&header, &mut datagram);
            datagram.extend_from_slice(&body);
            seal.close(&mut datagram);
            black_box(seal.open(B, 2, &datagram)).expect("our own frame opens");
        }
    })
}

/// Two transports with nothing but time between them.
struct Two {
    ends: [Transport; 2],
    now: u64,
    datagram: Vec<u8>,
}

impl Two {
    fn new() -> Self {
        let end = |me| {
            let identity = Identity {
                me,
                incarnation: 0,
                members: 2,
            };
            Transport::new(Config::default(), seal(), identity)
        };
        Self {
            ends: [end(A), end(B)],
            now: 0,
            datagram: Vec::new(),
        }
    }

    /// Lets one end send what it wants to and the other take it; says how many messages arrived.
    fn pass(&mut self, from: usize) -> u64 {
        let mut arrived = 0;
        self.now += 10_000;
        let [a, b] = &mut self.ends;
        let (source, target) = if from == 0 { (a, b) } else { (b, a) };
        source.tick(self.now, &mut |_| {});
        while source.poll_transmit(self.now, &mut self.datagram).is_some() {
            let mut sink = |event: Notice<'_>| {
                black_box(event);
                arrived += 1;
            };
            let taken = target.receive(self.now, &self.datagram, &mut sink);
            taken.expect("nothing is wrong with it");
        }
        arrived
    }
}

/// One message there, one back: all acknowledgements travel with messages.
fn token_hops(length: usize) -> f64 {
    let mut two = Two::new();
    let message = vec![7; length];
    let rounds = ROUNDS;
    per(rounds, || {
        for round in 0..rounds {
            let from = (round % 2) as usize;
            let to = if from == 0 { B } else { A };
            two.ends[from].send(to, &message);
            assert_eq!(two.pass(from), 1);
        }
    })
}

/// A stream in bursts of ten, with the acknowledgements it takes.
fn one_way(length: usize) -> f64 {
    let mut two = Two::new();
    let message = vec![7; length];
    let rounds = ROUNDS;
    per(rounds, || {
        let mut arrived = 0;
        for _ in 0..rounds / 10 {
            for _ in 0..10 {
                two.ends[0].send(B, &message);
            }
            arrived += two.pass(0);
            two.pass(1);
        }
        for _ in 0..50 {
            arrived += two.pass(0);
            two.pass(1);
        }
        assert_eq!(arrived, rounds);
    })
}

/// A token with ten thousand entries of four bytes.
fn large(length: usize) -> f64 {
    let mut two = Two::new();
    let message = vec![7; length];
    let rounds = 20;
    per(rounds, || {
        for _ in 0..rounds {
            two.ends[0].send(B, &message);
            let mut arrived = 0;
            while arrived == 0 {
                arrived += two.pass(0);
                two.pass(1);
            }
        }
    })
}
