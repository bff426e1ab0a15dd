//! Any datagrams, stray or authentic, in any order: nothing panics, and buffers stay bounded.
//!
//! `cargo +nightly fuzz run datagrams` in `node/`. The quick version of this is
//! `node/tests/transport/hostile.rs`.
#![no_main]

use algorithms::NodeId;
use algorithms::registry::LinkOrder;
use libfuzzer_sys::fuzz_target;
use transport::frame::{Header, Key, Seal};
use transport::{Config, Contract, Identity, Timing, Transport};

const ME: NodeId = NodeId(1);
const PEER: NodeId = NodeId(0);

fuzz_target!(|input: &[u8]| {
    let Some((&choice, rest)) = input.split_first() else {
        return;
    };
    let config = config(choice);
    let seal = Seal::new("fuzz", 1, Key::new([7; 32]));
    let identity = Identity {
        me: ME,
        incarnation: 1,
        members: 3,
    };
    let mut transport = Transport::new(config, seal.clone(), identity);
    let mut now = 0;
    let mut number = 0;
    let mut datagram = Vec::new();
    for event in Events(rest) {
        number += 1;
        match event.kind % 4 {
            0 => _ = transport.receive(now, event.bytes, &mut |_| {}),
            1 => transport.send(PEER, event.bytes),
            kind => {
                let header = Header {
                    source: PEER,
                    destination: ME,
                    source_incarnation: u32::from(event.kind >> 6),
                    destination_incarnation: u32::from(kind == 2),
                    number,
                };
                seal.begin(&header, &mut datagram);
                datagram.extend_from_slice(event.bytes);
                seal.close(&mut datagram);
                _ = transport.receive(now, &datagram, &mut |_| {});
            }
        }
        now += 1 << (event.kind >> 2 & 31);
        transport.tick(now, &mut |_| {});
        while transport.poll_transmit(now, &mut datagram).is_some() {
            assert!(datagram.len() <= config.datagram_bytes);
        }
        let most = config.window_bytes.max(2 * config.datagram_bytes) + config.hard_limit_bytes;
        assert!(transport.kept_bytes(PEER) <= most);
    }
});

fn config(choice: u8) -> Config {
    let contract = match choice & 1 {
        0 => Contract::Patient {
            suspect_after_ns: None,
        },
        _ => Contract::Sessions {
            silence_ns: 400_000_000,
        },
    };
    let order = match choice & 2 {
        0 => LinkOrder::Fifo,
        _ => LinkOrder::Any,
    };
    Config {
        contract,
        order,
        timing: Timing {
            cap_ns: 100_000_000,
            ..Timing::default()
        },
        window_bytes: 4_096,
        hard_limit_bytes: 1 << 20,
        ..Config::default()
    }
}

/// Splits an input into events: each a kind, a length, and that number of bytes.
struct Events<'a>(&'a [u8]);

struct Event<'a> {
    kind: u8,
    bytes: &'a [u8],
}

impl<'a> Iterator for Events<'a> {
    type Item = Event<'a>;

    fn next(&mut self) -> Option<Event<'a>> {
        let &[kind, length, ref rest @ ..] = self.0 else {
            return None;
        };
        let (bytes, rest) = rest.split_at(usize::from(length).min(rest.len()));
        self.0 = rest;
        Some(Event { kind, bytes })
    }
}
