//! Faults of whole hosts: `kill host h2`, `partition hosts h1|h2,h3`.
//!
//! They are short for faults of the members that are there, which [`FaultSpec::of_members`] writes out: a
//! scenario that repeats the run says them by the members' numbers, and needs no hosts.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::cursor::Cursor;
use super::error::FaultError;
use super::members::Who;
use super::scope::{Part, Print, Printer};
use super::spec::{Action, FaultSpec, PartitionGroups, Under};
use crate::fate::Member;
use crate::fault::InFlight;
use crate::process_fault::AnyProcessFault;
use crate::reach::{Members, Reach};

/// What happens to all members of a host at once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HostFault {
    /// Something happens to their processes: `kill host h2`.
    Process {
        /// What happens to them.
        fault: AnyProcessFault,
        /// What the host is called.
        host: String,
    },
    /// They do not reach the members of any other host, nor are reached: `isolate host h2`.
    Isolate {
        /// What the host is called.
        host: String,
        /// What becomes of datagrams under way.
        in_flight: InFlight,
    },
    /// Groups of hosts do not reach each other: `partition hosts h1|h2,h3`.
    Partition {
        /// The groups that are parted.
        groups: Vec<Vec<String>>,
        /// What becomes of datagrams under way.
        in_flight: InFlight,
    },
}

impl HostFault {
    /// The word it begins with.
    pub(super) fn verb(&self) -> &'static str {
        match self {
            HostFault::Process { fault, .. } => fault.word(),
            HostFault::Isolate { .. } => "isolate",
            HostFault::Partition { .. } => "partition",
        }
    }

    /// Whether it goes on for some time.
    pub(super) fn lasts(&self) -> bool {
        match self {
            HostFault::Process { fault, .. } => fault.effect().lasts(),
            HostFault::Isolate { .. } | HostFault::Partition { .. } => true,
        }
    }

    /// What becomes of datagrams under way, where it cuts links.
    pub(super) fn in_flight(&mut self) -> Option<&mut InFlight> {
        match self {
            HostFault::Process { .. } => None,
            HostFault::Isolate { in_flight, .. } | HostFault::Partition { in_flight, .. } => {
                Some(in_flight)
            }
        }
    }

    /// The hosts that it names.
    fn hosts(&self) -> Vec<&str> {
        match self {
            HostFault::Process { host, .. } | HostFault::Isolate { host, .. } => vec![host],
            HostFault::Partition { groups, .. } => {
                groups.iter().flatten().map(String::as_str).collect()
            }
        }
    }

    /// The same as faults of members, of which each host has these.
    fn actions(&self, hosts: &[(String, Vec<Member>)]) -> Vec<Action> {
        let of = |names: &[String]| {
            let named = hosts.iter().filter(|(name, _)| names.contains(name));
            named
                .flat_map(|(_, members)| members.iter().copied())
                .collect::<Vec<_>>()
        };
        let partition = |groups: Vec<Vec<Member>>, in_flight: InFlight| {
            // A host may have no members.
            let groups = groups.into_iter().filter(|group| !group.is_empty());
            let groups = groups.map(Members::these).collect::<Vec<_>>();
            let parted = groups.len() > 1;
            let groups = PartitionGroups::Groups(Reach::Across(groups));
            let action = Action::Partition { groups, in_flight };
            parted.then_some(action).into_iter().collect()
        };
        match self {
            HostFault::Process { fault, host } => {
                let members = of(std::slice::from_ref(host));
                let each = |member| Action::Process {
                    fault: fault.clone(),
                    who: Who::Member(member),
                };
                members.into_iter().map(each).collect()
            }
            HostFault::Isolate { host, in_flight } => {
                let others = hosts.iter().map(|(name, _)| name.clone());
                let others = others.filter(|name| name != host).collect::<Vec<_>>();
                let groups = vec![of(std::slice::from_ref(host)), of(&others)];
                partition(groups, *in_flight)
            }
            HostFault::Partition { groups, in_flight } => {
                let groups = groups.iter().map(|names| of(names));
                partition(groups.collect(), *in_flight)
            }
        }
    }
}

impl FaultSpec {
    /// The same fault as faults of members, of which each host has these; a fault of no host comes back as
    /// it is.
    pub fn of_members(&self, hosts: &[(String, Vec<Member>)]) -> Result<Vec<Self>, FaultError> {
        let Action::Host(fault) = &self.action else {
            return Ok(vec![self.clone()]);
        };
        let text = self.to_string();
        let error = |part: &str, wrong: String, right: &str| {
            let start = text.rfind(part).unwrap_or(0);
            FaultError {
                place: start..start + part.len(),
                text: text.clone(),
                wrong,
                right: right.to_owned(),
            }
        };
        let names = hosts.iter().map(|(name, _)| name.as_str());
        let names = names.collect::<Vec<_>>();
        for named in fault.hosts() {
            if !names.contains(&named) {
                let there_are = match names.as_slice() {
                    [] => "name the hosts by --hosts, or write the members' numbers".to_owned(),
                    names => format!("the hosts are {}", names.join(", ")),
                };
                return Err(error(
                    named,
                    format!("there is no host {named}"),
                    &there_are,
                ));
            }
        }
        let actions = fault.actions(hosts);
        if actions.is_empty() {
            let named = fault.hosts().last().copied().unwrap_or_default();
            let wrong = "there are no members for it to act on".to_owned();
            return Err(error(
                named,
                wrong,
                "name a host that has members (--place)",
            ));
        }
        let specs = actions.into_iter().map(|action| Self {
            schedule: self.schedule.clone(),
            action,
        });
        Ok(specs.collect())
    }
}

impl Cursor<'_> {
    /// A fault of a host, if the next word says that it is one.
    pub(super) fn process_of_host(&mut self, word: &str) -> Result<Option<Action>, FaultError> {
        if !self.takes("host") {
            return Ok(None);
        }
        let host = self.host()?;
        let fault = AnyProcessFault::parse(word, self)?;
        Ok(Some(Action::Host(HostFault::Process { fault, host })))
    }

    /// The host that is to be isolated, if the next word says that it is one.
    pub(super) fn isolated_host(&mut self) -> Result<Option<Action>, FaultError> {
        if !self.takes("host") {
            return Ok(None);
        }
        let (host, in_flight) = (self.host()?, InFlight::default());
        Ok(Some(Action::Host(HostFault::Isolate { host, in_flight })))
    }

    /// The groups of hosts that are parted, if the next word says that they are hosts.
    pub(super) fn parted_hosts(&mut self) -> Result<Option<Action>, FaultError> {
        if !self.takes("hosts") {
            return Ok(None);
        }
        let start = self.place().start;
        let mut groups = vec![vec![self.host()?]];
        loop {
            if self.takes_sign("|") {
                groups.push(vec![self.host()?]);
            } else if self.takes_sign(",") {
                let host = self.host()?;
                groups.last_mut().expect("there is one").push(host);
            } else {
                break;
            }
        }
        let place = self.since(start);
        let mut seen = Vec::new();
        for host in groups.iter().flatten() {
            if seen.contains(&host) {
                let wrong = format!("{host} is named twice");
                return Err(self.error(place, wrong, "put each host into one group"));
            }
            seen.push(host);
        }
        if groups.len() < 2 {
            let right = "write groups of hosts, such as h1|h2,h3";
            return Err(self.error(place, "this is one group only", right));
        }
        let in_flight = InFlight::default();
        Ok(Some(Action::Host(HostFault::Partition {
            groups,
            in_flight,
        })))
    }

    fn host(&mut self) -> Result<String, FaultError> {
        let place = self.place();
        let host = self.host_name("write what the host is called, as --hosts does: h2")?;
        self.fit(Part::Host(host), place)?;
        Ok(host.to_owned())
    }
}

impl Print for HostFault {
    fn print(&self, out: &mut dyn Printer) -> fmt::Result {
        match self {
            HostFault::Process { fault, host } => {
                out.part(Part::Process(fault.word()))?;
                out.write_str(" host ")?;
                out.part(Part::Host(host))?;
                fault.print_rest(out)
            }
            HostFault::Isolate { host, in_flight } => {
                out.write_str("isolate host ")?;
                out.part(Part::Host(host))?;
                write!(out, "{}", Under(*in_flight))
            }
            HostFault::Partition { groups, in_flight } => {
                out.write_str("partition hosts ")?;
                for (nth, group) in groups.iter().enumerate() {
                    if nth > 0 {
                        out.write_str("|")?;
                    }
                    for (nth, host) in group.iter().enumerate() {
                        if nth > 0 {
                            out.write_str(",")?;
                        }
                        out.part(Part::Host(host))?;
                    }
                }
                write!(out, "{}", Under(*in_flight))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts() -> Vec<(String, Vec<Member>)> {
        let host = |name: &str, members: &[Member]| (name.to_owned(), members.to_vec());
        vec![
            host("h1", &[0, 1]),
            host("user@h2", &[2, 3]),
            host("h3.org", &[4]),
            host("idle", &[]),
        ]
    }

    fn of_members(text: &str) -> Result<Vec<String>, FaultError> {
        let spec = text.parse::<FaultSpec>()?;
        assert_eq!(spec.to_string().parse::<FaultSpec>(), Ok(spec.clone()));
        let specs = spec.of_members(&hosts())?;
        Ok(specs.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn a_fault_of_a_host_is_one_of_each_of_its_members() {
        for (text, members) in [
            ("at 1s kill host h1", &["at 1s kill 0", "at 1s kill 1"][..]),
            (
                "when enter 4 pause host user@h2 for 1s",
                &["when enter 4 pause 2 for 1s", "when enter 4 pause 3 for 1s"],
            ),
            (
                "at 1s restart host h3.org after 500ms",
                &["at 1s restart 4 after 500ms"],
            ),
            (
                "at 1s partition hosts h1|user@h2,h3.org hold until 3s",
                &["at 1s partition 0,1|2..4 hold until 3s"],
            ),
            ("isolate host h1", &["partition 0,1|2..4"]),
            ("at 1s kill 3", &["at 1s kill 3"]),
        ] {
            let found = of_members(text).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(found, members, "{text}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_host_is_said() {
        for (text, words) in [
            ("kill host", "what the host is called"),
            ("at 1s kill host h9", "there is no host h9"),
            ("at 1s kill host idle", "no members"),
            ("partition hosts h1", "one group only"),
            ("partition hosts h1|h1", "h1 is named twice"),
            ("partition hosts h1|idle", "no members"),
            ("kill host h1 for 1s", "does not last"),
        ] {
            let why = of_members(text).expect_err(text).to_string();
            assert!(why.contains(words), "{text}: {why}");
        }
    }

    #[test]
    fn where_all_members_are_on_one_host_there_is_none_to_name() {
        use crate::timeline::{Group, Timeline};
        let spec = "at 1s kill host h1"
            .parse::<FaultSpec>()
            .expect("it is one");
        let why = Timeline::resolve(&[spec], &Group::complete(3, 1)).expect_err("no hosts");
        assert!(why.to_string().contains("there is no host h1"), "{why}");
    }
}
