//! All counters in Prometheus' text format.

use std::fmt::Write;

use super::control::FaultRow;
use super::core::{Core, LinkCount};

/// Something counted: the metric, what it is, and where it stands.
type Column<T> = (&'static str, &'static str, fn(&T) -> u64);

const OF_LINKS: [Column<LinkCount>; 6] = [
    (
        "chaos_datagrams_received_total",
        "Datagrams taken in.",
        |count| count.received,
    ),
    (
        "chaos_bytes_received_total",
        "Bytes of datagrams taken in.",
        |count| count.bytes,
    ),
    (
        "chaos_datagrams_delivered_total",
        "Datagrams sent on, copies too.",
        |count| count.delivered,
    ),
    (
        "chaos_datagrams_lost_total",
        "Datagrams lost at once or under way.",
        |count| count.lost,
    ),
    (
        "chaos_datagrams_doubled_total",
        "Copies beyond the first.",
        |count| count.doubled,
    ),
    (
        "chaos_datagrams_crowded_out_total",
        "Datagrams dropped since too many bytes were under way.",
        |count| count.crowded_out,
    ),
];

const OF_FAULTS: [Column<FaultRow>; 2] = [
    (
        "chaos_fault_seen_total",
        "Datagrams that passed a fault in force.",
        |row| row.count.seen,
    ),
    (
        "chaos_fault_acted_total",
        "Datagrams a fault made a difference to.",
        |row| row.count.acted,
    ),
];

/// Something of the whole proxy: the metric, its type, what it is, and where it stands.
type Single = (&'static str, &'static str, &'static str, fn(&Core) -> u64);

const OF_ALL: [Single; 8] = [
    (
        "chaos_strays_total",
        "counter",
        "Datagrams that came from no member, nor from a client with a flow.",
        |core| core.strays,
    ),
    (
        "chaos_unsent_total",
        "counter",
        "Datagrams the kernel did not take.",
        |core| core.sockets.unsent(),
    ),
    ("chaos_in_flight", "gauge", "Datagrams under way.", |core| {
        core.flights.count() as u64
    }),
    (
        "chaos_in_flight_bytes",
        "gauge",
        "Bytes under way, with what keeping them costs.",
        |core| core.flights.bytes() as u64,
    ),
    (
        "chaos_in_flight_limit_bytes",
        "gauge",
        "The most bytes that may be under way.",
        |core| core.flights.limit() as u64,
    ),
    (
        "chaos_flows_opened_total",
        "counter",
        "Flows of clients that were opened.",
        |core| core.sockets.flows.opened,
    ),
    (
        "chaos_flows_closed_total",
        "counter",
        "Flows of clients that were closed.",
        |core| core.sockets.flows.closed,
    ),
    (
        "chaos_flows_refused_total",
        "counter",
        "Datagrams of clients for whom there was no room.",
        |core| core.sockets.flows.refused,
    ),
];

/// Everything; links that carried nothing are left out.
pub(super) fn text(core: &Core) -> String {
    let mut text = String::new();
    let nodes = core.names.len();
    for (metric, help, value) in OF_LINKS {
        head(&mut text, metric, "counter", help);
        for (place, count) in core.counts.iter().enumerate() {
            if count.received > 0 {
                let from = label(&core.names[place / nodes]);
                let to = label(&core.names[place % nodes]);
                line(
                    &mut text,
                    metric,
                    &format!("{{from=\"{from}\",to=\"{to}\"}}"),
                    value(count),
                );
            }
        }
    }
    let rows = core.faults.rows(core.now_ns());
    for (metric, help, value) in OF_FAULTS {
        head(&mut text, metric, "counter", help);
        for row in &rows {
            let labels = format!("{{id=\"{}\",fault=\"{}\"}}", row.id, label(&row.fault));
            line(&mut text, metric, &labels, value(row));
        }
    }
    for (metric, kind, help, value) in OF_ALL {
        head(&mut text, metric, kind, help);
        line(&mut text, metric, "", value(core));
    }
    if let Some(overflowed) = core.sockets.overflowed() {
        let metric = "chaos_overflowed_total";
        let help = "Datagrams the kernel dropped because a socket of the proxy was full.";
        head(&mut text, metric, "counter", help);
        line(&mut text, metric, "", overflowed);
    }
    text
}

fn head(text: &mut String, metric: &str, kind: &str, help: &str) {
    writeln!(text, "# HELP {metric} {help}\n# TYPE {metric} {kind}").expect(NEVER_FULL);
}

fn line(text: &mut String, metric: &str, labels: &str, value: u64) {
    writeln!(text, "{metric}{labels} {value}").expect(NEVER_FULL);
}

const NEVER_FULL: &str = "a text takes every letter";

/// A label's value, with what must be escaped escaped.
fn label(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    text.replace('\n', "\\n")
}
