//! The rules that the printed text lacks, each of which can be left out.

use crate::printed::rules;

rules! {
    /// Which repairs are in place; each is named after what it makes true.
    pub(super) struct Rules {
        /// rana-C1: a request that finds nobody inside is dispatched at once, not by a message.
        requests_dispatch: "requests-dispatch",
        /// rana-C2, rana-D4: what is pending goes with the role.
        queue_travels: "queue-travels",
        /// rana-C2', rana-D5: the new controller dispatches at once, not by a message.
        take_over_dispatches: "take-over-dispatches",
        /// rana-C3: an exit goes to who granted the entry.
        exit_to_granter: "exit-to-granter",
        /// rana-C4: older news of the controller does not replace newer.
        epochs: "epochs",
        /// rana-C4: a request that was passed on too often is told to everybody.
        hop_limit: "hop-limit",
        /// rana-C5: the role goes before the news of it, and who is about to get it keeps requests.
        role_goes_first: "role-goes-first",
        /// rana-P7a, rana-P7b: the next controller is another node.
        target_is_another: "target-is-another",
        /// rana-P7c: where nobody is left to choose, somebody less fit is chosen, or the role stays.
        target_may_lack: "target-may-lack",
        /// rana-D1: a request that finds the queue empty is its first.
        first_is_set: "first-is-set",
        /// rana-D2: the tail that is granted is no tail any more, no matter who named it.
        tail_is_cleared: "tail-is-cleared",
        /// rana-D3, rana-D6: a grant says whether somebody is linked behind, and the exit waits for it.
        link_is_awaited: "link-is-awaited",
        /// rana-B1: who hears a request and is not the controller remembers it.
        everybody_remembers: "everybody-remembers",
    }
}
