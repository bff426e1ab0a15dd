//! Why a datagram was dropped.

use std::fmt;

/// The reason for which a datagram was not taken. Each is counted; none changes anything else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rejected {
    /// Shorter than any frame.
    TooShort,
    /// Of another version of the wire format, or no frame at all.
    WrongVersion,
    /// From another run.
    OtherRun,
    /// From a run of another algorithm.
    OtherAlgorithm,
    /// Addressed to another member.
    NotForUs,
    /// From no member of this run, or from ourselves.
    UnknownSource,
    /// Not made with this run's key, or damaged on the way.
    BadMac,
    /// Not what a member would write.
    Malformed,
    /// From an earlier incarnation of its sender.
    StaleSource,
    /// Meant for another incarnation of ours.
    StaleDestination,
    /// Its number was seen before: the network, or somebody, sent it twice.
    Duplicate,
    /// Its number is so old that nobody remembers whether it was seen.
    Replayed,
    /// Of another session of the link.
    OtherSession,
}

impl Rejected {
    /// All reasons, in the order they are looked for.
    pub const ALL: [Self; 13] = [
        Self::TooShort,
        Self::WrongVersion,
        Self::OtherRun,
        Self::OtherAlgorithm,
        Self::NotForUs,
        Self::UnknownSource,
        Self::BadMac,
        Self::Malformed,
        Self::StaleSource,
        Self::StaleDestination,
        Self::Duplicate,
        Self::Replayed,
        Self::OtherSession,
    ];

    /// The name it is counted under.
    pub fn name(self) -> &'static str {
        match self {
            Self::TooShort => "too_short",
            Self::WrongVersion => "wrong_version",
            Self::OtherRun => "other_run",
            Self::OtherAlgorithm => "other_algorithm",
            Self::NotForUs => "not_for_us",
            Self::UnknownSource => "unknown_source",
            Self::BadMac => "bad_mac",
            Self::Malformed => "malformed",
            Self::StaleSource => "stale_source",
            Self::StaleDestination => "stale_destination",
            Self::Duplicate => "duplicate",
            Self::Replayed => "replayed",
            Self::OtherSession => "other_session",
        }
    }
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_stands_at_its_own_place() {
        for (place, reason) in Rejected::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, place);
        }
    }
}
