//! A witness of mutual exclusion that depends on no clock and no record.
//!
//! Around its critical section every member says in memory that all members of the host share that it is inside.
//! A member that finds k others inside as it enters is refused, whatever clocks and records say. For who trusts the
//! kernel alone, the witness is a real lock on one of k files.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::SeqCst;

use algorithms::NodeId;
use model::plan::WitnessKind;
use tracing::info;
use wire::mapped::SharedWords;

/// What the names of the witness's files begin with; nobody needs them after the run.
pub const FILES: &str = "witness.";

/// One member's view of who is inside.
pub(crate) struct Witness {
    kind: Kind,
    /// The place that it took as it entered, or none, if it was refused; set while it is inside.
    inside: Option<Testimony>,
}

enum Kind {
    Words(Words),
    /// The files, one for each of those who may be inside.
    Locks(Vec<File>),
}

/// The witness's answer to a member that enters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Testimony {
    /// There was room: fewer than k others are inside. In memory the place is how many they are, and of the
    /// locks it is which one the member holds.
    Admitted(u32),
    /// k others are inside.
    Refused,
}

impl Witness {
    /// The witness of a run whose members record in `dir`, for this life of one of them. At most k of `nodes`
    /// members may be inside.
    pub(crate) fn open(
        dir: &Path,
        kind: WitnessKind,
        (k, nodes): (u32, u32),
        me: Life,
    ) -> io::Result<Self> {
        let kind = match kind {
            WitnessKind::Memory => Kind::Words(Words {
                words: SharedWords::open(&file(dir, "words")?, nodes as usize + 1)?,
                k: u64::from(k),
                me,
                dir: dir.to_owned(),
            }),
            WitnessKind::Kernel => {
                let files = (0..k).map(|slot| file(dir, &slot.to_string()));
                Kind::Locks(files.collect::<Result<_, _>>()?)
            }
        };
        let inside = None;
        Ok(Self { kind, inside })
    }

    /// Called on entering.
    pub(crate) fn enter(&mut self) -> io::Result<Testimony> {
        // Who is inside already is nobody else.
        if let Some(answer) = self.inside {
            return Ok(answer);
        }
        let answer = match &self.kind {
            Kind::Words(words) => words.enter()?,
            Kind::Locks(files) => lock_first(files)?,
        };
        self.inside = Some(answer);
        Ok(answer)
    }

    /// Called on leaving, before the exit is recorded.
    pub(crate) fn leave(&mut self) -> io::Result<()> {
        match (&self.kind, self.inside.take()) {
            (_, None) | (Kind::Locks(_), Some(Testimony::Refused)) => Ok(()),
            (Kind::Words(words), Some(_)) => {
                words.leave();
                Ok(())
            }
            (Kind::Locks(files), Some(Testimony::Admitted(slot))) => files[slot as usize].unlock(),
        }
    }
}

/// A file of the witness. Another user who could open it could forge a refusal.
fn file(dir: &Path, name: &str) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).read(true).write(true);
    options.mode(0o600).open(dir.join(format!("{FILES}{name}")))
}

/// Takes the first lock that is free. Who gets none is not seen by those who enter after it.
fn lock_first(files: &[File]) -> io::Result<Testimony> {
    for (slot, file) in (0..).zip(files) {
        match file.try_lock() {
            Ok(()) => return Ok(Testimony::Admitted(slot)),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    Ok(Testimony::Refused)
}

/// One life of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Life {
    pub(crate) node: NodeId,
    pub(crate) incarnation: u32,
}

impl Life {
    /// The file of its records, which it keeps locked for as long as it lives.
    pub(crate) fn records(self, dir: &Path) -> PathBuf {
        dir.join(format!("{}.{}.rec", self.node, self.incarnation))
    }

    /// Whether its process lives. The kernel gives up its lock when it dies, before anybody can be told that
    /// it is dead.
    fn is_alive(self, dir: &Path) -> io::Result<bool> {
        match File::open(self.records(dir))?.try_lock_shared() {
            Ok(()) => Ok(false),
            Err(TryLockError::WouldBlock) => Ok(true),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

/// Who is inside, in shared memory: the first word is how many, and then each member has a word of its own,
/// which is 0 while it is outside, and otherwise one more than the number of its life.
///
/// The words of the members are the truth. The first spares a member that enters a look at them all: it is never less
/// than how many words are set by members that have come so far, so that below k there is room. It stays too
/// large when a member dies inside, and then everybody looks.
struct Words {
    words: SharedWords,
    k: u64,
    me: Life,
    dir: PathBuf,
}

impl Words {
    /// Of two that enter at the same time, the one that counts itself second finds the word of the first, which was
    /// set before it was counted.
    fn enter(&self) -> io::Result<Testimony> {
        let mine = self.words.get(self.me.node.index() + 1);
        mine.store(u64::from(self.me.incarnation) + 1, SeqCst);
        let mut others = self.words.get(0).fetch_add(1, SeqCst);
        if others >= self.k {
            others = self.others()?;
        }
        Ok(match u32::try_from(others) {
            Ok(place) if others < self.k => Testimony::Admitted(place),
            _ => Testimony::Refused,
        })
    }

    /// The word goes first: a member that finds it set can rely on this member being inside.
    fn leave(&self) {
        self.words.get(self.me.node.index() + 1).store(0, SeqCst);
        self.words.get(0).fetch_sub(1, SeqCst);
    }

    /// How many others are inside and alive. The word of one that died inside is taken back.
    fn others(&self) -> io::Result<u64> {
        let mut inside = 0;
        for (node, word) in (0..).map(NodeId).zip(self.words.iter().skip(1)) {
            let seen = word.load(SeqCst);
            let Some(incarnation) = seen.checked_sub(1).filter(|_| node != self.me.node) else {
                continue;
            };
            let incarnation = incarnation as u32;
            let alive = Life { node, incarnation }.is_alive(&self.dir)?;
            info!(member = %node, alive, "the witness has somebody inside");
            if alive {
                inside += 1;
            } else {
                // If it is another by now, somebody else took it back.
                let _ = word.compare_exchange(seen, 0, SeqCst, SeqCst);
            }
        }
        Ok(inside)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    const KINDS: [WitnessKind; 2] = [WitnessKind::Memory, WitnessKind::Kernel];
    /// How often four enter at once.
    const ENTRIES: usize = 1_000;

    fn life(node: u32) -> Life {
        Life {
            node: NodeId(node),
            incarnation: 0,
        }
    }

    /// A member of this directory whose process lives: it keeps its records locked.
    fn living(dir: &Path, kind: WitnessKind, k: u32, node: u32) -> (Witness, File) {
        let records = File::create(life(node).records(dir)).unwrap();
        records.lock().unwrap();
        let witness = Witness::open(dir, kind, (k, 8), life(node)).unwrap();
        (witness, records)
    }

    #[test]
    fn a_second_one_is_refused_until_the_first_leaves() {
        for kind in KINDS {
            let dir = tempfile::tempdir().unwrap();
            let [(mut first, _one), (mut second, _two)] =
                [0, 1].map(|node| living(dir.path(), kind, 1, node));
            assert_eq!(first.enter().unwrap(), Testimony::Admitted(0));
            assert_eq!(second.enter().unwrap(), Testimony::Refused);
            second.leave().unwrap();
            assert_eq!(second.enter().unwrap(), Testimony::Refused);
            second.leave().unwrap();
            first.leave().unwrap();
            assert_eq!(second.enter().unwrap(), Testimony::Admitted(0));
        }
    }

    #[test]
    fn of_those_who_enter_at_once_all_but_k_are_refused() {
        for (kind, k) in KINDS.into_iter().flat_map(|kind| [(kind, 1), (kind, 2)]) {
            let dir = tempfile::tempdir().unwrap();
            let all_are_there = Barrier::new(4);
            let enter = |node| {
                let (mut witness, _records) = living(dir.path(), kind, k, node);
                let mut answers = Vec::new();
                for _ in 0..ENTRIES {
                    all_are_there.wait();
                    answers.push(witness.enter().unwrap());
                    // Everybody is inside, as far as they know.
                    all_are_there.wait();
                    witness.leave().unwrap();
                }
                answers
            };
            let answers = std::thread::scope(|scope| {
                let enter = &enter;
                let members = [0, 1, 2, 3].map(|node| scope.spawn(move || enter(node)));
                members.map(|member| member.join().unwrap())
            });
            for nth in 0..ENTRIES {
                let slots = answers.iter().filter_map(|answer| match answer[nth] {
                    Testimony::Admitted(slot) => Some(slot),
                    Testimony::Refused => None,
                });
                let mut admitted = slots.collect::<Vec<_>>();
                admitted.sort_unstable();
                assert!(admitted.into_iter().eq(0..k), "{kind:?}, entry {nth}");
            }
        }
    }

    #[test]
    fn a_member_that_died_inside_is_not_there_and_one_that_lives_is() {
        let dir = tempfile::tempdir().unwrap();
        let (mut dead, records) = living(dir.path(), WitnessKind::Memory, 1, 7);
        let (mut other, _lives) = living(dir.path(), WitnessKind::Memory, 1, 2);
        assert_eq!(dead.enter().unwrap(), Testimony::Admitted(0));
        assert_eq!(other.enter().unwrap(), Testimony::Refused);
        // What the kernel does when a process ends.
        drop(records);
        other.leave().unwrap();
        for _ in 0..2 {
            assert_eq!(other.enter().unwrap(), Testimony::Admitted(0));
            other.leave().unwrap();
        }
        // The count says one too many from then on, and who is inside is seen all the same.
        let (mut third, _records) = living(dir.path(), WitnessKind::Memory, 1, 3);
        assert_eq!(other.enter().unwrap(), Testimony::Admitted(0));
        assert_eq!(third.enter().unwrap(), Testimony::Refused);
    }

    /// Somebody who got in beside another and stays longer is somebody inside all the same.
    #[test]
    fn who_was_refused_is_seen_by_those_who_enter_later() {
        let dir = tempfile::tempdir().unwrap();
        let [(mut first, _one), (mut second, _two), (mut third, _three)] =
            [0, 1, 2].map(|node| living(dir.path(), WitnessKind::Memory, 1, node));
        assert_eq!(first.enter().unwrap(), Testimony::Admitted(0));
        assert_eq!(second.enter().unwrap(), Testimony::Refused);
        first.leave().unwrap();
        assert_eq!(third.enter().unwrap(), Testimony::Refused);
        second.leave().unwrap();
        assert_eq!(first.enter().unwrap(), Testimony::Refused);
        third.leave().unwrap();
        first.leave().unwrap();
        assert_eq!(second.enter().unwrap(), Testimony::Admitted(0));
    }

    #[test]
    fn nobody_else_can_open_the_files() {
        use std::os::unix::fs::PermissionsExt;
        for (kind, name) in KINDS.into_iter().zip(["witness.words", "witness.0"]) {
            let dir = tempfile::tempdir().unwrap();
            let _witness = Witness::open(dir.path(), kind, (1, 8), life(0)).unwrap();
            let file = std::fs::metadata(dir.path().join(name)).unwrap();
            assert_eq!(file.permissions().mode() & 0o777, 0o600);
        }
    }
}
