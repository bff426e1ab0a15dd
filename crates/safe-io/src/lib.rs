//! Files that somebody gives us, and terminals that obey what they are shown.
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
