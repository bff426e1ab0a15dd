//! How many processes a program may be, with all that it starts.
//!
//! The kernel counts the processes of a user, not those of a program, and it does not count those of root. So they
//! are counted here, by the mark in their environment, for all programs of this process at once.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use crate::sandbox;

/// How often they are counted. What multiplies faster is ended a moment later.
const EVERY: Duration = Duration::from_millis(40);

/// A program and what it may start, watched as long as this lives.
pub(crate) struct Crowd {
    mark: String,
    watched: Arc<Watched>,
}

struct Watched {
    most: u32,
    /// How many there were when there were too many; 0 before.
    found: AtomicU32,
}

/// The programs that are watched.
struct All {
    by_mark: BTreeMap<String, Arc<Watched>>,
    /// Whether a thread counts them, which ends when there are none.
    is_counting: bool,
}

static WATCHED: Mutex<All> = Mutex::new(All {
    by_mark: BTreeMap::new(),
    is_counting: false,
});

fn all() -> MutexGuard<'static, All> {
    WATCHED.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Crowd {
    /// Ends all that has this mark as soon as there are more of them.
    pub(crate) fn watch(mark: String, most: u32) -> Self {
        let found = AtomicU32::new(0);
        let watched = Arc::new(Watched { most, found });
        let mut all = all();
        all.by_mark.insert(mark.clone(), Arc::clone(&watched));
        if !all.is_counting {
            let counting = thread::Builder::new().name("programs' processes".to_owned());
            // Where there is no thread to be had, the next program tries again.
            all.is_counting = counting.spawn(count).is_ok();
        }
        Self { mark, watched }
    }

    /// How many there may be and how many there were, if they were too many.
    pub(crate) fn exceeded(&self) -> Option<(u32, u32)> {
        let found = self.watched.found.load(Ordering::Relaxed);
        (found > 0).then_some((self.watched.most, found))
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        all().by_mark.remove(&self.mark);
    }
}

/// Counts until nobody is watched any more.
fn count() {
    loop {
        thread::sleep(EVERY);
        let counts = sandbox::counts();
        let mut all = all();
        if all.by_mark.is_empty() {
            all.is_counting = false;
            return;
        }
        let crowds = all.by_mark.iter().filter_map(|(mark, watched)| {
            let found = counts.get(mark).copied().unwrap_or(0);
            (found > watched.most).then(|| (mark.clone(), Arc::clone(watched), found))
        });
        let crowds = crowds.collect::<Vec<_>>();
        drop(all);
        for (mark, watched, found) in crowds {
            // The finding is stored before the program is killed, so that the reader of its pipe knows why it ended.
            watched.found.store(found, Ordering::Relaxed);
            sandbox::end_marked(&mark);
        }
    }
}
