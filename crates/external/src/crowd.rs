//! How many processes a program may be, and how much memory it may have, with all that it starts.
//!
//! The kernel counts the processes of a user, not those of a program, and it does not count those of root; of memory
//! it counts addresses, which many languages take without using them. So both are measured here, for all programs of
//! this process at once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use algorithms::external::Limits;

use crate::sandbox::{self, Family, Individual, Programs};

/// How often they are measured. What multiplies faster is ended a moment later.
const EVERY: Duration = Duration::from_millis(40);

/// A program and what it may take, watched as long as this lives.
pub(crate) struct Crowd {
    mark: String,
    watched: Arc<Mutex<Watched>>,
}

struct Watched {
    limits: Limits,
    /// What it took when it took too much, and what is allowed.
    exceeded: Option<String>,
    /// The program, and what it had started when it was last measured.
    known: Vec<Individual>,
}

/// The programs that are watched.
struct All {
    by_mark: BTreeMap<String, Arc<Mutex<Watched>>>,
    /// Whether a thread measures them, which ends when there are none.
    is_measuring: bool,
}

static WATCHED: Mutex<All> = Mutex::new(All {
    by_mark: BTreeMap::new(),
    is_measuring: false,
});

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Crowd {
    /// Ends the program, and all that it started, as soon as they take too much.
    pub(crate) fn watch(mark: String, program: Option<Individual>, limits: Limits) -> Self {
        let watched = Arc::new(Mutex::new(Watched {
            limits,
            exceeded: None,
            known: program.into_iter().collect(),
        }));
        let mut all = locked(&WATCHED);
        all.by_mark.insert(mark.clone(), Arc::clone(&watched));
        if !all.is_measuring {
            let measuring = thread::Builder::new().name("what programs take".to_owned());
            // Where there is no thread to be had, the next program tries again.
            all.is_measuring = measuring.spawn(measure).is_ok();
        }
        Self { mark, watched }
    }

    /// What it took and what it may take, if that was too much.
    pub(crate) fn exceeded(&self) -> Option<String> {
        locked(&self.watched).exceeded.clone()
    }

    /// The program, and what it had started when it was last measured.
    pub(crate) fn known(&self) -> Vec<Individual> {
        locked(&self.watched).known.clone()
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        locked(&WATCHED).by_mark.remove(&self.mark);
    }
}

/// Measures until nobody is watched any more.
fn measure() {
    loop {
        thread::sleep(EVERY);
        let watched = {
            let mut all = locked(&WATCHED);
            if all.by_mark.is_empty() {
                all.is_measuring = false;
                return;
            }
            all.by_mark.clone()
        };
        let programs = watched.iter();
        let programs = programs.map(|(mark, one)| (mark.clone(), locked(one).known.clone()));
        let families = sandbox::all_families(&programs.collect::<Programs>());
        for (mark, one) in &watched {
            if let Some(family) = families.get(mark) {
                take_stock(one, mark, family);
            }
        }
    }
}

/// Ends a program that takes too much.
fn take_stock(one: &Mutex<Watched>, mark: &str, family: &Family) {
    let mut watched = locked(one);
    let mut known = std::mem::take(&mut watched.known);
    known.extend(&family.members);
    known.sort();
    known.dedup();
    // What is over need not be remembered, or a program that starts one after the other would fill the memory.
    if known.len() > MOST_REMEMBERED {
        known.clone_from(&family.members);
    }
    watched.known.clone_from(&known);
    let Some(exceeded) = exceeded(watched.limits, family) else {
        return;
    };
    // The finding is stored before the program is killed, so that the reader of its pipe knows why it ended.
    watched.exceeded.get_or_insert(exceeded);
    drop(watched);
    sandbox::end_families(&Programs::from([(mark.to_owned(), known)]));
}

/// So many processes of one program are remembered.
const MOST_REMEMBERED: usize = 4096;

fn exceeded(limits: Limits, family: &Family) -> Option<String> {
    let found = family.members.len();
    if let Some(most) = limits.processes.filter(|&most| found > most as usize) {
        return Some(format!(
            "were {found} processes, and {most} are allowed (--program-processes)"
        ));
    }
    let mib = |bytes: u64| bytes.div_ceil(1 << 20);
    let most = limits
        .memory_bytes
        .filter(|&most| family.resident_bytes > most)?;
    Some(format!(
        "took {} MiB of memory, and {} are allowed (--program-memory)",
        mib(family.resident_bytes),
        mib(most)
    ))
}
