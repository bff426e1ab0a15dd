//! What a run shall do, as a person says it.

use algorithms::registry::{self, Entry};

use crate::suggest::did_you_mean;

/// The algorithm of that name, or what is there instead.
pub fn find_algorithm(name: &str) -> Result<&'static Entry, String> {
    registry::find(name).ok_or_else(|| {
        let known = registry::ALL.iter().map(|entry| entry.name);
        let hint = did_you_mean(name, known.clone());
        let known = known.collect::<Vec<_>>().join(", ");
        format!("there is no algorithm '{name}'{hint}\n       known: {known}")
    })
}
