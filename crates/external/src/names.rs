//! Names that a program gives to its timers and notes, which live as long as this process.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// More names than this are a mistake: a number belongs in the tag of a timer.
const MOST_NAMES: usize = 256;
/// A longer name is a mistake as well.
const LONGEST_NAME: usize = 64;

/// The same name, kept for good.
pub(crate) fn kept(name: &str) -> Result<&'static str, String> {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    if name.is_empty() || name.chars().count() > LONGEST_NAME {
        return Err(format!(
            "the name '{name:.80}' is not 1 to {LONGEST_NAME} characters long"
        ));
    }
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(kept) = names.get(name) {
        return Ok(kept);
    }
    if names.len() >= MOST_NAMES {
        return Err(format!(
            "'{name}' is one name of a timer or a note too many; there may be {MOST_NAMES}, and a \
             number belongs in the tag"
        ));
    }
    let kept: &'static str = String::leak(name.to_owned());
    names.insert(kept);
    Ok(kept)
}
