//! A directory that is complete when it appears under its name.
//!
//! The name is taken first, by an empty directory, so that of two who want it one is refused before
//! it has done any work. What is written goes into a hidden directory beside it that nobody else can
//! enter, and is locked as long as its owner lives; publishing renames it over the empty one.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::FilesError;

/// What stands between the name of a directory and the random end of its draft's.
const MARK: &str = ".partial-";

/// A directory in the making, beside its final place and under a hidden name.
///
/// [`publish`](Self::publish) gives it its name. Dropped before that, it is removed, unless members
/// have recorded something in it: then it stays for [`orphans`] to find.
#[derive(Debug)]
pub struct Draft {
    path: PathBuf,
    target: PathBuf,
    /// What the directory's permissions will be: as usual for this user.
    usual: Option<Permissions>,
    /// The draft itself, locked.
    _lock: File,
    published: bool,
}

impl Draft {
    /// Takes the name `target`, which must not be there yet, and begins a directory for it.
    pub fn begin(target: &Path) -> Result<Self, FilesError> {
        let parent = parent_of(target)?;
        fs::create_dir_all(parent).map_err(|source| FilesError::io("write", parent, source))?;
        reserve(target)?;
        let usual = fs::metadata(target).map(|found| found.permissions()).ok();
        match hidden(target) {
            Ok((path, lock)) => Ok(Self {
                path,
                target: target.to_owned(),
                usual,
                _lock: lock,
                published: false,
            }),
            Err(source) => {
                // The error is what matters; an empty directory does no harm.
                let _ = fs::remove_dir(target);
                Err(FilesError::io("write", target, source))
            }
        }
    }

    /// Where it is in the meantime.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The name it shall have.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Whether members have recorded something in it.
    pub fn has_records(&self) -> bool {
        let files = fs::read_dir(self.path.join("members"))
            .into_iter()
            .flatten();
        files.flatten().any(|file| {
            let is_record = file.path().extension().is_some_and(|end| end == "rec");
            is_record && file.metadata().is_ok_and(|found| found.len() > 0)
        })
    }

    /// Has all of it on disk, gives it its name, and says which: if somebody else has filled that
    /// one meanwhile, the first of `<name>.2`, `<name>.3`, … that is free.
    pub fn publish(mut self) -> Result<PathBuf, FilesError> {
        let failed = |source| FilesError::io("write", &self.path, source);
        sync_tree(&self.path).map_err(failed)?;
        let place = self.rename()?;
        self.published = true;
        let parent = parent_of(&place)?;
        let usual = self
            .usual
            .take()
            .map_or(Ok(()), |usual| fs::set_permissions(&place, usual));
        usual
            .and_then(|()| File::open(parent)?.sync_all())
            .map_err(|source| FilesError::io("write", &place, source))?;
        Ok(place)
    }

    /// Removes it, and what was recorded in it.
    pub fn discard(mut self) {
        self.published = true;
        self.remove();
    }

    fn remove(&self) {
        // What stays behind if this fails is hidden, or empty, and cannot be taken for a result.
        let _ = fs::remove_dir_all(&self.path);
        let _ = fs::remove_dir(&self.target);
    }

    fn rename(&self) -> Result<PathBuf, FilesError> {
        let mut place = self.target.clone();
        let mut others = numbered(&self.target);
        loop {
            let renamed = fs::rename(&self.path, &place);
            let Err(source) = renamed else {
                return Ok(place);
            };
            match source.kind() {
                io::ErrorKind::DirectoryNotEmpty
                | io::ErrorKind::AlreadyExists
                | io::ErrorKind::NotADirectory => {}
                _ => return Err(FilesError::io("write", &place, source)),
            }
            place = loop {
                let other = others.next().expect("fewer directories than numbers");
                match reserve(&other) {
                    Ok(()) => break other,
                    Err(FilesError::Exists(_)) => {}
                    Err(error) => return Err(error),
                }
            };
        }
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.published && !self.has_records() {
            self.remove();
        }
    }
}

/// Makes `target`, an empty directory, unless something is there.
pub fn reserve(target: &Path) -> Result<(), FilesError> {
    fs::create_dir(target).map_err(|source| match source.kind() {
        io::ErrorKind::AlreadyExists => FilesError::Exists(target.to_owned()),
        _ => FilesError::io("write", target, source),
    })
}

/// `<path>.2`, `<path>.3`, …
pub fn numbered(path: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let path = path.to_owned();
    (2_u32..).map(move |number| {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{number}"));
        name.into()
    })
}

/// The drafts in this directory whose owners were killed. They are locked now, so nobody else finds
/// them; only those that nobody but this user can have written to are taken.
pub fn orphans(parent: &Path) -> Vec<Draft> {
    let files = fs::read_dir(parent).into_iter().flatten().flatten();
    files.filter_map(|file| orphan(&file.path())).collect()
}

fn orphan(path: &Path) -> Option<Draft> {
    let name = path.file_name()?.to_str()?;
    let (name, _) = name.strip_prefix('.')?.rsplit_once(MARK)?;
    let found = fs::symlink_metadata(path).ok()?;
    let ours = found.is_dir() && found.mode() & 0o077 == 0 && found.uid() == my_uid()?;
    let lock = ours.then(|| File::open(path).ok()).flatten()?;
    lock.try_lock().ok()?;
    // Its owner may have published it before the lock was free.
    path.exists().then(|| {
        let target = path.with_file_name(name);
        let usual = fs::metadata(&target).ok();
        Draft {
            path: path.to_owned(),
            usual: usual.map(|found| found.permissions()),
            target,
            _lock: lock,
            published: false,
        }
    })
}

/// The user this process acts for.
fn my_uid() -> Option<u32> {
    fs::metadata("/proc/self").ok().map(|found| found.uid())
}

/// A new hidden directory for that name, which nobody else can enter, and the lock on it. It gets the
/// name by which [`orphans`] looks for it when it is locked.
fn hidden(target: &Path) -> io::Result<(PathBuf, File)> {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let unlocked = tempfile::Builder::new()
        .prefix(&format!(".{name}.new-"))
        .rand_bytes(12)
        .permissions(Permissions::from_mode(0o700))
        .tempdir_in(target.parent().unwrap_or(Path::new("")))?;
    let lock = File::open(unlocked.path())?;
    lock.lock()?;
    let random = unlocked.path().to_string_lossy();
    let (_, random) = random.rsplit_once('-').unwrap_or_default();
    let path = target.with_file_name(format!(".{name}{MARK}{random}"));
    fs::rename(unlocked.path(), &path)?;
    // It is no longer there under its first name.
    drop(unlocked.keep());
    Ok((path, lock))
}

/// The directory that it lies in.
fn parent_of(path: &Path) -> Result<&Path, FilesError> {
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(_)) if parent == Path::new("") => Ok(Path::new(".")),
        (Some(parent), Some(_)) => Ok(parent),
        _ => {
            let nameless = io::Error::new(io::ErrorKind::InvalidInput, "it has no name");
            Err(FilesError::io("write", path, nameless))
        }
    }
}

/// Has a directory and all below it on disk.
fn sync_tree(dir: &Path) -> io::Result<()> {
    for file in fs::read_dir(dir)? {
        let file = file?;
        match file.file_type()?.is_dir() {
            true => sync_tree(&file.path())?,
            false => File::open(file.path())?.sync_all()?,
        }
    }
    File::open(dir)?.sync_all()
}
