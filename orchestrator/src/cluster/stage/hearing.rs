//! What the children say, and that they ended.

use std::io;
use std::path::Path;
use std::process::ExitStatus;

use algorithms::NodeId;
use member::faults::processes::Sighting;
use node::control::{Order, Report};
use tokio::time::Instant;

use super::Stage;
use super::place::Life;
use crate::Failure;
use crate::cluster::child::{Heard, Voice, last_lines};
use crate::cluster::proxy;
use crate::cluster::settled::Finding;

impl Stage<'_> {
    /// Takes in what a child said, or that it ended. A completed round of answers comes back.
    pub(super) fn hear(&mut self, heard: Heard) -> Result<Option<Finding>, Failure> {
        let (from, incarnation, what) = match heard {
            Heard::Member {
                from,
                incarnation,
                what,
            } => (from, incarnation, what),
            Heard::Proxy(what) => return self.hear_proxy(what).map(|()| None),
        };
        let place = &mut self.places[from.index()];
        if incarnation != place.incarnation {
            return Ok(None);
        }
        let report = match what {
            Voice::Said(report) => report,
            Voice::Muttered(line) => {
                return Err(Failure::Testbed(format!(
                    "member {from} said something that is no report: {line}"
                )));
            }
            Voice::Ended(status) => {
                let died = Death {
                    node: from,
                    incarnation,
                    status,
                };
                return self.ended(died).map(|()| None);
            }
        };
        match report {
            Report::Hello { port } => {
                place.port = port;
                if place.life == Life::Revived {
                    self.introduce_to(from);
                }
            }
            Report::Ready => {
                place.ready = true;
                if place.life == Life::Revived {
                    place.tell(Order::Go {
                        zero_ns: self.zero_ns,
                    });
                }
            }
            Report::Idle => {
                place.idle = true;
                if self.all_idle() {
                    self.ask_at = Instant::now();
                }
            }
            Report::Counts { round, counts } => {
                return Ok(self.rounds.answer(from.index(), round, counts));
            }
            Report::Hit { step } => self.hit(step, from),
            Report::Halted {
                inside_since_ns,
                token_since_ns,
            } => {
                self.halted(Sighting {
                    node: from,
                    inside_since_ns,
                    token_since_ns,
                });
            }
            Report::Done { state_bytes, usage } => place.done = Some((state_bytes, usage)),
            Report::Failed { why } => {
                return Err(Failure::Testbed(format!("member {from} failed: {why}")));
            }
        }
        Ok(None)
    }

    /// Takes in what the proxy said, or that it ended.
    fn hear_proxy(&mut self, what: Voice<proxy::Report>) -> Result<(), Failure> {
        let Some(proxy) = &mut self.proxy else {
            return Ok(());
        };
        match what {
            Voice::Said(report) => {
                if let Some(step) = proxy.hear(report) {
                    self.in_force(step);
                }
                Ok(())
            }
            Voice::Muttered(line) => Err(Failure::Testbed(format!(
                "the proxy said something that is no report: {line}"
            ))),
            Voice::Ended(_) if proxy.did.is_some() || proxy.given_up => {
                proxy.ended = true;
                Ok(())
            }
            Voice::Ended(status) => {
                proxy.ended = true;
                let last_words = self.launcher.proxys_last_words();
                Err(died_unasked("the proxy", status, &last_words))
            }
        }
    }

    /// A child has been reaped: as it should, or unasked.
    fn ended(&mut self, death: Death) -> Result<(), Failure> {
        let Death {
            node,
            incarnation,
            status,
        } = death;
        let place = &mut self.places[node.index()];
        place.child = None;
        match place.life {
            Life::Killed(revive_after_ns) => {
                place.life = Life::Dead;
                self.buried(node, revive_after_ns);
                Ok(())
            }
            _ if place.done.is_some() || place.given_up => Ok(()),
            _ => {
                self.died_unasked(node);
                let last_words = self.launcher.last_words(node, incarnation);
                Err(died_unasked(&format!("member {node}"), status, &last_words))
            }
        }
    }
}

/// A child that has been reaped.
struct Death {
    node: NodeId,
    incarnation: u32,
    status: io::Result<ExitStatus>,
}

/// What there is to say of a child that should have lived.
fn died_unasked(who: &str, status: io::Result<ExitStatus>, last_words: &Path) -> Failure {
    let status = status.map_or_else(|error| error.to_string(), |status| status.to_string());
    let said = match last_lines(last_words).as_str() {
        "" => "it said nothing on stderr".to_owned(),
        words => format!("its last words:\n{words}"),
    };
    Failure::Testbed(format!("{who} died unasked ({status}); {said}"))
}
