//! Files that appear as a whole, in directories that may come from elsewhere.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Writes a file under another name and then renames it, so that nobody ever reads half of it and an
/// earlier one is replaced. When this returns, the file is on disk. A link or a device of that name is
/// left alone: its owner would choose what is overwritten.
pub(crate) fn replace(path: &Path, contents: &[u8]) -> io::Result<()> {
    refuse_links(path)?;
    let beside = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let mut draft = tempfile::Builder::new()
        .prefix(".")
        // The usual permissions of a new file, before the umask.
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(beside)?;
    draft.write_all(contents)?;
    draft.as_file().sync_all()?;
    draft.persist(path)?;
    File::open(beside)?.sync_all()
}

/// Opens a file that [`replace`] has written, to write more at its end.
pub(crate) fn append(path: &Path) -> io::Result<File> {
    refuse_links(path)?;
    OpenOptions::new().append(true).open(path)
}

/// Refuses what is there unless it is a plain file or directory.
pub(crate) fn refuse_links(path: &Path) -> io::Result<()> {
    let kind = match fs::symlink_metadata(path) {
        Ok(found) => found.file_type(),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let what = match () {
        () if kind.is_file() || kind.is_dir() => return Ok(()),
        () if kind.is_symlink() => "a link to another place",
        () => "no plain file",
    };
    let why = format!("it is {what}, which is not written to; remove it first");
    Err(io::Error::new(ErrorKind::InvalidInput, why))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_file_is_replaced_as_a_whole_and_nothing_stays_beside_it() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("page");
        for text in ["first", "second"] {
            replace(&path, text.as_bytes()).expect("it can be written");
            assert_eq!(fs::read_to_string(&path).expect("it is there"), text);
        }
        append(&path)
            .and_then(|mut file| file.write_all(b"!"))
            .expect("more");
        assert_eq!(fs::read_to_string(&path).expect("it is there"), "second!");
        assert_eq!(fs::read_dir(place.path()).expect("a directory").count(), 1);
    }

    #[test]
    fn nothing_is_written_through_a_link() {
        let place = tempfile::tempdir().expect("a directory");
        let (precious, link) = (place.path().join("precious"), place.path().join("page"));
        fs::write(&precious, "mine").expect("it can be written");
        symlink(&precious, &link).expect("a link");
        for refused in [replace(&link, b"yours"), append(&link).map(drop)] {
            let error = refused.expect_err("it is a link").to_string();
            assert!(error.contains("a link to another place"), "{error}");
        }
        assert_eq!(fs::read_to_string(&precious).expect("it is there"), "mine");
        assert!(replace(Path::new("/dev/null"), b"x").is_err());
    }
}
