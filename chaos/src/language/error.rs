//! What is wrong with a fault's text, and where.

use std::error::Error;
use std::fmt;
use std::ops::Range;

/// What is wrong with a fault's text, where, and what would be right.
///
/// It prints itself in four lines:
///
/// ```text
/// '5' has no unit
///   at 5 cut 3-4
///      ^
///   write a time such as 200us, 75ms or 1.5s
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultError {
    /// The text of the fault.
    pub text: String,
    /// The bytes of it that are wrong; empty at the end of the text.
    pub place: Range<usize>,
    /// What is wrong with them.
    pub wrong: String,
    /// What would be right.
    pub right: String,
}

impl Error for FaultError {}

impl fmt::Display for FaultError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A line break or tab inside the text must not tear the caret from what it points at.
        let line = |text: &str| text.replace(|c: char| c.is_control(), " ");
        let width =
            |bytes: Range<usize>| self.text.get(bytes).map_or(0, |part| part.chars().count());
        writeln!(f, "{}", self.wrong)?;
        writeln!(f, "  {}", line(&self.text))?;
        let indent = " ".repeat(width(0..self.place.start));
        let carets = "^".repeat(width(self.place.clone()).max(1));
        writeln!(f, "  {indent}{carets}")?;
        write!(f, "  {}", self.right)
    }
}
