//! Reading files of unknown origin, and writing text of unknown origin to a terminal, without harm: a
//! file must be regular and of a bounded size, and control characters are written out.
//!
//! There is nothing here about formats; those who read a format check what it says.
//!
//! ```
//! // An escape sequence in somebody's file name must not reach the terminal.
//! assert_eq!(safe_io::visible("a\u{1b}[2Jb"), "a\\u001b[2Jb");
//! ```

pub mod input;

mod explained;
mod terminal;
mod visible;

pub use explained::explained;
pub use terminal::to_stderr;
pub use visible::visible;
