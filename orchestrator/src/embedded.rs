//! Files of the repository that are embedded in the program, so that a copy of it works in any directory:
//! scenarios, sweeps, structures and claims, and the numbers that the papers print.
//!
//! They have the names that they have in the repository, `experiments/saturated.toml`. What stands
//! under that name where the program runs comes first.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use include_dir::{Dir, include_dir};
use safe_io::input;

/// The folders, each with its name in the repository.
static EMBEDDED: [(&str, Dir<'_>); 2] = [
    (
        "experiments",
        include_dir!("$CARGO_MANIFEST_DIR/../experiments"),
    ),
    (
        "results/papers",
        include_dir!("$CARGO_MANIFEST_DIR/../results/papers"),
    ),
];

/// The text of a file: the one that is there, or else the one that is embedded.
pub(crate) fn read_text(path: &Path) -> io::Result<String> {
    let read = input::read_text(path);
    match (read, text(path)) {
        (Err(error), Some(text)) if error.kind() == ErrorKind::NotFound => Ok(text.to_owned()),
        (read, _) => read,
    }
}

/// The files of a folder with this ending, by name: those that are there, or else those embedded.
pub(crate) fn list(folder: &Path, ending: &str) -> io::Result<Vec<PathBuf>> {
    let mut paths = match (std::fs::read_dir(folder), inside(folder)) {
        (Err(error), Some(folder)) if error.kind() == ErrorKind::NotFound => folder,
        (found, _) => {
            let paths = found?.map(|entry| Ok(entry?.path()));
            paths.collect::<io::Result<Vec<_>>>()?
        }
    };
    paths.retain(|path| path.extension().is_some_and(|found| found == ending));
    paths.sort();
    Ok(paths)
}

/// The text of an embedded file.
fn text(path: &Path) -> Option<&'static str> {
    let mut found = EMBEDDED.iter().filter_map(|(name, dir)| {
        let path = path.strip_prefix(name).ok()?;
        dir.get_file(path)?.contents_utf8()
    });
    found.next()
}

/// The files of an embedded folder.
fn inside(folder: &Path) -> Option<Vec<PathBuf>> {
    let mut found = EMBEDDED.iter().filter_map(|(name, dir)| {
        let within = folder.strip_prefix(name).ok()?;
        let dir = match within.as_os_str().is_empty() {
            true => dir,
            false => dir.get_dir(within)?,
        };
        let files = dir.files().map(|file| Path::new(name).join(file.path()));
        Some(files.collect())
    });
    found.next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_carried_has_its_name_in_the_repository() {
        let scenario = text(Path::new("experiments/saturated.toml")).expect("a scenario");
        assert!(scenario.contains("algorithm"), "{scenario}");
        assert!(text(Path::new("experiments/sweeps/light-load.toml")).is_some());
        assert!(text(Path::new("results/papers/kanrar-table-4.2.csv")).is_some());
        assert_eq!(text(Path::new("experiments/nothing.toml")), None);
        assert_eq!(text(Path::new("/experiments/saturated.toml")), None);
    }

    /// Whatever is there comes first, whole.
    #[test]
    fn a_folder_that_is_there_hides_the_one_that_is_carried() {
        let place = tempfile::tempdir().expect("a directory");
        std::fs::write(place.path().join("mine.toml"), "").expect("a file");
        let found = list(place.path(), "toml").expect("a folder");
        assert_eq!(found, [place.path().join("mine.toml")]);
        let claims = inside(Path::new("experiments/claims")).expect("claims");
        assert!(claims.contains(&PathBuf::from("experiments/claims/sanders.toml")));
        assert!(list(Path::new("experiments/nothing"), "toml").is_err());
    }
}
