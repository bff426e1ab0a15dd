//! What this process took of the machine.

use rustix::time::{ClockId, clock_gettime};

use crate::run::UsageRow;

/// Processor time, memory and involuntary pauses since the process began.
pub(super) fn usage() -> UsageRow {
    let cpu = clock_gettime(ClockId::ProcessCPUTime);
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|rest| rest.split_whitespace().next()?.parse().ok())
            .unwrap_or(0)
    };
    UsageRow {
        cpu_ms: cpu.tv_sec as f64 * 1e3 + cpu.tv_nsec as f64 / 1e6,
        max_rss_kib: field("VmHWM:"),
        involuntary_switches: field("nonvoluntary_ctxt_switches:"),
    }
}
