//! What the children say, and that they ended.

use std::io;
use std::path::Path;
use std::process::ExitStatus;

use algorithms::NodeId;
use member::faults::processes::Sighting;
use node::control::{FromMember, ToMember};
use tokio::time::Instant;

use super::Supervisor;
use super::seat::Life;
use crate::child::{Heard, Output, last_lines};
use crate::proxy;
use crate::settled::Finding;
use model::engine::EngineError;

impl Supervisor<'_> {
    /// Takes in what a child said, or that it ended. A completed round of answers comes back.
    pub(crate) fn hear(&mut self, heard: Heard) -> Result<Option<Finding>, EngineError> {
        let (from, incarnation, what) = match heard {
            Heard::Member {
                from,
                incarnation,
                what,
            } => (from, incarnation, what),
            Heard::Proxy(what) => return self.hear_proxy(what).map(|()| None),
        };
        let seat = &mut self.seats[from.index()];
        if incarnation != seat.incarnation {
            return Ok(None);
        }
        let report = match what {
            Output::Message(report) => report,
            Output::Unparsable(line) => {
                return Err(EngineError::Testbed(format!(
                    "member {from} sent a line that is not a report: {line}"
                )));
            }
            Output::Ended(status) => {
                let died = Death {
                    node: from,
                    incarnation,
                    status,
                };
                return self.ended(died).map(|()| None);
            }
        };
        match report {
            FromMember::Hello { port } => {
                seat.port = port;
                if seat.life == Life::Revived {
                    self.introduce_to(from);
                }
            }
            FromMember::Ready => {
                seat.ready = true;
                if seat.life == Life::Revived {
                    seat.tell(ToMember::Go {
                        zero_ns: self.zero_ns,
                    });
                }
            }
            FromMember::Idle => {
                seat.idle = true;
                if self.all_idle() {
                    self.ask_at = Instant::now();
                }
            }
            FromMember::Counts { round, counts } => {
                return Ok(self.rounds.answer(from.index(), round, counts));
            }
            FromMember::Hit { step } => self.hit(step, from),
            FromMember::Halted {
                inside_since_ns,
                token_since_ns,
            } => {
                self.halted(Sighting {
                    node: from,
                    inside_since_ns,
                    token_since_ns,
                });
            }
            FromMember::Done { state_bytes, usage } => seat.done = Some((state_bytes, usage)),
            FromMember::Failed { why } => {
                return Err(EngineError::Testbed(format!("member {from} failed: {why}")));
            }
        }
        Ok(None)
    }

    /// Takes in what the proxy said, or that it ended.
    fn hear_proxy(&mut self, what: Output<proxy::FromProxy>) -> Result<(), EngineError> {
        let Some(proxy) = &mut self.proxy else {
            return Ok(());
        };
        match what {
            Output::Message(report) => {
                if let Some(step) = proxy.hear(report) {
                    self.in_force(step);
                }
                Ok(())
            }
            Output::Unparsable(line) => Err(EngineError::Testbed(format!(
                "the proxy sent a line that is not a report: {line}"
            ))),
            Output::Ended(_) if proxy.did.is_some() || proxy.given_up => {
                proxy.ended = true;
                Ok(())
            }
            Output::Ended(status) => {
                proxy.ended = true;
                let stderr_log = self.launcher.proxy_stderr_log();
                Err(died_unasked("the proxy", status, &stderr_log))
            }
        }
    }

    /// A child has been reaped: as it should, or unasked.
    fn ended(&mut self, death: Death) -> Result<(), EngineError> {
        let Death {
            node,
            incarnation,
            status,
        } = death;
        let seat = &mut self.seats[node.index()];
        seat.child = None;
        match seat.life {
            Life::Killed(revive_after_ns) => {
                seat.life = Life::Dead;
                self.reaped(node, revive_after_ns);
                Ok(())
            }
            _ if seat.done.is_some() || seat.given_up => Ok(()),
            _ => {
                self.died_unasked(node);
                let stderr_log = self.launcher.stderr_log(node, incarnation);
                Err(died_unasked(&format!("member {node}"), status, &stderr_log))
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
fn died_unasked(who: &str, status: io::Result<ExitStatus>, stderr_log: &Path) -> EngineError {
    let status = status.map_or_else(|error| error.to_string(), |status| status.to_string());
    let last_words = match last_lines(stderr_log).as_str() {
        "" => "it wrote nothing to stderr".to_owned(),
        words => format!("the end of its stderr:\n{words}"),
    };
    EngineError::Testbed(format!("{who} died unexpectedly ({status}); {last_words}"))
}
