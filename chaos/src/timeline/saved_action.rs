//! A step's action as plans are saved with it: `run.json` keeps the words it had from the beginning.

use serde::{Deserialize, Serialize};

use super::{BadLinks, FaultAction};
use crate::fault::InFlight;
use crate::language::{MessageFault, Who};
use crate::process_fault::ProcessEffect;
use crate::reach::Reach;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum SavedAction {
    Links(Vec<BadLinks>),
    Isolate(Who, InFlight),
    Heal(Reach),
    Kill(Who),
    Pause(Who),
    Resume(Who),
    Restart(Who, u64),
    Message(MessageFault),
}

impl From<FaultAction> for SavedAction {
    fn from(action: FaultAction) -> Self {
        match action {
            FaultAction::Links(bad) => Self::Links(bad),
            FaultAction::Isolate(who, in_flight) => Self::Isolate(who, in_flight),
            FaultAction::Heal(reach) => Self::Heal(reach),
            FaultAction::Process(who, effect) => match effect {
                ProcessEffect::End {
                    start_after_ns: None,
                } => Self::Kill(who),
                ProcessEffect::End {
                    start_after_ns: Some(after_ns),
                } => Self::Restart(who, after_ns),
                ProcessEffect::Stop => Self::Pause(who),
                ProcessEffect::Continue => Self::Resume(who),
            },
            FaultAction::Message(fault) => Self::Message(fault),
        }
    }
}

impl From<SavedAction> for FaultAction {
    fn from(saved: SavedAction) -> Self {
        let end = |start_after_ns| ProcessEffect::End { start_after_ns };
        match saved {
            SavedAction::Links(bad) => Self::Links(bad),
            SavedAction::Isolate(who, in_flight) => Self::Isolate(who, in_flight),
            SavedAction::Heal(reach) => Self::Heal(reach),
            SavedAction::Kill(who) => Self::Process(who, end(None)),
            SavedAction::Restart(who, after_ns) => Self::Process(who, end(Some(after_ns))),
            SavedAction::Pause(who) => Self::Process(who, ProcessEffect::Stop),
            SavedAction::Resume(who) => Self::Process(who, ProcessEffect::Continue),
            SavedAction::Message(fault) => Self::Message(fault),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_on_processes_are_saved_under_their_old_words() {
        let saved = [
            r#"{"kill":{"member":3}}"#,
            r#"{"pause":"holder"}"#,
            r#"{"resume":{"member":0}}"#,
            r#"{"restart":[{"member":2},500]}"#,
        ];
        for text in saved {
            let action: FaultAction = serde_json::from_str(text).expect(text);
            assert!(matches!(action, FaultAction::Process(..)), "{action:?}");
            assert_eq!(serde_json::to_string(&action).expect("it is data"), text);
        }
    }
}
