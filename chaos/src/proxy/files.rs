//! Which files a fault may name.

use std::io;
use std::path::{Component, Path, PathBuf};

use safe_io::input;

/// Which files a fault may name, as in `delay matrix wan.csv`.
#[derive(Clone, Debug, Default)]
pub enum FaultFiles {
    /// A fault may name no files.
    #[default]
    Refused,
    /// The files below this directory.
    Below(PathBuf),
    /// All files, by their names seen from this directory: the person who starts the proxy reads
    /// with their own rights.
    From(PathBuf),
}

/// No file of delays is longer.
const LONGEST: u64 = 4 << 20;

impl FaultFiles {
    /// The files below a directory, which must exist.
    pub fn below(directory: &Path) -> io::Result<Self> {
        let directory = directory.canonicalize()?;
        match directory.is_dir() {
            true => Ok(FaultFiles::Below(directory)),
            false => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    /// The text of a file, or why it is not read.
    pub(super) fn read(&self, file: &str) -> Result<String, String> {
        let text = |error: io::Error| error.to_string();
        let path = match self {
            FaultFiles::Refused => {
                let why = "no files are read for this proxy; start it with --fault-files DIRECTORY";
                return Err(why.to_owned());
            }
            FaultFiles::From(directory) => directory.join(file),
            FaultFiles::Below(directory) => {
                let outside = || "it is not below the directory of --fault-files".to_owned();
                let mut parts = Path::new(file).components();
                // Looked at before the disk is, so that nobody learns what lies elsewhere.
                if !parts.all(|part| matches!(part, Component::Normal(_))) {
                    return Err(outside());
                }
                let path = directory.join(file).canonicalize().map_err(text)?;
                if !path.starts_with(directory) {
                    return Err(outside());
                }
                path
            }
        };
        let bytes = input::read(&path, LONGEST).map_err(text)?;
        String::from_utf8(bytes).map_err(|_| "it is not a text in UTF-8".to_owned())
    }
}
