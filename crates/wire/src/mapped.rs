//! Files that are written by storing into memory: what a process stores there is the kernel's at once, without
//! a call, and survives `kill -9`.
//!
//! Two things stand on this: the [`MappedLog`], which grows at its end and is read as any file is, and the
//! [`SharedWords`], which the processes of a host change one against the other.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;

use self::mapping::Mapping;

/// A log begins with a word that says how many of the bytes behind it count, in little-endian order.
pub const HEAD_BYTES: usize = 8;
/// In that word: all of them, to the end of the file. No log is ever that long.
pub const TO_THE_END: u64 = u64::MAX;

/// How much of a log is reserved at first: a process that writes little takes little.
const FIRST_PIECE: usize = 1 << 14;
/// How much of a log is in memory at a time. No machine that Linux runs on has longer pages.
const PIECE: usize = 1 << 16;

/// A file that only grows, written through memory.
///
/// Room is reserved on the disk before it is written to, so that a full disk is an error of
/// [`append`](Self::append) and does not end the process. Where the file system cannot do that, every append
/// is a write.
#[derive(Debug)]
pub struct MappedLog {
    file: File,
    mapped: Option<Mapped>,
}

#[derive(Debug)]
struct Mapped {
    /// The word that says how much counts.
    head: Mapping,
    /// The piece of the file that is written to now.
    piece: Mapping,
    /// Where in the file that piece begins.
    begins: u64,
    /// Where in the file the next byte goes.
    end: u64,
}

impl MappedLog {
    /// Begins a log in an empty file that is open for reading and appending.
    pub fn begin(file: File) -> io::Result<Self> {
        let mapped = match Mapped::begin(&file) {
            Ok(mapped) => Some(mapped),
            Err(error) if cannot_be_mapped(&error) => None,
            Err(error) => return Err(error),
        };
        match mapped {
            Some(mapped) => Ok(Self {
                file,
                mapped: Some(mapped),
            }),
            None => Self::begin_with_writes(file),
        }
    }

    /// The same, but every append is a write.
    fn begin_with_writes(file: File) -> io::Result<Self> {
        file.set_len(0)?;
        (&file).write_all(&TO_THE_END.to_le_bytes())?;
        Ok(Self { file, mapped: None })
    }

    /// Adds bytes at the end. When this returns the kernel has them; a process that is killed before has
    /// added none of them.
    pub fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.mapped {
            Some(mapped) => mapped.append(&self.file, bytes),
            None => self.file.write_all(bytes),
        }
    }

    /// Gives back what was reserved and never written to. From here on every append is a write.
    pub fn trim(&mut self) -> io::Result<()> {
        if let Some(mapped) = self.mapped.take() {
            self.file.set_len(mapped.end)?;
            mapped.head.word(0).store(TO_THE_END, Ordering::Release);
        }
        Ok(())
    }
}

impl Mapped {
    fn begin(file: &File) -> io::Result<Self> {
        reserve(file, 0, FIRST_PIECE)?;
        Ok(Self {
            head: Mapping::of(file, 0, HEAD_BYTES)?,
            piece: Mapping::of(file, 0, FIRST_PIECE)?,
            begins: 0,
            end: HEAD_BYTES as u64,
        })
    }

    fn append(&mut self, file: &File, mut bytes: &[u8]) -> io::Result<()> {
        let mut end = self.end;
        if end < self.begins {
            return Err(io::Error::other("there was no room for what came before"));
        }
        while !bytes.is_empty() {
            if end == self.begins + self.piece.length() as u64 {
                let begins = end / PIECE as u64 * PIECE as u64;
                reserve(file, begins, PIECE)?;
                self.piece = Mapping::of(file, begins, PIECE)?;
                self.begins = begins;
            }
            let at = (end - self.begins) as usize;
            let (now, later) = bytes.split_at(bytes.len().min(self.piece.length() - at));
            self.piece.store(at, now);
            end += now.len() as u64;
            bytes = later;
        }
        self.end = end;
        // From here on they count.
        let counts = self.end - HEAD_BYTES as u64;
        self.head.word(0).store(counts.to_le(), Ordering::Release);
        Ok(())
    }
}

/// Words that all processes of a host see which have opened the same file; all are 0 at first.
#[derive(Debug)]
pub struct SharedWords {
    words: Mapping,
    count: usize,
}

impl SharedWords {
    /// So many words of a file that is open for reading and writing. It grows if it is shorter.
    pub fn open(file: &File, count: usize) -> io::Result<Self> {
        let length = count.max(1) * size_of::<u64>();
        match reserve(file, 0, length) {
            // Without a promise of the file system, the words are there when something was written.
            Err(error) if cannot_be_mapped(&error) => {
                if file.metadata()?.len() < length as u64 {
                    file.write_all_at(&vec![0; length], 0)?;
                }
            }
            reserved => reserved?,
        }
        Ok(Self {
            words: Mapping::of(file, 0, length)?,
            count,
        })
    }

    /// The words, in their order.
    pub fn iter(&self) -> impl Iterator<Item = &AtomicU64> {
        (0..self.count).map(|nth| self.words.word(nth))
    }

    /// One of them.
    pub fn get(&self, nth: usize) -> &AtomicU64 {
        assert!(nth < self.count, "there is no such word");
        self.words.word(nth)
    }
}

/// Has the file system promise room for this piece of a file. A process that stores into a page for
/// which there is no room would be ended by SIGBUS.
fn reserve(file: &File, from: u64, length: usize) -> io::Result<()> {
    Ok(fallocate(
        file,
        FallocateFlags::empty(),
        from,
        length as u64,
    )?)
}

/// Whether the file system does not know how to do that.
fn cannot_be_mapped(error: &io::Error) -> bool {
    let errno = Errno::from_io_error(error);
    matches!(errno, Some(Errno::OPNOTSUPP | Errno::NOSYS | Errno::NODEV))
}

/// A piece of a file in memory.
mod mapping {
    #![allow(
        unsafe_code,
        reason = "the compiler does not know what the kernel maps"
    )]

    use std::fs::File;
    use std::io;
    use std::ptr::{self, NonNull};
    use std::sync::atomic::AtomicU64;

    use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

    /// A piece of a file that is in memory, shared with everybody else who has it there.
    #[derive(Debug)]
    pub(super) struct Mapping {
        start: NonNull<u8>,
        length: usize,
    }

    impl Mapping {
        /// Maps a piece that begins on a page and that the file has to its end.
        pub(super) fn of(file: &File, from: u64, length: usize) -> io::Result<Self> {
            let access = ProtFlags::READ | ProtFlags::WRITE;
            // SAFETY: the kernel chooses a place where nothing is.
            let start = unsafe {
                let anywhere = ptr::null_mut();
                mmap(anywhere, length, access, MapFlags::SHARED, file, from)?
            };
            let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::AddrNotAvailable)?;
            Ok(Self { start, length })
        }

        pub(super) fn length(&self) -> usize {
            self.length
        }

        /// Copies bytes to this place. Other processes may read them with `read`, which is no access that the
        /// compiler has to know of.
        pub(super) fn store(&mut self, at: usize, bytes: &[u8]) {
            let fits = at <= self.length && bytes.len() <= self.length - at;
            assert!(fits, "what is stored is within the piece");
            // SAFETY: the place is within the mapping, which is ours alone in this process, and where no
            // slice of this process can be.
            unsafe {
                let place = self.start.as_ptr().add(at);
                ptr::copy_nonoverlapping(bytes.as_ptr(), place, bytes.len());
            }
        }

        /// A word of it. Other processes that share it use it as an atomic, too.
        pub(super) fn word(&self, nth: usize) -> &AtomicU64 {
            let fits = nth < self.length / size_of::<AtomicU64>();
            assert!(fits, "the word is within the piece");
            // SAFETY: it is within the mapping, which begins on a page and so is aligned, and it lives as long
            // as the reference.
            unsafe { AtomicU64::from_ptr(self.start.as_ptr().cast::<u64>().add(nth)) }
        }
    }

    impl Drop for Mapping {
        fn drop(&mut self) {
            // SAFETY: it was mapped at this place with this length, and nothing refers to it any more.
            let unmapped = unsafe { munmap(self.start.as_ptr().cast(), self.length) };
            debug_assert!(unmapped.is_ok(), "what was mapped can be unmapped");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> File {
        let named = tempfile::NamedTempFile::new().expect("a file");
        let mut options = File::options();
        let file = options.read(true).append(true).open(named.path());
        file.expect("it is there")
    }

    /// What counts of a log.
    fn counted(file: &File) -> Vec<u8> {
        let length = file.metadata().expect("a file").len() as usize;
        let mut bytes = vec![0; length];
        file.read_exact_at(&mut bytes, 0).expect("it has them");
        let (head, rest) = bytes.split_at(HEAD_BYTES);
        let counts = u64::from_le_bytes(head.try_into().expect("a word"));
        match counts {
            TO_THE_END => rest.to_vec(),
            counts => rest[..counts as usize].to_vec(),
        }
    }

    fn some(length: usize) -> Vec<u8> {
        (0..length).map(|n| (n % 251) as u8 + 1).collect()
    }

    #[test]
    fn what_is_appended_is_there_at_once_and_nothing_else_when_it_is_trimmed() {
        for begin in [MappedLog::begin, MappedLog::begin_with_writes] {
            let file = file();
            let mut log = begin(file.try_clone().expect("a handle")).expect("a log");
            assert!(counted(&file).is_empty());
            let mut all = Vec::new();
            // Some end where a piece ends, some are longer than one.
            for length in [1, 7, FIRST_PIECE - 16, 1, 0, PIECE - 1, 3 * PIECE + 5, 12] {
                let bytes = some(length);
                log.append(&bytes).expect("there is room");
                all.extend(bytes);
                assert!(counted(&file) == all, "after {length} bytes");
            }
            for last in [some(0), some(9)] {
                log.trim().expect("it can be cut off");
                log.append(&last).expect("there is room");
                all.extend(last);
                assert!(counted(&file) == all);
                let length = file.metadata().expect("a file").len();
                assert_eq!(length, (HEAD_BYTES + all.len()) as u64);
            }
        }
    }

    #[test]
    fn every_handle_sees_the_same_words() {
        let file = file();
        let [one, other] = [3, 3].map(|count| SharedWords::open(&file, count).expect("words"));
        one.get(2).store(7, Ordering::Release);
        let seen = other.iter().map(|word| word.load(Ordering::Acquire));
        assert_eq!(seen.collect::<Vec<_>>(), [0, 0, 7]);
        let changed = other.get(2);
        let lost = changed.compare_exchange(0, 1, Ordering::AcqRel, Ordering::Acquire);
        assert_eq!(lost, Err(7));
    }
}
