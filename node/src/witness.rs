//! The kernel as a witness of mutual exclusion.
//!
//! Around its critical section every member takes a real lock on one of k files. If k others are
//! inside, the kernel refuses, whatever clocks and records say.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// One member's handles on the k lock files of a run.
pub(crate) struct Witness {
    files: Vec<File>,
    held: Option<usize>,
}

/// What the kernel said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Testimony {
    /// There was room: the member holds this file.
    Admitted(u32),
    /// k others are inside.
    Refused,
}

impl Witness {
    /// Opens the k lock files in `dir`, making those that are not there yet.
    pub(crate) fn open(dir: &Path, k: u32) -> io::Result<Self> {
        let open = |slot| {
            let path = dir.join(format!("witness.{slot}"));
            OpenOptions::new()
                .create(true)
                .truncate(false)
                .write(true)
                // Another user who could open it could lock it, and so forge a refusal.
                .mode(0o600)
                .open(path)
        };
        Ok(Self {
            files: (0..k).map(open).collect::<Result<_, _>>()?,
            held: None,
        })
    }

    /// Called on entering: takes the first file that is free.
    pub(crate) fn enter(&mut self) -> io::Result<Testimony> {
        for (slot, file) in self.files.iter().enumerate() {
            match file.try_lock() {
                Ok(()) => {
                    self.held = Some(slot);
                    return Ok(Testimony::Admitted(slot as u32));
                }
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
        Ok(Testimony::Refused)
    }

    /// Called on leaving, before the exit is recorded.
    pub(crate) fn leave(&mut self) -> io::Result<()> {
        self.held
            .take()
            .map_or(Ok(()), |slot| self.files[slot].unlock())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_one_is_refused_until_the_first_leaves() {
        let dir = tempfile::tempdir().unwrap();
        let mut first = Witness::open(dir.path(), 1).unwrap();
        let mut second = Witness::open(dir.path(), 1).unwrap();
        assert_eq!(first.enter().unwrap(), Testimony::Admitted(0));
        assert_eq!(second.enter().unwrap(), Testimony::Refused);
        first.leave().unwrap();
        assert_eq!(second.enter().unwrap(), Testimony::Admitted(0));
    }

    #[test]
    fn nobody_else_can_lock_the_files() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let _witness = Witness::open(dir.path(), 1).unwrap();
        let file = std::fs::metadata(dir.path().join("witness.0")).unwrap();
        assert_eq!(file.permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn k_files_admit_k() {
        let dir = tempfile::tempdir().unwrap();
        let mut members: Vec<_> = (0..3)
            .map(|_| Witness::open(dir.path(), 2).unwrap())
            .collect();
        let said: Vec<_> = members
            .iter_mut()
            .map(|member| member.enter().unwrap())
            .collect();
        assert_eq!(
            said,
            [
                Testimony::Admitted(0),
                Testimony::Admitted(1),
                Testimony::Refused
            ]
        );
    }
}
