//! `select_next_controller`: where the role goes.

use serde::Serialize;

use super::chosen::Chosen;
use super::requests_info::View;
use super::rules::Rules;
use crate::contract::NodeId;

/// Whom to prefer as the next controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub(super) enum Preference {
    /// The first in the queue: it is granted its entry by itself.
    First,
    /// The second in the queue, as CDC prints it: it serves the first, then itself.
    Second,
    /// The last in the queue, as DDC prints it.
    Last,
    /// The next by number.
    Next,
}

/// The choice of the next controller.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub(super) struct Target {
    preference: Preference,
    /// Token style: the role goes to the first in the queue, or stays.
    only_first: bool,
    /// The role goes only where something is pending.
    lazy: bool,
    /// `candidate_controllers`; everybody, where nobody is named.
    candidates: Vec<NodeId>,
}

/// Why there is nowhere to go, where the printed text does not foresee it.
pub(super) struct Undefined;

impl Target {
    /// What the parameters say; `usual` where they leave it to the row.
    pub(super) fn chosen(chosen: &Chosen<'_>, usual: Preference) -> Self {
        let only_first = chosen.tests_on_wake();
        Self {
            preference: match chosen.word("target", "usual") {
                "first" => Preference::First,
                "second" => Preference::Second,
                "last" => Preference::Last,
                "next" => Preference::Next,
                _ => usual,
            },
            only_first,
            lazy: chosen.word("lazy", "no") == "yes",
            candidates: chosen.candidates(),
        }
    }

    /// Only these may become controller.
    pub(super) fn among(mut self, candidates: Vec<NodeId>) -> Self {
        self.candidates = candidates;
        self
    }

    /// The next controller; nobody, if the role stays.
    pub(super) fn select(
        &self,
        me: NodeId,
        nodes: u32,
        view: &View,
        rules: &Rules,
    ) -> Result<Option<NodeId>, Undefined> {
        let others = (1..nodes).map(|step| NodeId((me.0 + step) % nodes));
        let mut others = others.filter(|&node| self.is_candidate(node));
        let fit = |node: &NodeId| self.is_candidate(*node) && *node != me;
        if self.only_first {
            return Ok(view.first.filter(fit));
        }
        if self.lazy && view.first.is_none() {
            return Ok(None);
        }
        let preferred = match self.preference {
            Preference::First => view.first,
            Preference::Second => view.second,
            Preference::Last => view.last,
            Preference::Next => others.clone().next(),
        };
        // rana-P7a, rana-P7b: as printed, the one preferred may be the caller itself.
        let fits = |node: &NodeId| match rules.target_is_another {
            true => fit(node),
            false => self.is_candidate(*node),
        };
        if let Some(preferred) = preferred.filter(fits) {
            return Ok(Some(preferred));
        }
        let besides_the_first = match self.preference {
            // It would be granted by us as soon as by itself; somebody else profits longer.
            Preference::Second => others.clone().find(|&node| Some(node) != view.first),
            Preference::First | Preference::Last | Preference::Next => None,
        };
        match (besides_the_first, self.preference) {
            (Some(node), _) => Ok(Some(node)),
            // rana-P7c: as printed, there must be somebody besides the caller and the first.
            (None, Preference::Second) if !rules.target_may_lack => Err(Undefined),
            (None, _) => Ok(others.next()),
        }
    }

    fn is_candidate(&self, node: NodeId) -> bool {
        self.candidates.is_empty() || self.candidates.contains(&node)
    }
}
