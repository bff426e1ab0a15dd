//! A directory that appears when it is complete.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::FilesError;

/// A directory in the making, beside its final place and under a hidden name.
///
/// [`publish`](Self::publish) gives it its name; dropped before that, it is removed.
#[derive(Debug)]
pub struct Draft {
    path: PathBuf,
    target: PathBuf,
    published: bool,
}

impl Draft {
    /// Begins a directory that is to be called `target`, which must not be there yet.
    pub fn begin(target: &Path) -> Result<Self, FilesError> {
        let Some(name) = target.file_name() else {
            let nameless = io::Error::new(io::ErrorKind::InvalidInput, "it has no name");
            return Err(FilesError::io("write", target, nameless));
        };
        if target.exists() {
            return Err(FilesError::Exists(target.to_owned()));
        }
        let hidden = format!(".{}.partial-{}", name.to_string_lossy(), std::process::id());
        let path = target.with_file_name(hidden);
        fs::create_dir_all(&path).map_err(|source| FilesError::io("write", &path, source))?;
        Ok(Self {
            path,
            target: target.to_owned(),
            published: false,
        })
    }

    /// Where it is in the meantime.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives it its name.
    pub fn publish(mut self) -> Result<(), FilesError> {
        if self.target.exists() {
            return Err(FilesError::Exists(self.target.clone()));
        }
        fs::rename(&self.path, &self.target)
            .map_err(|source| FilesError::io("write", &self.target, source))?;
        self.published = true;
        Ok(())
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.published {
            // What stays behind if this fails is hidden and cannot be taken for a result.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}
