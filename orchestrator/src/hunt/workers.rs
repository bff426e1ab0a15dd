//! All processors at work, and results in the order of the runs.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;

use super::trial::Done;
use crate::Failure as Refusal;
use crate::scenario::Scenario;

/// So many results may wait for one that takes long.
const WAITING: usize = 4_096;

/// Performs these runs side by side, and hands over each when those before it are done. A run that was
/// cut off, and what comes after it, is not.
pub(super) fn in_order(
    runs: Range<u64>,
    is_over: &(dyn Fn() -> bool + Sync),
    perform: &(dyn Fn(u64) -> (Scenario, Done) + Sync),
    take: &mut dyn FnMut(u64, (Scenario, Done)) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    let next = AtomicU64::new(runs.start);
    let given_up = AtomicBool::new(false);
    let workers = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::sync_channel(WAITING);
        for _ in 0..workers {
            let (sender, next, given_up) = (sender.clone(), &next, &given_up);
            let end = runs.end;
            scope.spawn(move || {
                loop {
                    let nth = next.fetch_add(1, Ordering::Relaxed);
                    if nth >= end || is_over() || given_up.load(Ordering::Relaxed) {
                        break;
                    }
                    // The receiver has given up.
                    if sender.send((nth, perform(nth))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let mut ended = Ok(());
        let mut expected = runs.start;
        let mut early = BTreeMap::new();
        for (nth, done) in receiver {
            early.insert(nth, done);
            while let Some(done) = early.remove(&expected) {
                if done.1.interrupted {
                    given_up.store(true, Ordering::Relaxed);
                }
                if ended.is_ok() && !given_up.load(Ordering::Relaxed) {
                    ended = take(expected, done);
                    given_up.fetch_or(ended.is_err(), Ordering::Relaxed);
                }
                expected += 1;
            }
        }
        ended
    })
}
