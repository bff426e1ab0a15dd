//! What the system allows: open files, processes and ports. Who asks for more members than fit is told which limit
//! it is, how to raise it, and how many fit, before anything is started.

use std::fs;
use std::path::PathBuf;

use model::engine::EngineError;
use rustix::process::{Resource, Rlimit, geteuid, getrlimit, setrlimit};

/// Descriptors that one member takes here: its stdin, its stdout, and the one by which it is reaped.
const FILES_PER_MEMBER: u64 = 3;
/// What this process opens besides, generously reckoned: the run's files, the runtime, the proxy.
const OTHER_FILES: u64 = 64;
/// The orchestrator with its threads, and the proxy.
const OTHER_PROCESSES: u64 = 8;
/// Who knows how many ports others have; some should be left.
const OTHER_PORTS: u64 = 64;

/// Something of which there is only so much.
struct Limit {
    what: &'static str,
    /// Who has it, and what that may be: `this user may have`.
    whose: &'static str,
    /// How one raises it so that this many fit.
    raise: fn(u64) -> String,
    per_member: u64,
    others: u64,
    most: u64,
}

impl Limit {
    /// What so many members need of it, or why they do not fit.
    fn needed(&self, members: u64) -> Result<u64, EngineError> {
        let needed = self.per_member * members + self.others;
        if needed <= self.most {
            return Ok(needed);
        }
        let Self {
            what, whose, most, ..
        } = self;
        Err(EngineError::Plan(format!(
            "{members} members need {needed} {what}, and {whose} {most}; {} or run at most {} members",
            (self.raise)(needed),
            self.most.saturating_sub(self.others) / self.per_member
        )))
    }
}

/// Looks whether so many members can be started on this host, with a port of the proxy for each where there is
/// one, and raises what this process may raise itself.
pub(crate) fn allow(members: usize, proxy: bool) -> Result<(), EngineError> {
    let members = members as u64;
    let limit = getrlimit(Resource::Nofile);
    if let Some(needed) = missing_files(members, limit.current, limit.maximum)? {
        let raised = Rlimit {
            current: Some(needed),
            maximum: limit.maximum,
        };
        setrlimit(Resource::Nofile, raised).map_err(|error| {
            EngineError::Testbed(format!("cannot raise the limit of open files: {error}"))
        })?;
    }
    for limit in processes().into_iter().chain(ports(proxy)) {
        limit.needed(members)?;
    }
    Ok(())
}

/// The limit of open files that this number of members needs, if the present one is lower.
fn missing_files(
    members: u64,
    soft: Option<u64>,
    hard: Option<u64>,
) -> Result<Option<u64>, EngineError> {
    let files = |most: Option<u64>| Limit {
        what: "open files",
        whose: "this user may have",
        raise: |needed| format!("raise the hard limit (ulimit -Hn {needed})"),
        per_member: FILES_PER_MEMBER,
        others: OTHER_FILES,
        most: most.unwrap_or(u64::MAX),
    };
    match files(soft).needed(members) {
        Ok(_) => Ok(None),
        Err(_) => files(hard).needed(members).map(Some),
    }
}

/// What keeps processes few: the user's limit, that of the group of processes this one belongs to, the kernel's.
fn processes() -> Vec<Limit> {
    let limit = |whose, raise, most: Option<u64>| {
        most.map(|most| Limit {
            what: "processes",
            whose,
            raise,
            per_member: 1,
            others: OTHER_PROCESSES,
            most,
        })
    };
    // Root may have as many as there are.
    let user = getrlimit(Resource::Nproc).current;
    let user = user.filter(|_| !geteuid().is_root());
    let [threads, numbers] =
        ["threads-max", "pid_max"].map(|name| number(&format!("/proc/sys/kernel/{name}")));
    let limits = [
        limit(
            "this user may have",
            |needed| format!("raise the limit (ulimit -u {needed})"),
            user,
        ),
        limit(
            "this control group may have",
            |needed| format!("raise its pids.max to {needed}"),
            control_group(),
        ),
        limit(
            "the kernel has",
            |needed| format!("raise kernel.threads-max to {needed} (sysctl)"),
            threads,
        ),
        limit(
            "the kernel has numbers for",
            |needed| format!("raise kernel.pid_max to {needed} (sysctl)"),
            numbers,
        ),
    ];
    limits.into_iter().flatten().collect()
}

/// The least `pids.max` of the control groups that this process is in.
fn control_group() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let places = groups.lines().filter_map(pids_of);
    let files = places.flat_map(|(root, place)| {
        let above = place
            .ancestors()
            .map(|place| root.join(place).join("pids.max"));
        above.collect::<Vec<_>>()
    });
    let limits = files.filter_map(|file| number(&file.display().to_string()));
    limits.min()
}

/// Where the group of a line of `/proc/self/cgroup` is that counts processes: the root, and the place below it.
fn pids_of(line: &str) -> Option<(PathBuf, PathBuf)> {
    let mut fields = line.splitn(3, ':');
    let controllers = fields.nth(1)?;
    let place = fields.next()?.trim_start_matches('/').into();
    match controllers {
        "" => Some(("/sys/fs/cgroup".into(), place)),
        "pids" => Some(("/sys/fs/cgroup/pids".into(), place)),
        _ => None,
    }
}

/// The ports that the kernel deals out to who asks for any.
fn ports(proxy: bool) -> Option<Limit> {
    let range = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()?;
    let mut ends = range.split_whitespace().map(str::parse::<u64>);
    let (first, last) = (ends.next()?.ok()?, ends.next()?.ok()?);
    Some(Limit {
        what: "ports",
        whose: "the kernel deals out",
        raise: |needed| {
            let last = 65_535_u64;
            let first = last.saturating_sub(needed).max(1_024);
            format!("widen the range (sysctl net.ipv4.ip_local_port_range='{first} {last}')")
        },
        per_member: 1 + u64::from(proxy),
        others: OTHER_PORTS,
        most: (last + 1).saturating_sub(first),
    })
}

/// The number that a file holds; none if it is not there, or says that there is no limit.
fn number(path: &str) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(refused: Result<impl Sized, EngineError>) -> String {
        match refused.err() {
            Some(EngineError::Plan(told)) => told,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_limit_of_open_files_is_raised_when_three_for_each_member_do_not_fit() {
        let missing = |members, soft, hard| missing_files(members, soft, hard).ok();
        assert_eq!(missing(320, Some(1_024), None), Some(None));
        assert_eq!(missing(321, Some(1_024), None), Some(Some(1_027)));
        assert_eq!(missing(1_000, Some(1_024), Some(4_096)), Some(Some(3_064)));
        assert_eq!(missing(1_000, None, None), Some(None));
    }

    #[test]
    fn a_hard_limit_that_is_too_low_is_named_with_what_would_do() {
        assert_eq!(
            told(missing_files(400, Some(1_024), Some(1_100))),
            "400 members need 1264 open files, and this user may have 1100; raise the hard limit \
             (ulimit -Hn 1264) or run at most 345 members"
        );
    }

    #[test]
    fn what_does_not_fit_is_told_with_the_largest_size_that_does() {
        let limit = Limit {
            what: "ports",
            whose: "the kernel deals out",
            raise: |needed| format!("have {needed}"),
            per_member: 2,
            others: 10,
            most: 111,
        };
        assert_eq!(limit.needed(50).ok(), Some(110));
        assert_eq!(
            told(limit.needed(51)),
            "51 members need 112 ports, and the kernel deals out 111; have 112 or run at most 50 members"
        );
    }

    #[test]
    fn control_groups_are_found_in_both_versions() {
        let found = |line| pids_of(line).map(|(root, place)| root.join(place));
        let expected = |path: &str| Some(PathBuf::from(path));
        assert_eq!(found("8:pids:/a/b"), expected("/sys/fs/cgroup/pids/a/b"));
        assert_eq!(found("0::/a:b"), expected("/sys/fs/cgroup/a:b"));
        assert_eq!(found("4:memory:/a"), None);
    }
}
