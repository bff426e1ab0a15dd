//! Datagrams under way.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::net::SocketAddr;
use std::rc::Rc;

use crate::fate::Member;
use wire::Port;

/// Where a datagram comes from and goes to.
#[derive(Clone)]
pub(super) struct Hop {
    pub from: Member,
    pub to: Member,
    /// The alias it leaves from.
    pub port: Rc<Port>,
    /// Where it goes, if somebody is there.
    pub address: Option<SocketAddr>,
}

/// A datagram under way.
pub(super) struct Flight {
    pub hop: Hop,
    pub sent_ns: u64,
    pub bytes: Vec<u8>,
    /// When it is due, and its number among those put in: the place in the queue that counts, if it
    /// has moved.
    due: (u64, u64),
    /// A cut holds it back.
    held: bool,
}

/// All datagrams under way, by when they are due; those due together in the order they were put in.
pub(super) struct Flights {
    /// The most that may be under way, in bytes with what keeping a datagram costs.
    limit: usize,
    bytes: usize,
    queue: BinaryHeap<Reverse<(u64, u64, usize)>>,
    flights: Vec<Option<Flight>>,
    /// Places of `flights` that are free.
    free: Vec<usize>,
    /// Buffers of datagrams that have landed, to be used again.
    spare: Vec<Vec<u8>>,
    put_in: u64,
}

/// When something is due that nobody knows the time of.
const SOME_DAY: u64 = u64::MAX;
/// What keeping a datagram costs besides its bytes.
const OVERHEAD: usize = size_of::<Option<Flight>>() + 2 * size_of::<(u64, u64, usize)>() + 32;
/// How many buffers are stored for the next datagrams, if they are no longer than usual.
const MOST_SPARE: usize = 1024;
const LONGEST_SPARE: usize = 2048;

impl Flights {
    /// No datagrams yet, and never more than `limit` bytes.
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            bytes: 0,
            queue: BinaryHeap::new(),
            flights: Vec::new(),
            free: Vec::new(),
            spare: Vec::new(),
            put_in: 0,
        }
    }

    /// Puts a datagram in, unless there is no room for it.
    pub(super) fn put(&mut self, due_ns: u64, hop: &Hop, sent_ns: u64, contents: &[u8]) -> bool {
        if self.bytes + contents.len() + OVERHEAD > self.limit {
            return false;
        }
        self.bytes += contents.len() + OVERHEAD;
        let mut bytes = self.spare.pop().unwrap_or_default();
        bytes.clear();
        bytes.extend_from_slice(contents);
        let place = self.free.pop().unwrap_or_else(|| {
            self.flights.push(None);
            self.flights.len() - 1
        });
        let due = self.enqueue(due_ns, place);
        self.flights[place] = Some(Flight {
            hop: hop.clone(),
            sent_ns,
            bytes,
            due,
            held: false,
        });
        true
    }

    /// When the first is due.
    pub(super) fn next_ns(&mut self) -> Option<u64> {
        self.forget_moved();
        let Reverse((due_ns, ..)) = self.queue.peek()?;
        Some(*due_ns).filter(|due_ns| *due_ns < SOME_DAY)
    }

    /// Takes out one that is due by now.
    pub(super) fn land(&mut self, now_ns: u64) -> Option<Flight> {
        if self.next_ns()? > now_ns {
            return None;
        }
        let Reverse((_, _, place)) = self.queue.pop()?;
        self.free.push(place);
        let flight = self.flights[place].take()?;
        self.bytes -= flight.bytes.len() + OVERHEAD;
        Some(flight)
    }

    /// Puts one back that a cut holds, until then or until [`let_go`](Self::let_go).
    pub(super) fn hold(&mut self, mut flight: Flight, until_ns: Option<u64>) {
        let place = self.free.pop().expect("it has just left its place");
        self.bytes += flight.bytes.len() + OVERHEAD;
        flight.held = true;
        flight.due = self.enqueue(until_ns.unwrap_or(SOME_DAY), place);
        self.flights[place] = Some(flight);
    }

    /// Makes everything that is held due now, in the order it was held.
    pub(super) fn let_go(&mut self, now_ns: u64) {
        let held = |place: &usize| {
            self.flights[*place]
                .as_ref()
                .is_some_and(|flight| flight.held)
        };
        let mut places = (0..self.flights.len()).filter(held).collect::<Vec<_>>();
        places.sort_by_key(|place| self.flights[*place].as_ref().map(|flight| flight.due.1));
        for place in places {
            let due = self.enqueue(now_ns, place);
            if let Some(flight) = &mut self.flights[place] {
                flight.due = due;
                flight.held = false;
            }
        }
        // Those that are held again and again leave their earlier places behind.
        if self.queue.len() > 2 * self.count() + MOST_SPARE {
            let due = |entry: &Reverse<(u64, u64, usize)>| {
                let Reverse((due_ns, number, place)) = *entry;
                let flight = self.flights[place].as_ref();
                flight.is_some_and(|flight| flight.due == (due_ns, number))
            };
            self.queue.retain(due);
        }
    }

    /// Empties everything, and returns what was under way. The room it took is free again.
    pub(super) fn clear(&mut self) -> impl Iterator<Item = Hop> + use<> {
        let before = std::mem::replace(self, Self::new(self.limit));
        before
            .flights
            .into_iter()
            .flatten()
            .map(|flight| flight.hop)
    }

    /// Keeps the buffer of one that has landed.
    pub(super) fn recycle(&mut self, flight: Flight) {
        if self.spare.len() < MOST_SPARE && flight.bytes.capacity() <= LONGEST_SPARE {
            self.spare.push(flight.bytes);
        }
    }

    /// The most bytes that may be under way.
    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// How many bytes are under way, with what keeping them costs.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// How many are under way.
    pub(super) fn count(&self) -> usize {
        self.flights.len() - self.free.len()
    }

    fn enqueue(&mut self, due_ns: u64, place: usize) -> (u64, u64) {
        self.put_in += 1;
        self.queue.push(Reverse((due_ns, self.put_in, place)));
        (due_ns, self.put_in)
    }

    /// Drops entries of the queue whose flight has got another place in it.
    fn forget_moved(&mut self) {
        while let Some(Reverse((due_ns, number, place))) = self.queue.peek() {
            let flight = self.flights[*place].as_ref();
            if flight.is_some_and(|flight| flight.due == (*due_ns, *number)) {
                return;
            }
            self.queue.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    /// A hop that nothing is sent on; a port needs a runtime.
    fn hop() -> Hop {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .build();
        let runtime = runtime.expect("a runtime");
        let _inside = runtime.enter();
        let port = Port::bind((Ipv4Addr::LOCALHOST, 0).into(), 1 << 12);
        Hop {
            from: 0,
            to: 1,
            port: Rc::new(port.expect("a free port")),
            address: None,
        }
    }

    fn landed(flights: &mut Flights, now_ns: u64) -> Vec<u8> {
        let mut landed = Vec::new();
        while let Some(flight) = flights.land(now_ns) {
            landed.extend(&flight.bytes);
            flights.recycle(flight);
        }
        landed
    }

    #[test]
    fn they_land_when_due_in_the_order_they_were_put_in() {
        let (mut flights, hop) = (Flights::new(1 << 20), hop());
        for (due_ns, byte) in [(30, 1), (10, 2), (20, 3), (10, 4)] {
            assert!(flights.put(due_ns, &hop, 0, &[byte]));
        }
        assert_eq!(flights.next_ns(), Some(10));
        assert!(landed(&mut flights, 9).is_empty());
        assert_eq!(landed(&mut flights, 10), [2, 4]);
        assert_eq!(landed(&mut flights, 100), [3, 1]);
        assert_eq!((flights.count(), flights.next_ns()), (0, None));
        assert_eq!(flights.bytes(), 0);
    }

    #[test]
    fn what_is_held_comes_when_it_is_let_go_and_only_once() {
        let (mut flights, hop) = (Flights::new(1 << 20), hop());
        for byte in 1..=4 {
            assert!(flights.put(10, &hop, 0, &[byte]));
        }
        for until_ns in [Some(50), None, Some(40)] {
            let flight = flights.land(10).expect("one is due");
            flights.hold(flight, until_ns);
        }
        assert_eq!(landed(&mut flights, 10), [4]);
        assert_eq!(landed(&mut flights, 40), [3]);
        flights.let_go(45);
        assert_eq!(landed(&mut flights, 45), [1, 2]);
        assert!(landed(&mut flights, 1_000).is_empty());
        assert_eq!((flights.count(), flights.next_ns()), (0, None));
        assert_eq!(flights.bytes(), 0);
    }

    #[test]
    fn no_more_is_under_way_than_may_be() {
        let room = 10 * (100 + OVERHEAD);
        let (mut flights, hop) = (Flights::new(room), hop());
        let put = |flights: &mut Flights| flights.put(10, &hop, 0, &[0; 100]);
        let taken = (0..100).filter(|_| put(&mut flights)).count();
        assert_eq!((taken, flights.count(), flights.bytes()), (10, 10, room));
        let first = flights.land(10).expect("one is due");
        flights.recycle(first);
        assert!(put(&mut flights), "there is room for one again");
        assert!(!put(&mut flights));
        assert_eq!(flights.clear().count(), 10);
        assert_eq!((flights.bytes(), flights.next_ns()), (0, None));
        assert!(put(&mut flights));
    }

    /// Asking again and again about what is held takes no more room each time.
    #[test]
    fn what_is_held_for_long_leaves_nothing_behind() {
        let (mut flights, hop) = (Flights::new(1 << 20), hop());
        assert!(flights.put(0, &hop, 0, &[1]));
        for now_ns in 0..10_000 {
            let flight = flights.land(now_ns).expect("it is let go");
            flights.hold(flight, None);
            flights.let_go(now_ns);
        }
        assert!(
            flights.queue.len() <= MOST_SPARE + 3,
            "{}",
            flights.queue.len()
        );
        assert_eq!(landed(&mut flights, 10_000), [1]);
    }
}
