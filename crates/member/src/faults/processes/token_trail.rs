//! Where the token was, moment by moment.

use algorithms::NodeId;
use model::plan::Plan;
use model::run::FaultOutcome;

/// The places of the token in the order it was there; empty where there is no token.
#[derive(Debug)]
pub struct TokenTrail {
    /// The kind of message that carries it.
    kind: Option<&'static str>,
    trail: Vec<(u64, Whereabouts)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whereabouts {
    With(NodeId),
    OnItsWay { from: NodeId, to: NodeId },
}

impl TokenTrail {
    /// The trail at the start of the planned run.
    pub fn new(plan: &Plan, kinds: &[&str]) -> Self {
        let kind = plan.info().token.filter(|token| kinds.contains(token));
        let start = (0, Whereabouts::With(plan.holder));
        Self {
            kind,
            trail: Vec::from_iter(kind.map(|_| start)),
        }
    }

    /// A message of that kind was sent.
    pub fn sent(&mut self, at_ns: u64, kind: &str, from: NodeId, to: NodeId) {
        if Some(kind) == self.kind {
            self.trail.push((at_ns, Whereabouts::OnItsWay { from, to }));
        }
    }

    /// A message of that kind arrived; says whether it carried the token.
    pub fn received(&mut self, at_ns: u64, kind: &str, by: NodeId) -> bool {
        let carried = Some(kind) == self.kind;
        if carried {
            self.trail.push((at_ns, Whereabouts::With(by)));
        }
        carried
    }

    /// Adds to a death where the token was then.
    pub fn explain(&self, mut fault: FaultOutcome) -> FaultOutcome {
        let (true, Some(victim), Some(died_ns)) = (fault.is_death(), fault.victim(), fault.at_ns())
        else {
            return fault;
        };
        let before = self.trail.partition_point(|(at_ns, _)| *at_ns <= died_ns);
        if let Some((_, place)) = self.trail[..before].last() {
            fault.remark = Some(match *place {
                Whereabouts::With(node) if node == victim => "the token was with it".to_owned(),
                Whereabouts::With(node) => format!("the token was with {node}"),
                Whereabouts::OnItsWay { to, .. } if to == victim => {
                    "the token was on its way to it".to_owned()
                }
                Whereabouts::OnItsWay { from, to } => {
                    format!("the token was on its way from {from} to {to}")
                }
            });
        }
        fault
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::run::{FaultKind, Happened};

    #[test]
    fn a_death_says_where_the_token_was() {
        let (zero, one) = (NodeId(0), NodeId(1));
        let trail = TokenTrail {
            kind: Some("TOKEN"),
            trail: vec![
                (0, Whereabouts::With(zero)),
                (
                    10,
                    Whereabouts::OnItsWay {
                        from: zero,
                        to: one,
                    },
                ),
                (20, Whereabouts::With(one)),
            ],
        };
        let explained = |time_ns, victim| {
            let happened = Happened::from(time_ns, None);
            let fault = FaultOutcome::unasked(FaultKind::Kill, NodeId(victim), happened);
            let remark = trail.explain(fault).remark;
            remark.expect("a death with a token about")
        };
        assert_eq!(explained(5, 0), "the token was with it");
        assert_eq!(explained(15, 1), "the token was on its way to it");
        assert_eq!(explained(15, 2), "the token was on its way from 0 to 1");
        assert_eq!(explained(25, 0), "the token was with 1");
        let pause = Happened::from(5, Some(6));
        let pause = FaultOutcome::unasked(FaultKind::Pause, zero, pause);
        assert_eq!(trail.explain(pause).remark, None);
    }
}
