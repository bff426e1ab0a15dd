//! Whom the old controller tells about the new one.

use std::collections::VecDeque;

use serde::Serialize;

use super::chosen::Chosen;
use crate::contract::NodeId;
use crate::setup::Setup;

/// The "inform" part of `update_controller_info`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub(super) enum News {
    /// Everybody is told of a move.
    All,
    /// Selective inform: the last so many that were granted entry, the latest in front. The list
    /// goes with the role.
    Recent {
        most: usize,
        granted: VecDeque<NodeId>,
    },
    /// Inform none: pointers improve by grants and by own tenures alone.
    Nobody,
    /// Static routing: only the node that all requests go to.
    Home(NodeId),
}

impl News {
    pub(super) fn chosen(chosen: &Chosen<'_>, setup: &Setup<'_>) -> Self {
        match chosen.word("inform", "all") {
            _ if chosen.is_static() => News::Home(setup.setting.holder),
            "selective" => News::Recent {
                most: chosen.recent(),
                granted: VecDeque::new(),
            },
            "none" => News::Nobody,
            _ => News::All,
        }
    }

    /// Somebody is granted entry.
    pub(super) fn granted(&mut self, node: NodeId) {
        match self {
            News::Recent { most, granted } => {
                granted.retain(|&other| other != node);
                granted.push_front(node);
                granted.truncate(*most);
            }
            News::All | News::Nobody | News::Home(_) => {}
        }
    }

    /// The nodes that are told of a move, in the order of telling; the two controllers know of it.
    pub(super) fn informed(&self, nodes: u32) -> Vec<NodeId> {
        match self {
            News::All => (0..nodes).map(NodeId).collect(),
            News::Recent { granted, .. } => granted.iter().copied().collect(),
            News::Nobody => Vec::new(),
            News::Home(home) => vec![*home],
        }
    }

    /// What of it goes with the role.
    pub(super) fn hand_over(&mut self) -> VecDeque<NodeId> {
        match self {
            News::Recent { granted, .. } => std::mem::take(granted),
            News::All | News::Nobody | News::Home(_) => VecDeque::new(),
        }
    }

    /// The same at the new controller.
    pub(super) fn take_over(&mut self, recent: VecDeque<NodeId>) {
        match self {
            News::Recent { granted, .. } => *granted = recent,
            News::All | News::Nobody | News::Home(_) => {}
        }
    }
}
