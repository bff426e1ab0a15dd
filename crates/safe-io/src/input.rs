//! Files that somebody gives us: read only if they are regular, and of a bounded size.
//!
//! A named pipe lets its reader wait for ever, a device never ends, and a file may be larger than
//! the memory. None of them is read: the error says what it is, or how large it may be.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

/// The most bytes of a text that is read as a whole, and of one line of any other.
pub const DOCUMENT_BYTES: u64 = 64 << 20;
/// The most bytes of a table whose rows are held in memory.
pub const TABLE_BYTES: u64 = 8 << 30;
/// The most bytes of a file that is read line by line and not held in memory.
pub const LOG_BYTES: u64 = 1 << 40;

/// A regular file that gives no more than it may.
#[derive(Debug)]
pub struct Input {
    file: File,
    limit: u64,
    taken: u64,
    /// Bytes since the last line feed: one endless line would fill the memory of a reader of lines.
    line: u64,
}

/// Opens a regular file of at most `limit` bytes.
pub fn open(path: &Path, limit: u64) -> io::Result<Input> {
    // Looked at before it is opened, since opening alone has effects on some devices.
    check(&fs::metadata(path)?, limit)?;
    // It may have become something else meanwhile, whose opening must not wait.
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
        .open(path)?;
    check(&file.metadata()?, limit)?;
    Ok(Input {
        file,
        limit,
        taken: 0,
        line: 0,
    })
}

/// The bytes of a regular file of at most `limit` bytes.
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path, limit)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The text of a regular file of at most [`DOCUMENT_BYTES`].
pub fn read_text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    open(path, DOCUMENT_BYTES)?.read_to_string(&mut text)?;
    Ok(text)
}

fn check(found: &fs::Metadata, limit: u64) -> io::Result<()> {
    let kind = found.file_type();
    let what = match () {
        () if kind.is_file() && found.len() > limit => {
            return Err(too_large(
                &format!("it has {}", in_units(found.len())),
                limit,
            ));
        }
        () if kind.is_file() => return Ok(()),
        () if kind.is_dir() => "a directory",
        () if kind.is_fifo() => "a named pipe",
        () if kind.is_socket() => "a socket",
        () if kind.is_char_device() || kind.is_block_device() => "a device",
        () => "something else",
    };
    let why = format!("it is {what}; a regular file is needed");
    Err(io::Error::new(ErrorKind::InvalidInput, why))
}

fn too_large(what: &str, limit: u64) -> io::Error {
    let why = format!("{what}, more than the limit of {}", in_units(limit));
    io::Error::new(ErrorKind::FileTooLarge, why)
}

/// A number of bytes in the largest unit that fits.
fn in_units(bytes: u64) -> String {
    let units = [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")];
    match units.iter().find(|(shift, _)| bytes >> shift > 0) {
        Some((shift, unit)) => format!("{} {unit}", bytes >> shift),
        None => format!("{bytes} bytes"),
    }
}

impl Input {
    /// The file itself, for what has no lines.
    pub fn into_file(self) -> File {
        self.file
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.file.read(buffer)?;
        let fresh = &buffer[..length];
        self.taken = self.taken.saturating_add(length as u64);
        // A file of the kernel says that it is empty and is not; another grows while it is read.
        if self.taken > self.limit {
            return Err(too_large("it goes on", self.limit));
        }
        self.line = match fresh.iter().rposition(|&byte| byte == b'\n') {
            Some(last) => (length - last - 1) as u64,
            None => self.line + length as u64,
        };
        if self.line > DOCUMENT_BYTES {
            return Err(too_large("one of its lines goes on", DOCUMENT_BYTES));
        }
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    fn holding(place: &Path, bytes: &[u8]) -> PathBuf {
        let path = place.join("file");
        fs::write(&path, bytes).expect("it can be written");
        path
    }

    #[test]
    fn only_a_regular_file_is_opened() {
        let place = tempfile::tempdir().expect("a directory");
        let pipe = place.path().join("pipe");
        mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR, 0).expect("a pipe");
        for (path, what) in [
            (pipe.as_path(), "a named pipe"),
            (Path::new("/dev/zero"), "a device"),
            (place.path(), "a directory"),
        ] {
            let error = open(path, 10).expect_err(what).to_string();
            let expected = format!("it is {what}; a regular file is needed");
            assert_eq!(error, expected);
        }
        let path = holding(place.path(), b"text\n");
        assert_eq!(read_text(&path).expect("a text"), "text\n");
    }

    #[test]
    fn no_more_is_read_than_may_be() {
        let place = tempfile::tempdir().expect("a directory");
        let path = holding(place.path(), &[b'x'; 11]);
        let error = read(&path, 10).expect_err("it is too large").to_string();
        assert_eq!(error, "it has 11 bytes, more than the limit of 10 bytes");
        assert_eq!(read(&path, 11).expect("it is not").len(), 11);
        // It says that it has 0 bytes.
        let error = read(Path::new("/proc/self/status"), 10).expect_err("it goes on");
        assert_eq!(error.kind(), ErrorKind::FileTooLarge, "{error}");
    }

    #[test]
    fn no_line_is_longer_than_a_document() {
        let place = tempfile::tempdir().expect("a directory");
        let path = holding(place.path(), b"short\n");
        let file = OpenOptions::new().write(true).open(&path).expect("a file");
        // It takes no room on the disk.
        file.set_len(DOCUMENT_BYTES + (1 << 20)).expect("a length");
        let error = read(&path, LOG_BYTES).expect_err("one line").to_string();
        assert!(error.contains("one of its lines goes on"), "{error}");
    }
}
