//! What the children say, and that they ended.

use algorithms::NodeId;
use member::faults::processes::Sighting;
use node::control::{FromMember, ToMember};
use tokio::time::Instant;

use super::Supervisor;
use super::seat::Life;
use crate::child::{Ended, Heard, Output};
use crate::place::Place;
use crate::proxy;
use crate::settled::Finding;
use model::engine::EngineError;

impl Supervisor<'_> {
    /// Takes in a child's report, or that the child ended. Returns a round of answers that is complete now.
    pub(crate) fn hear(&mut self, heard: Heard) -> Result<Option<Finding>, EngineError> {
        let (from, incarnation, what) = match heard {
            Heard::Member {
                from,
                incarnation,
                what,
            } => (from, incarnation, what),
            Heard::Proxy { host, what } => return self.hear_proxy(host, what).map(|()| None),
            Heard::Lost { host, why } => return Err(self.lose(host, &why)),
        };
        let seat = &mut self.seats[from.index()];
        if incarnation != seat.incarnation {
            return Ok(None);
        }
        let report = match what {
            Output::Message(report) => report,
            Output::Unparsable(line) => {
                return Err(EngineError::Testbed(format!(
                    "{} sent a line that is not a report: {line}",
                    self.place.who(from)
                )));
            }
            Output::Ended(ended) => return self.ended(from, ended).map(|()| None),
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
                    let zero = self.zero_of(from);
                    self.seats[from.index()].tell(ToMember::Go { zero });
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
            FromMember::Seen(glance) => self.seen(from, *glance),
            FromMember::Done {
                state_bytes,
                peak_state_bytes,
                usage,
            } => seat.done = Some((state_bytes, peak_state_bytes, usage)),
            FromMember::ProgramFailed => self.program_failed = true,
            FromMember::Failed { why } => {
                let who = self.place.who(from);
                return Err(EngineError::Testbed(format!("{who} failed: {why}")));
            }
        }
        Ok(None)
    }

    /// Takes in the proxy's report, or that the proxy ended.
    fn hear_proxy(
        &mut self,
        host: usize,
        what: Output<proxy::FromProxy>,
    ) -> Result<(), EngineError> {
        let who = self.place.proxy_name(host);
        let Some(proxy) = self.proxies.get_mut(host) else {
            return Ok(());
        };
        match what {
            Output::Message(report) => {
                if let Some(step) = proxy.hear(report) {
                    self.enacted(step);
                }
                Ok(())
            }
            Output::Unparsable(line) => Err(EngineError::Testbed(format!(
                "{who} sent a line that is not a report: {line}"
            ))),
            Output::Ended(_) if proxy.did.is_some() || proxy.given_up => {
                proxy.ended = true;
                Ok(())
            }
            Output::Ended(ended) => {
                proxy.ended = true;
                Err(died_unasked(&who, ended))
            }
        }
    }

    /// A host is lost: nobody waits any more for what is on it.
    fn lose(&mut self, host: usize, why: &str) -> EngineError {
        for node in self.place.members(host) {
            let seat = &mut self.seats[node.index()];
            seat.child = None;
            seat.given_up = true;
        }
        if let Some(proxy) = self.proxies.get_mut(host) {
            proxy.ended = true;
            proxy.given_up = true;
        }
        let Place::Hosts { fleet, .. } = &mut self.place else {
            return EngineError::Testbed(why.to_owned());
        };
        fleet.lose(host);
        EngineError::Testbed(format!("host {} is lost: {why}", fleet.name(host)))
    }

    /// A child has been reaped: as it should, or unasked.
    fn ended(&mut self, node: NodeId, ended: Ended) -> Result<(), EngineError> {
        let seat = &mut self.seats[node.index()];
        if let Some(child) = seat.child.take()
            && self.plan.info().program().is_some()
        {
            child.end_programs();
        }
        match seat.life {
            Life::Killed(revive_after_ns) => {
                seat.life = Life::Dead;
                self.reaped(node, revive_after_ns);
                Ok(())
            }
            _ if seat.done.is_some() || seat.given_up => Ok(()),
            _ => {
                self.died_unasked(node);
                Err(died_unasked(&self.place.who(node), ended))
            }
        }
    }
}

/// What there is to say of a child that should have lived.
fn died_unasked(who: &str, ended: Ended) -> EngineError {
    let Ended { status, stderr_end } = ended;
    let status = status.map_or_else(|error| error.to_string(), |status| status.to_string());
    let reported = match stderr_end.as_str() {
        "" => "it wrote nothing to stderr".to_owned(),
        words => format!("the end of its stderr:\n{words}"),
    };
    EngineError::Testbed(format!("{who} died unexpectedly ({status}); {reported}"))
}
