//! `--hosts`: which hosts there are, and what starts an agent on each.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use model::plan::Placement;
use safe_io::input;
use serde::{Deserialize, Serialize};

/// The hosts of a run, as they are written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct HostsSpec {
    /// As it was written.
    text: String,
    /// What starts the agents.
    pub engine: HostEngine,
    /// The hosts, each with how many shares of the members it takes.
    pub hosts: Vec<(String, u32)>,
}

/// What starts the agents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostEngine {
    /// Somebody else does: `join:N`.
    Join,
    /// A command for each host, with `{host}` and `{agent}` in it: `cmd:h1,h2:COMMAND`.
    Command(String),
    /// `ssh:h1,h2`, or a command like it.
    Ssh,
    /// One `srun` for all of them: `slurm`, or `slurm:N` outside an allocation.
    Slurm {
        /// Whether there is an allocation, which says which hosts there are.
        inside: bool,
    },
}

const FORMS: &str = "write join:N, cmd:HOST,HOST:COMMAND with {host} and {agent} in the command, \
                     ssh:HOST,HOST or ssh:@FILE, or slurm or slurm:N";
/// The most hosts of a run.
const MOST_HOSTS: usize = 1_000;

impl FromStr for HostsSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (engine, rest) = match text.split_once(':') {
            Some((engine, rest)) => (engine, Some(rest)),
            None => (text, None),
        };
        let (engine, hosts) = match (engine, rest) {
            ("join", Some(number)) => (HostEngine::Join, numbered(number)?),
            ("ssh", Some(list)) => (HostEngine::Ssh, listed(list)?),
            ("slurm", Some(number)) => (HostEngine::Slurm { inside: false }, numbered(number)?),
            ("slurm", None) => (HostEngine::Slurm { inside: true }, allocated()?),
            ("cmd", Some(rest)) => {
                let (list, command) = rest.split_once(':').ok_or_else(|| {
                    format!("'{text}' has no command; write cmd:h1,h2:COMMAND with {{agent}} in it")
                })?;
                if !command.contains("{agent}") {
                    return Err(format!(
                        "'{command}' has no {{agent}} in it, which stands for what shall run on the \
                         host"
                    ));
                }
                (HostEngine::Command(command.to_owned()), listed(list)?)
            }
            _ => {
                return Err(format!(
                    "'{text}' does not say where the hosts come from; {FORMS}"
                ));
            }
        };
        if hosts.len() > MOST_HOSTS {
            let count = hosts.len();
            return Err(format!("{count} hosts are too many; at most {MOST_HOSTS}"));
        }
        Ok(Self {
            text: text.to_owned(),
            engine,
            hosts,
        })
    }
}

impl fmt::Display for HostsSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Hosts that are only counted, h1, h2, …
fn numbered(number: &str) -> Result<Vec<(String, u32)>, String> {
    match number.parse::<usize>() {
        Ok(count @ 1..=MOST_HOSTS) => Ok((1..=count).map(|n| (format!("h{n}"), 1)).collect()),
        _ => Err(format!(
            "'{number}' is no number of hosts; write one from 1 to {MOST_HOSTS}"
        )),
    }
}

/// `a,b*2,@FILE`: one that is named several times takes as many shares.
fn listed(list: &str) -> Result<Vec<(String, u32)>, String> {
    let mut hosts = Vec::<(String, u32)>::new();
    let mut add = |name: &str, share: u32| {
        check_name(name)?;
        match hosts.iter_mut().find(|(known, _)| known == name) {
            Some((_, shares)) => *shares += share,
            None => hosts.push((name.to_owned(), share)),
        }
        Ok::<_, String>(())
    };
    for item in list.split(',').map(str::trim) {
        if let Some(file) = item.strip_prefix('@') {
            let text = input::read_text(Path::new(file))
                .map_err(|error| format!("the list of hosts {file}: {error}"))?;
            for line in text.lines().map(str::trim) {
                if !line.is_empty() && !line.starts_with('#') {
                    // Some have the number of processors after the name.
                    add(line.split_whitespace().next().unwrap_or(line), 1)?;
                }
            }
            continue;
        }
        let (name, share) = item.split_once('*').unwrap_or((item, "1"));
        let Ok(share @ 1..=1_000) = share.parse::<u32>() else {
            return Err(format!(
                "'{item}': write how many shares of the members {name} takes, such as {name}*2"
            ));
        };
        add(name, share)?;
    }
    match hosts.is_empty() {
        true => Err("there are no hosts; write their names, such as h1,h2".to_owned()),
        false => Ok(hosts),
    }
}

/// A name stands in a command, and in faults.
fn check_name(name: &str) -> Result<(), String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "._-@[]%".contains(c);
    let begins = name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '[');
    match begins && name.chars().all(fits) {
        true => Ok(()),
        false => Err(format!(
            "'{name}' is no name of a host; write letters, digits, '.', '-', '_' and '@', such as \
             user@h1"
        )),
    }
}

/// The hosts of the allocation that this process is in.
fn allocated() -> Result<Vec<(String, u32)>, String> {
    let nodes = std::env::var("SLURM_JOB_NODELIST").map_err(|_| {
        "--hosts slurm is for the inside of an allocation (sbatch, salloc); outside write slurm:N"
            .to_owned()
    })?;
    let shown = std::process::Command::new("scontrol")
        .args(["show", "hostnames", &nodes])
        .output()
        .map_err(|error| format!("cannot run scontrol, which lists the hosts: {error}"))?;
    if !shown.status.success() {
        let why = String::from_utf8_lossy(&shown.stderr).trim().to_owned();
        return Err(format!("scontrol does not list the hosts: {why}"));
    }
    let names = String::from_utf8_lossy(&shown.stdout).into_owned();
    names
        .lines()
        .map(|name| check_name(name).map(|()| (name.to_owned(), 1)))
        .collect()
}

algorithms::written_as_text!(HostsSpec: String);
algorithms::written_as_text!(PlaceSpec: String);

/// `--place`: which member goes to which host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum PlaceSpec {
    /// The first members to the first host, and so on.
    #[default]
    Block,
    /// Dealt to the hosts in turn.
    Cyclic,
    /// As listed: `h1=0-3,5;h2=4`.
    Listed(Vec<(String, Vec<(u32, u32)>)>),
}

impl FromStr for PlaceSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "block" => return Ok(Self::Block),
            "cyclic" => return Ok(Self::Cyclic),
            _ => {}
        }
        let wrong =
            |part: &str| format!("'{part}' is no place; write block, cyclic, or h1=0-3,5;h2=4");
        let run = |item: &str| {
            let (first, last) = item.split_once('-').unwrap_or((item, item));
            let number = |digits: &str| digits.parse::<u32>().ok();
            number(first).zip(number(last)).filter(|(a, b)| a <= b)
        };
        let mut hosts = Vec::new();
        for part in text.split(';') {
            let (host, members) = part.split_once('=').ok_or_else(|| wrong(part))?;
            let runs = members
                .split(',')
                .map(run)
                .collect::<Option<Vec<_>>>()
                .ok_or_else(|| wrong(part))?;
            hosts.push((host.to_owned(), runs));
        }
        Ok(Self::Listed(hosts))
    }
}

impl fmt::Display for PlaceSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Block => f.write_str("block"),
            Self::Cyclic => f.write_str("cyclic"),
            Self::Listed(hosts) => {
                let hosts = hosts.iter().map(|(host, runs)| {
                    let runs = runs.iter().map(|(first, last)| match first == last {
                        true => first.to_string(),
                        false => format!("{first}-{last}"),
                    });
                    format!("{host}={}", runs.collect::<Vec<_>>().join(","))
                });
                f.write_str(&hosts.collect::<Vec<_>>().join(";"))
            }
        }
    }
}

impl PlaceSpec {
    /// Puts each member somewhere.
    pub fn place(&self, hosts: &HostsSpec, nodes: u32) -> Result<Placement, String> {
        let names = hosts.hosts.iter().map(|(name, _)| name.clone());
        let names = names.collect::<Vec<_>>();
        let shares = hosts.hosts.iter().map(|(_, share)| u64::from(*share));
        let all: u64 = shares.clone().sum();
        // One entry for each share, in the order of the hosts.
        let turn = (0_u32..).zip(shares);
        let turn = turn.flat_map(|(host, share)| (0..share).map(move |_| host));
        let turn = turn.collect::<Vec<_>>();
        let of = match self {
            Self::Cyclic => (0..nodes as usize)
                .map(|node| turn[node % turn.len()])
                .collect(),
            Self::Block => {
                let place = |node: u64| turn[(node * all / u64::from(nodes.max(1))) as usize];
                (0..u64::from(nodes)).map(place).collect()
            }
            Self::Listed(listed) => {
                let mut of = vec![None; nodes as usize];
                for (host, runs) in listed {
                    let at = names.iter().position(|name| name == host).ok_or_else(|| {
                        format!("there is no host '{host}'; there are {}", names.join(", "))
                    })?;
                    for node in runs.iter().flat_map(|(first, last)| *first..=*last) {
                        let place = of.get_mut(node as usize).ok_or_else(|| {
                            format!("there is no member {node}; they are 0 to {}", nodes - 1)
                        })?;
                        if place.replace(at as u32).is_some() {
                            return Err(format!("member {node} is placed twice"));
                        }
                    }
                }
                let homeless = of.iter().position(Option::is_none);
                if let Some(node) = homeless {
                    return Err(format!("member {node} is placed nowhere"));
                }
                of.into_iter().flatten().collect()
            }
        };
        Ok(Placement { hosts: names, of })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(text: &str) -> HostsSpec {
        text.parse().unwrap_or_else(|why| panic!("{why}"))
    }

    fn placed(place: &str, hosts: &str, nodes: u32) -> Vec<u32> {
        let place = place.parse::<PlaceSpec>().expect("a place");
        place.place(&spec(hosts), nodes).expect("it fits").of
    }

    #[test]
    fn every_engine_is_understood() {
        let names = |text: &str| spec(text).hosts;
        assert_eq!(
            names("join:2"),
            [("h1".to_owned(), 1), ("h2".to_owned(), 1)]
        );
        assert_eq!(
            names("ssh:a,root@b*2,a"),
            [("a".to_owned(), 2), ("root@b".to_owned(), 2)]
        );
        let command = spec("cmd:h1,h2:ip netns exec {host} {agent}");
        assert_eq!(
            command.engine,
            HostEngine::Command("ip netns exec {host} {agent}".to_owned())
        );
        assert_eq!(command.hosts.len(), 2);
        assert_eq!(spec("slurm:3").engine, HostEngine::Slurm { inside: false });
    }

    #[test]
    fn a_list_of_nodes_gives_a_host_a_share_for_each_line() {
        let dir = tempfile::tempdir().expect("a directory");
        let file = dir.path().join("nodes");
        std::fs::write(&file, "n1\nn1\n\n# a remark\nn2 4\n").expect("a file");
        let hosts = spec(&format!("ssh:@{}", file.display())).hosts;
        assert_eq!(hosts, [("n1".to_owned(), 2), ("n2".to_owned(), 1)]);
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, words) in [
            ("h1,h2", "write join:N"),
            ("join:0", "from 1 to"),
            ("cmd:h1,h2", "no command"),
            ("cmd:h1:run it", "{agent}"),
            ("ssh:", "no name of a host"),
            ("ssh:a;b", "no name of a host"),
            ("ssh:-oProxyCommand=x", "no name of a host"),
            ("ssh:a*0", "shares"),
            ("ssh:@/there/is/none", "/there/is/none"),
        ] {
            let why = text.parse::<HostsSpec>().expect_err("it is wrong");
            assert!(why.contains(words), "{text}: {why}");
        }
    }

    #[test]
    fn members_are_placed_in_blocks_in_turn_or_as_listed() {
        assert_eq!(placed("block", "ssh:a,b", 5), [0, 0, 0, 1, 1]);
        assert_eq!(placed("block", "ssh:a*2,b", 6), [0, 0, 0, 0, 1, 1]);
        assert_eq!(placed("cyclic", "ssh:a,b,c", 5), [0, 1, 2, 0, 1]);
        assert_eq!(placed("a=0-1,4;b=2,3", "ssh:a,b", 5), [0, 0, 1, 1, 0]);
    }

    #[test]
    fn a_place_that_does_not_fit_is_refused() {
        for (place, words) in [
            ("a=0", "member 1 is placed nowhere"),
            ("a=0-2", "no member 2"),
            ("a=0,1;b=1", "member 1 is placed twice"),
            ("c=0,1", "no host 'c'; there are a, b"),
        ] {
            let place = place.parse::<PlaceSpec>().expect("it can be read");
            let why = place
                .place(&spec("ssh:a,b"), 2)
                .expect_err("it does not fit");
            assert!(why.contains(words), "{why}");
        }
        assert!("sideways".parse::<PlaceSpec>().is_err());
    }
}
