//! A member's mail: datagrams in, through the transport, into the line of arrivals; and out again.

use std::collections::VecDeque;
use std::io;

use algorithms::erased::MessageId;
use algorithms::{Change, NodeId};
use tracing::{debug, info, trace};
use wire::Inbox;

use super::Member;
use crate::record::Record;
use crate::recorder::Recorder;
use member::members::Members;
use model::run::TransportRow;
use transport::Transport;
use transport::header::Carried;

/// How many batches are received in a row before the transport is told the time.
const BATCHES_PER_TICK: usize = 64;

/// Something the transport brought that has not been handled.
#[derive(Clone, Copy)]
pub(super) enum Arrival {
    Message {
        from: NodeId,
        message: MessageId,
        delay_ns: u64,
    },
    /// The member posted it to itself: it is handled like a message, and not counted.
    Posted {
        message: MessageId,
    },
    Link {
        neighbour: NodeId,
        change: Change,
    },
    /// A peer has been silent for long enough to be taken for dead, or has begun another life.
    Silence {
        peer: NodeId,
    },
}

impl Member {
    /// Takes in a batch of what has arrived.
    pub(super) fn take_datagrams(&mut self, inbox: &mut Inbox) -> Result<(), String> {
        let places = self
            .port
            .receive(inbox)
            .map_err(|error| cannot_receive(&error))?;
        self.take_batch(inbox, places);
        Ok(())
    }

    /// Takes in everything that has arrived, if the transport is about to give up waiting for
    /// something: what it waits for may be there, while this member had other things to do.
    pub(super) fn take_all_before_ticking(&mut self, inbox: &mut Inbox) -> Result<(), String> {
        for _ in 0..BATCHES_PER_TICK {
            let now = self.now_ns();
            if self.transport.next_deadline().is_none_or(|at| now < at) {
                break;
            }
            let places = self
                .port
                .receive_more(inbox)
                .map_err(|error| cannot_receive(&error))?;
            if places == 0 {
                break;
            }
            self.take_batch(inbox, places);
        }
        Ok(())
    }

    fn take_batch(&mut self, inbox: &Inbox, places: usize) {
        let now_ns = self.now_ns();
        let (transport, mut sink) = self.transport_and_sink(now_ns);
        for (from, datagram) in inbox.datagrams(places) {
            trace!(%from, bytes = datagram.len(), "a frame arrives");
            let received = transport.receive(now_ns, datagram, &mut |notice| sink.take(notice));
            // It has been counted by its reason.
            if let Err(reason) = received {
                debug!(%from, ?reason, "a datagram is not believed");
            }
        }
    }

    /// Tells the transport the time.
    pub(super) fn tick(&mut self, now_ns: u64) {
        let (transport, mut sink) = self.transport_and_sink(now_ns);
        transport.tick(now_ns, &mut |notice| sink.take(notice));
    }

    /// The transport, and what takes what it brings.
    fn transport_and_sink(&mut self, now_ns: u64) -> (&mut Transport, Sink<'_>) {
        let sink = Sink {
            members: &mut self.members,
            arrivals: &mut self.arrivals,
            recorder: &mut self.recorder,
            carried: self.carried,
            now_ns,
        };
        (&mut self.transport, sink)
    }

    /// Sends what the transport has to send.
    ///
    /// A datagram that the kernel does not take (a full queue, a firewall, no route) is lost like one
    /// that the network loses: the bundle counts it, and the transport sends its contents again.
    pub(super) fn transmit(&mut self) {
        let now_ns = self.now_ns();
        while let Some(peer) = self.transport.poll_transmit(now_ns, &mut self.datagram) {
            let to = self.book[peer.index()];
            trace!(%peer, bytes = self.datagram.len(), "a frame leaves");
            if let Err(error) = self.bundle.send(&self.port, to, &self.datagram) {
                debug!(%error, "datagrams were not taken");
            }
        }
        if let Err(error) = self.bundle.flush(&self.port) {
            debug!(%error, "datagrams were not taken");
        }
        if self.port.is_narrow() {
            self.transport.narrow();
        }
    }

    /// What the transport and the socket have counted.
    pub(super) fn wire_counts(&self) -> TransportRow {
        TransportRow {
            unsent: self.bundle.unsent(),
            ..self.transport.counters().into()
        }
    }
}

fn cannot_receive(error: &io::Error) -> String {
    format!("cannot receive: {error}")
}

/// Takes what the transport brings, and puts it in line.
struct Sink<'a> {
    members: &'a mut Option<Members>,
    arrivals: &'a mut VecDeque<Arrival>,
    recorder: &'a mut Recorder,
    /// What travels in front of messages.
    carried: Carried,
    now_ns: u64,
}

impl Sink<'_> {
    fn take(&mut self, notice: transport::Notice<'_>) {
        match notice {
            transport::Notice::Message { from, bytes } => {
                let Some(members) = self.members else {
                    return;
                };
                // It was sealed with this run's key, so its sender meant it; what a member of
                // another build means may still be no message here, and then it is as good as lost.
                let Some((stamp, bytes)) = self.carried.read(bytes) else {
                    return;
                };
                if let Ok(message) = members.group_mut().decode(bytes) {
                    members.came(message, stamp.number, stamp.known);
                    let delay_ns = self.now_ns.saturating_sub(stamp.sent_ns);
                    self.arrivals.push_back(Arrival::Message {
                        from,
                        message,
                        delay_ns,
                    });
                }
            }
            transport::Notice::LinkDown { peer } => {
                info!(%peer, "link down");
                self.arrivals.push_back(Arrival::Link {
                    neighbour: peer,
                    change: Change::Down,
                });
            }
            transport::Notice::LinkUp { peer } => {
                info!(%peer, "link up");
                self.arrivals.push_back(Arrival::Link {
                    neighbour: peer,
                    change: Change::Up,
                });
            }
            // What is lost with an earlier life of a peer is lost.
            transport::Notice::Restarted { peer, .. } => {
                info!(%peer, "in a later life");
                self.arrivals.push_back(Arrival::Silence { peer });
            }
            transport::Notice::Silent { peer } => {
                info!(%peer, "silent for too long");
                self.arrivals.push_back(Arrival::Silence { peer });
            }
            // No algorithm here says how to take back that somebody is dead.
            transport::Notice::Heard { peer } => info!(%peer, "heard again"),
            transport::Notice::RoundTrip { ns, .. } => {
                let measured = Record::RoundTrip { ns };
                self.recorder.add_quietly(self.now_ns, &measured);
            }
        }
    }
}
