//! One algorithm, its parameters, defects and options chosen one after the other.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use algorithms::Setting;
use algorithms::registry::{self, AlgorithmInfo, LinkOrder};
use simulator::explore::{Exploration, Kind, Options, Outcome, explore, replay};

use crate::registry::setting_of;

/// An algorithm among so many nodes, and how it is explored; what is not said is as it comes.
pub(crate) struct Chosen {
    info: &'static AlgorithmInfo,
    setting: Setting,
    options: Options,
}

impl Chosen {
    pub(crate) fn new(name: &str, nodes: u32) -> Self {
        let info = registry::find(name).expect("it is registered");
        Self {
            info,
            setting: setting_of(info, nodes),
            options: Options::new(info, nodes),
        }
    }

    pub(crate) fn param(mut self, name: &str, value: &str) -> Self {
        let mut given = BTreeMap::new();
        for (name, value) in self.setting.params.iter() {
            given.insert(name, value.to_string());
        }
        given.insert(name, value.to_owned());
        let given = given.iter().map(|(&name, value)| (name, value.as_str()));
        let params = self.info.choose(&given.collect::<Vec<_>>());
        self.setting.params = params.expect("the parameter fits");
        self
    }

    pub(crate) fn printed(mut self, ids: &[&str]) -> Self {
        let printed = self.info.as_printed(ids);
        self.setting.printed = printed.expect("the defects go together");
        self
    }

    pub(crate) fn wants(mut self, wants: &[u32]) -> Self {
        self.options.wants = wants.to_vec();
        self
    }

    pub(crate) fn timers(mut self, timers: &str) -> Self {
        self.options.timers = timers.parse().expect("a way of timers");
        self
    }

    pub(crate) fn links(mut self, order: LinkOrder) -> Self {
        self.options.order = order;
        self
    }

    pub(crate) fn after(mut self, schedule: &str) -> Self {
        self.options.after = schedule.parse().expect("the schedule is well written");
        self
    }

    /// With further options.
    pub(crate) fn with(mut self, change: impl Fn(&mut Options)) -> Self {
        change(&mut self.options);
        self
    }

    pub(crate) fn explore(&self) -> Exploration {
        let watch = &mut |_| ControlFlow::Continue(());
        explore(self.info, &self.setting, &self.options, watch).expect("the options fit")
    }

    /// The shortest way to something bad: what, and in how many steps.
    pub(crate) fn worst(&self) -> (Kind, usize) {
        let finding = self.explore().finding.expect("something is found");
        (finding.kind, finding.schedule.steps.len())
    }

    /// Lets nothing happen but what the schedule says.
    pub(crate) fn replay(&self, schedule: &str) -> Outcome {
        let schedule = schedule.parse().expect("the schedule is well written");
        let nobody_else_asks = Options {
            wants: vec![0; self.setting.nodes() as usize],
            ..self.options.clone()
        };
        let outcome = replay(self.info, &self.setting, &nobody_else_asks, &schedule);
        outcome.unwrap_or_else(|error| panic!("{}: {error}", self.info.name))
    }

    /// Everybody is served in every schedule; says how many states there are.
    pub(crate) fn assert_all_are_served(&self) -> u64 {
        let report = self.explore();
        let name = self.info.name;
        if let Some(finding) = &report.finding {
            let (kind, why, schedule) = (finding.kind, &finding.why, &finding.schedule);
            panic!("{name}: {kind}: {why}\n{schedule}");
        }
        assert!(report.complete, "{name}: {report:?}");
        assert_eq!(report.trapped, Some(0), "{name}: {report:?}");
        report.states
    }
}
