//! The rules that the printed text lacks, each of which can be left out.

use serde::Serialize;

use crate::setup::Setup;

/// Which repairs are in place; each is named after what it makes true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub(super) struct Rules {
    /// rana-C1: a request that finds nobody inside is dispatched at once, not by a message.
    pub(super) requests_dispatch: bool,
    /// rana-C2, rana-D4: what is pending goes with the role.
    pub(super) queue_travels: bool,
    /// rana-C2', rana-D5: the new controller dispatches at once, not by a message.
    pub(super) take_over_dispatches: bool,
    /// rana-C3: an exit goes to who granted the entry.
    pub(super) exit_to_granter: bool,
    /// rana-C4: older news of the controller does not replace newer.
    pub(super) epochs: bool,
    /// rana-C4: a request that was passed on too often is told to everybody.
    pub(super) hop_limit: bool,
    /// rana-C5: the role goes before the news of it, and who is about to get it keeps requests.
    pub(super) role_goes_first: bool,
    /// rana-P7a, rana-P7b: the next controller is another node.
    pub(super) target_is_another: bool,
    /// rana-P7c: where nobody is left to choose, somebody less fit is chosen, or the role stays.
    pub(super) target_may_lack: bool,
    /// rana-D1: a request that finds the queue empty is its first.
    pub(super) first_is_set: bool,
    /// rana-D2: the tail that is granted is no tail any more, whoever named it.
    pub(super) tail_is_cleared: bool,
    /// rana-D3, rana-D6: a grant says whether somebody is linked behind, and the exit waits for it.
    pub(super) link_is_awaited: bool,
    /// rana-B1: who hears a request and is not the controller remembers it.
    pub(super) everybody_remembers: bool,
}

impl Rules {
    pub(super) fn of(setup: &Setup<'_>) -> Self {
        let with = |rule| !setup.without(rule);
        Self {
            requests_dispatch: with("requests-dispatch"),
            queue_travels: with("queue-travels"),
            take_over_dispatches: with("take-over-dispatches"),
            exit_to_granter: with("exit-to-granter"),
            epochs: with("epochs"),
            hop_limit: with("hop-limit"),
            role_goes_first: with("role-goes-first"),
            target_is_another: with("target-is-another"),
            target_may_lack: with("target-may-lack"),
            first_is_set: with("first-is-set"),
            tail_is_cleared: with("tail-is-cleared"),
            link_is_awaited: with("link-is-awaited"),
            everybody_remembers: with("everybody-remembers"),
        }
    }
}
