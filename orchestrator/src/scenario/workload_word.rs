//! The words of `--workload`.

use std::fmt;
use std::sync::LazyLock;

use clap::ValueEnum;
use clap::builder::PossibleValue;
use model::workload::{KINDS, Kind, WORDS};
use serde::de::{self, EnumAccess, VariantAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A word of `--workload`: who asks, and when.
#[derive(Clone, Copy, Debug)]
pub struct WorkloadWord(pub(super) &'static Kind);

static ALL: LazyLock<Vec<WorkloadWord>> =
    LazyLock::new(|| KINDS.iter().map(WorkloadWord).collect());

impl WorkloadWord {
    /// The word of that name.
    pub(super) fn named(name: &str) -> Option<Self> {
        ALL.iter().copied().find(|word| word.0.word == name)
    }
}

impl Default for WorkloadWord {
    fn default() -> Self {
        Self(&KINDS[0])
    }
}

impl PartialEq for WorkloadWord {
    fn eq(&self, other: &Self) -> bool {
        self.0.word == other.0.word
    }
}

impl ValueEnum for WorkloadWord {
    fn value_variants<'a>() -> &'a [Self] {
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.word).help(self.0.help))
    }
}

impl Serialize for WorkloadWord {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.word)
    }
}

/// Reads a [`WorkloadWord`].
struct ByName;

impl<'de> Deserialize<'de> for WorkloadWord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_enum("Kind", WORDS, ByName)
    }
}

impl<'de> Visitor<'de> for ByName {
    type Value = WorkloadWord;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("enum Kind")
    }

    fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<WorkloadWord, A::Error> {
        let (name, rest) = data.variant::<String>()?;
        rest.unit_variant()?;
        let unknown = || de::Error::unknown_variant(&name, WORDS);
        WorkloadWord::named(&name).ok_or_else(unknown)
    }
}
