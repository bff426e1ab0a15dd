//! What this process took of the machine.

use rustix::time::{ClockId, clock_gettime};

use model::run::UsageRow;

/// Processor time of this process so far.
pub(super) fn cpu_ms() -> f64 {
    let cpu = clock_gettime(ClockId::ProcessCPUTime);
    cpu.tv_sec as f64 * 1e3 + cpu.tv_nsec as f64 / 1e6
}

/// The processor time and memory of this process in the run; `cpu_ms_before` is the processor time
/// taken before it began.
pub(super) fn usage(cpu_ms_before: f64) -> UsageRow {
    let status = file("status");
    UsageRow {
        cpu_ms: cpu_ms() - cpu_ms_before,
        max_rss_kib: field(&status, "VmHWM:"),
        private_kib: field(&file("smaps_rollup"), "Private_Dirty:"),
        involuntary_switches: field(&status, "nonvoluntary_ctxt_switches:"),
    }
}

/// What the kernel says of this process; nothing where it does not say it.
fn file(name: &str) -> String {
    std::fs::read_to_string(format!("/proc/self/{name}")).unwrap_or_default()
}

fn field(text: &str, name: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let number = line.and_then(|rest| rest.split_whitespace().next()?.parse().ok());
    number.unwrap_or(0)
}
