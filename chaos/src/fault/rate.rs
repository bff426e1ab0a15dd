//! A narrow link: `rate 1mbit`, `rate 1mbit limit 100`.

use std::collections::VecDeque;
use std::fmt;
use std::num::{NonZeroU32, NonZeroU64};

use serde::{Deserialize, Serialize};

use super::{Fault, Packet};
use crate::language::{Cursor, FaultError};

/// Packets leave one after the other at this rate, counted without headers. One that finds `limit`
/// others waiting or being sent is lost. netem's limit counts packets that are merely delayed as
/// well; this one does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rate {
    /// How many bits leave in a second.
    pub bits_per_second: NonZeroU64,
    /// The length of the queue in packets; netem's default is 1000.
    pub limit: NonZeroU32,
}

/// The length of the queue by default, as in netem.
pub(super) const DEFAULT_LIMIT: NonZeroU32 = NonZeroU32::new(1000).expect("1000 is not 0");

/// When the packets in the queue will have left, the last one last.
pub(super) type Queue = VecDeque<u64>;

impl Fault for Rate {
    type Memory = Queue;

    fn apply(&self, queue: &mut Queue, packet: &mut Packet<'_>) -> bool {
        let mut acted = false;
        packet.fate.copies.retain(|copy| {
            let arrives_ns = packet.datagram.sent_ns.saturating_add(copy.delay_ns);
            while queue
                .front()
                .is_some_and(|leaves_ns| *leaves_ns <= arrives_ns)
            {
                queue.pop_front();
            }
            acted = true;
            if queue.len() >= self.limit.get() as usize {
                return false;
            }
            let begins_ns = queue
                .back()
                .map_or(arrives_ns, |last_ns| arrives_ns.max(*last_ns));
            let leaves_ns =
                begins_ns.saturating_add(self.takes_ns(copy.length(packet.datagram.size)));
            queue.push_back(leaves_ns);
            copy.delay_ns = leaves_ns - packet.datagram.sent_ns;
            true
        });
        acted
    }
}

impl Rate {
    /// How long a packet of this length takes to be sent.
    pub fn takes_ns(&self, bytes: u32) -> u64 {
        let bits = u128::from(bytes) * 8 * 1_000_000_000;
        u64::try_from(bits.div_ceil(u128::from(self.bits_per_second.get()))).unwrap_or(u64::MAX)
    }
}

fault_info! { Rate at Queue;
    "rate RATE [limit PACKETS]", as in "rate 1mbit limit 100 on 3->all", by parse:
    "Packets leave one after the other, at RATE per second (bit, kbit, mbit, gbit; headers not \
     counted). One that finds PACKETS (by default 1000) waiting or being sent is lost. netem's \
     limit counts delayed packets too."
}

fn parse(cursor: &mut Cursor<'_>) -> Result<Rate, FaultError> {
    const RIGHT: &str = "write a rate above 0 in bit, kbit, mbit or gbit per second, such as 1mbit";
    let place = cursor.place();
    let Some(bits_per_second) = NonZeroU64::new(cursor.amount(&RATE_UNITS, RIGHT)?) else {
        return Err(cursor.error(place, "nothing would ever pass", RIGHT));
    };
    let limit = cursor.count_after("limit", "how many packets may wait", DEFAULT_LIMIT)?;
    Ok(Rate {
        bits_per_second,
        limit,
    })
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bits = self.bits_per_second.get();
        let (size, unit) = RATE_UNITS
            .into_iter()
            .find(|(size, _)| bits.is_multiple_of(*size))
            .expect("every whole number is a multiple of 1 bit");
        write!(f, "rate {}{unit}", bits / size)?;
        if self.limit != DEFAULT_LIMIT {
            write!(f, " limit {}", self.limit)?;
        }
        Ok(())
    }
}

/// The units of a rate, largest first, in bits per second.
pub(super) const RATE_UNITS: [(u64, &str); 4] = [
    (1_000_000_000, "gbit"),
    (1_000_000, "mbit"),
    (1_000, "kbit"),
    (1, "bit"),
];
