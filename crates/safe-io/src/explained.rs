//! Errors of the system, with what a person can do about them.

use std::io;

/// The error, with what a person can do about it where the system's words do not say.
pub fn explained(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::FileTooLarge => io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("{error}; a limit on the size of files is in force (ulimit -f)"),
        ),
        _ => error,
    }
}
