//! Faults on links, in netem's words.

use std::num::NonZeroU32;

use super::cursor::Cursor;
use super::error::FaultError;
use super::glossary::Word;
use super::spec::LinkFault;
use crate::chance::Chance;
use crate::fault::WRITTEN;
use crate::percent::Percent;
use crate::preset;

/// One way to write a fault on links.
pub(crate) struct Form {
    /// Its words, and what they mean.
    pub(crate) word: Word,
    /// Reads what follows its words.
    pub(crate) parse: fn(&mut Cursor<'_>) -> Result<LinkFault, FaultError>,
}

/// All ways to write a fault on links.
fn forms() -> impl Iterator<Item = &'static Form> {
    let faults = WRITTEN.iter().flat_map(|(forms, _)| forms.iter());
    faults.chain([&preset::FORM])
}

/// The words that a fault on links may begin with.
pub(super) fn first_words() -> Vec<&'static str> {
    let mut words = forms().map(|form| form.word.first()).collect::<Vec<_>>();
    words.dedup();
    words
}

impl Cursor<'_> {
    /// A fault on links, after its first word; nothing if there is none of that word.
    pub(super) fn link_fault(&mut self, first: &str) -> Result<Option<LinkFault>, FaultError> {
        let fitting = forms().filter_map(|form| {
            let mut words = form.word.word.split(' ');
            let mut ahead = self.clone();
            let fits = words.next() == Some(first) && words.all(|word| ahead.takes(word));
            fits.then_some((ahead, form))
        });
        // `loss gemodel` rather than `loss`.
        let Some((ahead, form)) = fitting.max_by_key(|(_, form)| form.word.word.len()) else {
            return Ok(None);
        };
        *self = ahead;
        (form.parse)(self).map(Some)
    }

    /// How likely something is, and how much that depends on the packet before: `5% 25%`.
    pub(crate) fn chance(&mut self) -> Result<Chance, FaultError> {
        Ok(Chance {
            percent: self.percent()?,
            correlation: self.maybe_percent()?.unwrap_or(Percent::ZERO),
        })
    }

    /// A whole number of at least 1 after a word, or the default if the word does not come next.
    pub(crate) fn count_after(
        &mut self,
        word: &str,
        what: &str,
        default: NonZeroU32,
    ) -> Result<NonZeroU32, FaultError> {
        match self.takes(word) {
            true => self.count(what),
            false => Ok(default),
        }
    }
}
