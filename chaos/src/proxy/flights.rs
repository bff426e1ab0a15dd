//! Datagrams under way.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::fate::Member;

/// A datagram under way.
#[derive(Debug)]
pub(super) struct Flight {
    pub from: Member,
    pub to: Member,
    pub sent_ns: u64,
    pub bytes: Vec<u8>,
    /// When it is due, and its number among those put in: the place in the queue that counts, if it
    /// has moved.
    due: (u64, u64),
    /// A cut holds it back.
    held: bool,
}

/// All datagrams under way, by when they are due; those due together in the order they were put in.
#[derive(Debug, Default)]
pub(super) struct Flights {
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

impl Flights {
    /// Puts a datagram in, and returns its bytes to be filled.
    pub fn put(&mut self, due_ns: u64, from: Member, to: Member, sent_ns: u64) -> &mut Vec<u8> {
        let mut bytes = self.spare.pop().unwrap_or_default();
        bytes.clear();
        let place = self.free.pop().unwrap_or_else(|| {
            self.flights.push(None);
            self.flights.len() - 1
        });
        let due = self.enqueue(due_ns, place);
        let flight = self.flights[place].insert(Flight {
            from,
            to,
            sent_ns,
            bytes,
            due,
            held: false,
        });
        &mut flight.bytes
    }

    /// When the first is due.
    pub fn next_ns(&mut self) -> Option<u64> {
        self.forget_moved();
        let Reverse((due_ns, ..)) = self.queue.peek()?;
        Some(*due_ns).filter(|due_ns| *due_ns < SOME_DAY)
    }

    /// Takes out one that is due by now.
    pub fn land(&mut self, now_ns: u64) -> Option<Flight> {
        if self.next_ns()? > now_ns {
            return None;
        }
        let Reverse((_, _, place)) = self.queue.pop()?;
        self.free.push(place);
        self.flights[place].take()
    }

    /// Puts one back that a cut holds, until then or until [`let_go`](Self::let_go).
    pub fn hold(&mut self, mut flight: Flight, until_ns: Option<u64>) {
        let place = self.free.pop().expect("it has just left its place");
        flight.held = true;
        flight.due = self.enqueue(until_ns.unwrap_or(SOME_DAY), place);
        self.flights[place] = Some(flight);
    }

    /// Makes everything that is held due now, in the order it was held.
    pub fn let_go(&mut self, now_ns: u64) {
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
    }

    /// Keeps the buffer of one that has landed.
    pub fn recycle(&mut self, flight: Flight) {
        self.spare.push(flight.bytes);
    }

    /// How many are under way.
    pub fn count(&self) -> usize {
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
    use super::*;

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
        let mut flights = Flights::default();
        for (due_ns, byte) in [(30, 1), (10, 2), (20, 3), (10, 4)] {
            flights.put(due_ns, 0, 1, 0).push(byte);
        }
        assert_eq!(flights.next_ns(), Some(10));
        assert!(landed(&mut flights, 9).is_empty());
        assert_eq!(landed(&mut flights, 10), [2, 4]);
        assert_eq!(landed(&mut flights, 100), [3, 1]);
        assert_eq!((flights.count(), flights.next_ns()), (0, None));
    }

    #[test]
    fn what_is_held_comes_when_it_is_let_go_and_only_once() {
        let mut flights = Flights::default();
        for byte in 1..=4 {
            flights.put(10, 0, 1, 0).push(byte);
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
    }
}
