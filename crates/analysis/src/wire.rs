//! What a reader should know of the datagrams of a run: those that the machine lost, where only the
//! faults that were asked for should have lost any, and those that nobody in the run had sent.

use algorithms::registry::LinkContract;
use chaos::Totals;
use chaos::fault::Stage;
use chaos::process_fault::ProcessEffect;
use chaos::timeline::FaultAction;
use model::plan::Plan;
use model::run::{Engine, Run, TransportRow, deaths};
use transport::frame::Rejected;

use crate::prose;

/// A run from which so large a share of the datagrams vanished is told, if that is more than
/// `FEW` datagrams.
const MANY_VANISHED: f64 = 0.1;
/// Fewer datagrams than this are not worth a warning.
const FEW: u64 = 100;

/// All there is to say.
pub(crate) fn warnings(plan: &Plan, run: &Run) -> Vec<String> {
    let told = [
        overflowed(run),
        unsent(run),
        vanished(run),
        rejected(plan, run),
    ];
    told.into_iter().flatten().collect()
}

fn sum(run: &Run, count: fn(&TransportRow) -> u64) -> u64 {
    run.transport.values().map(count).sum()
}

fn at_proxy(run: &Run, count: fn(&Totals) -> u64) -> u64 {
    run.proxy.as_ref().map_or(0, count)
}

/// Datagrams that found a socket full.
fn overflowed(run: &Run) -> Option<String> {
    let members = sum(run, |row| row.overflowed.unwrap_or(0));
    let proxy = at_proxy(run, |totals| totals.overflowed.unwrap_or(0));
    (members + proxy > 0).then(|| {
        format!(
            "the kernel dropped {} at full sockets ({members} at members, {proxy} at the proxy), so \
             timings were spoiled by the machine.\nRun fewer members, or on a machine with less to do.",
            prose::count(members + proxy, "datagram", "datagrams"),
        )
    })
}

/// Datagrams that the kernel did not take.
fn unsent(run: &Run) -> Option<String> {
    let members = sum(run, |row| row.unsent);
    let proxy = at_proxy(run, |totals| totals.unsent);
    (members + proxy > 0).then(|| {
        format!(
            "the kernel did not take {} ({members} of members, {proxy} of the proxy): a full queue, a \
             firewall or no route.",
            prose::count(members + proxy, "datagram", "datagrams"),
        )
    })
}

/// Datagrams that were sent and did not arrive, and that no fault has lost. Where members were killed
/// nobody knows how much those received, and a simulated network loses nothing of its own accord.
fn vanished(run: &Run) -> Option<String> {
    if run.engine == Engine::Sim || !deaths(&run.faults).is_empty() {
        return None;
    }
    let sent = sum(run, |row| row.datagrams_sent);
    let received = sum(run, |row| row.datagrams_received);
    let lost = at_proxy(run, |totals| totals.lost);
    let explained = lost + at_proxy(run, |totals| totals.under_way);
    let expected = (sent + at_proxy(run, |totals| totals.doubled)).saturating_sub(explained);
    let vanished = expected.saturating_sub(received);
    (vanished > FEW && vanished as f64 > MANY_VANISHED * sent as f64).then(|| {
        format!(
            "of {} sent, {received} arrived; the faults that were asked for explain {lost} losses, and \
             {vanished} more vanished: the machine could not carry the load.",
            prose::count(sent, "datagram", "datagrams"),
        )
    })
}

/// Datagrams that were not believed, unless the run's faults make such.
fn rejected(plan: &Plan, run: &Run) -> Option<String> {
    let by_reason = Rejected::ALL.map(|reason| {
        let rows = run.transport.values();
        let count: u64 = rows.map(|row| row.rejected_for[reason as usize]).sum();
        (reason, count)
    });
    let unexplained = by_reason.into_iter();
    let unexplained = unexplained.filter(|&(reason, count)| count > 0 && !explains(plan, reason));
    let unexplained = unexplained.collect::<Vec<_>>();
    let all: u64 = unexplained.iter().map(|(_, count)| count).sum();
    (all >= FEW).then(|| {
        let reasons = unexplained
            .iter()
            .map(|(reason, count)| format!("{count} {}", reason.name().replace('_', " ")));
        format!(
            "{} rejected that this run's members and faults did not make: {}.",
            prose::count(all, "datagram was", "datagrams were"),
            reasons.collect::<Vec<_>>().join(", "),
        )
    })
}

/// Whether the plan itself leads to datagrams that are rejected for this reason.
fn explains(plan: &Plan, reason: Rejected) -> bool {
    let actions = || plan.faults.steps.iter().map(|step| &step.action);
    match reason {
        Rejected::Duplicate | Rejected::Replayed => true,
        Rejected::StaleSource | Rejected::StaleDestination => {
            actions().any(|action| match action {
                FaultAction::Process(_, ProcessEffect::End { start_after_ns }) => {
                    start_after_ns.is_some()
                }
                _ => false,
            })
        }
        Rejected::OtherSession => plan.info().link_contract == LinkContract::Sessions,
        Rejected::TooShort
        | Rejected::WrongVersion
        | Rejected::OtherRun
        | Rejected::OtherAlgorithm
        | Rejected::NotForUs
        | Rejected::UnknownSource
        | Rejected::BadMac
        | Rejected::Malformed => actions().any(|action| match action {
            FaultAction::Links(bad) => bad
                .iter()
                .any(|bad| matches!(bad.fault.stage(), Stage::Length | Stage::Bits)),
            _ => false,
        }),
    }
}

#[cfg(test)]
mod tests {
    use algorithms::NodeId;

    use super::*;
    use crate::fixtures::plan;

    fn run(row: TransportRow, proxy: Option<Totals>) -> Run {
        Run {
            engine: Engine::Cluster,
            transport: [(NodeId(0), row)].into(),
            proxy,
            ..Run::default()
        }
    }

    fn told(row: TransportRow, proxy: Option<Totals>) -> Vec<String> {
        warnings(&plan("raymond", 2), &run(row, proxy))
    }

    const QUIET: TransportRow = TransportRow {
        datagrams_sent: 10_000,
        datagrams_received: 9_500,
        acks: 0,
        retransmissions: 0,
        duplicates: 0,
        rejected: 0,
        bytes: 0,
        unsent: 0,
        overflowed: Some(0),
        rejected_for: [0; Rejected::ALL.len()],
    };

    const LOSES: Totals = Totals {
        received: 10_000,
        delivered: 9_500,
        lost: 500,
        doubled: 0,
        under_way: 0,
        strays: 0,
        unsent: 0,
        overflowed: Some(0),
    };

    #[test]
    fn what_the_faults_explain_is_no_warning() {
        assert_eq!(told(QUIET, Some(LOSES)), [] as [String; 0]);
    }

    #[test]
    fn far_fewer_arrivals_than_the_faults_explain_are_told_with_numbers() {
        let row = TransportRow {
            datagrams_received: 3_000,
            ..QUIET
        };
        let told = told(row, Some(LOSES));
        assert_eq!(
            told,
            [
                "of 10000 datagrams sent, 3000 arrived; the faults that were asked for explain 500 \
              losses, and 6500 more vanished: the machine could not carry the load."
            ]
        );
    }

    #[test]
    fn a_simulated_network_is_not_blamed_on_the_machine() {
        let row = TransportRow {
            datagrams_received: 3_000,
            ..QUIET
        };
        let simulated = Run {
            engine: Engine::Sim,
            ..run(row, None)
        };
        assert_eq!(warnings(&plan("raymond", 2), &simulated), [] as [String; 0]);
    }

    #[test]
    fn what_the_kernel_dropped_or_did_not_take_is_told() {
        let row = TransportRow {
            unsent: 3,
            overflowed: Some(4),
            ..QUIET
        };
        let totals = Totals {
            overflowed: Some(5),
            ..LOSES
        };
        let told = told(row, Some(totals));
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(
            told[0].starts_with("the kernel dropped 9 datagrams at full sockets (4 at members")
        );
        assert!(told[1].starts_with("the kernel did not take 3 datagrams (3 of members"));
    }

    #[test]
    fn many_rejected_datagrams_are_told_by_reason() {
        let mut row = QUIET;
        row.rejected_for[Rejected::BadMac as usize] = 900;
        row.rejected_for[Rejected::OtherRun as usize] = 100;
        row.rejected_for[Rejected::Duplicate as usize] = 50;
        let told = told(row, Some(LOSES));
        assert_eq!(
            told,
            [
                "1000 datagrams were rejected that this run's members and faults did not make: 100 \
              other run, 900 bad mac."
            ]
        );
        row.rejected_for = [0; Rejected::ALL.len()];
        row.rejected_for[Rejected::BadMac as usize] = FEW - 1;
        assert_eq!(self::told(row, Some(LOSES)), [] as [String; 0]);
    }
}
