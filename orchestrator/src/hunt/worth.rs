//! What a hunt is worth: how many runs it takes to find defects that are known.
//!
//! Every defect of the registry that can be switched on is hunted for, with several seeds and in several
//! manners; none of them is told what shows the defect, but the parameters without which it is not there.
//! A run has found it that fails where the repaired algorithm, in the same scenario, is not violated.

mod page;
mod progress;

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use algorithms::printed::{Costs, Defect, Fails, Shows};
use algorithms::registry::AlgorithmInfo;
use analysis::Verdict;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use model::run::Engine;

use super::draw::{self, Manner, Source};
use super::failure::What;
use super::trial;
use crate::scenario::{AsPrinted, Scenario};
use crate::{Exit, Failure, print, results};
use progress::Progress;

/// The table's name in its directory, and that of the numbers behind it.
const TABLE: &str = "hunt.md";
const NUMBERS: &str = "hunt.csv";

/// What is compared, and what each is called.
const MANNERS: [(Manner, &str); 4] = [
    (Manner::Swarm, "hunt"),
    (Manner::WithoutPriorities, "hunt without pct"),
    (Manner::Plain, "plain random"),
    (Manner::PlainWithPriorities, "plain random with pct"),
];

/// A defect to hunt for.
struct Sought {
    info: &'static AlgorithmInfo,
    defect: &'static Defect,
    breaks: Breaks,
    /// It and those that it needs.
    as_printed: Vec<String>,
    /// Those that it needs alone.
    without_it: Vec<String>,
}

/// What a defect breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Breaks {
    /// A promise: safety, liveness or well-formedness; and how, in a word.
    Promise(&'static str),
    /// None: entries only take more messages or time. No hunt sees that: closed forms are about the
    /// repaired algorithm, and a run that is as printed is not held against them.
    Cost(&'static str),
}

impl Sought {
    fn breaks_a_promise(&self) -> bool {
        matches!(self.breaks, Breaks::Promise(_))
    }
}

/// What is measured, and with what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Measure {
    /// The first seed.
    pub(crate) seed: u64,
    /// How many seeds.
    pub(crate) seeds: u64,
    /// The most runs with each.
    pub(crate) limit: u64,
}

/// How many runs the finding took for each seed; nothing where it was not found.
type Taken = Vec<Option<u64>>;

/// One hunt: a defect, a manner, and a seed, each by its place.
type Job = (usize, usize, u64);

/// Hunts for every defect of these algorithms with so many seeds, each for at most so many runs. In the
/// directory it goes on where it was interrupted.
pub(crate) fn measure(
    algorithms: &[&'static AlgorithmInfo],
    measure: Measure,
    out: Option<&Path>,
    interrupted: &AtomicBool,
) -> Result<Exit, Failure> {
    let all = sought(algorithms);
    if all.is_empty() || measure.seeds == 0 {
        let why = "there is nothing to hunt for: no defect that can be switched on, or no seed";
        return Err(Failure::Usage(why.to_owned()));
    }
    if let Some(out) = out {
        std::fs::create_dir_all(out)
            .map_err(|error| Failure::Usage(format!("--out {}: {error}", out.display())))?;
    }
    let mut progress = Progress::open(out, &all, measure)?;
    let promised = all.iter().filter(|one| one.breaks_a_promise()).count();
    // One manner after the other, so that an interrupted measurement says something of the first.
    let jobs = (0..MANNERS.len()).flat_map(|manner| {
        let places = 0..promised;
        places.flat_map(move |place| (0..measure.seeds).map(move |nth| (place, manner, nth)))
    });
    let jobs = jobs.collect::<Vec<_>>();
    let left = jobs.iter().copied().filter(|job| !progress.has(*job));
    let left = left.collect::<Vec<_>>();
    let bar = ProgressBar::with_draw_target(Some(jobs.len() as u64), ProgressDrawTarget::stderr());
    let form = "{bar:30} {pos} of {len} hunts  ({eta} left)";
    bar.set_style(ProgressStyle::with_template(form).expect("the template is well formed"));
    bar.set_position((jobs.len() - left.len()) as u64);
    bar.reset_eta();
    let mut written = Ok(());
    side_by_side(
        &left,
        &|(place, manner, nth)| {
            let one = &all[place];
            let source = Source {
                info: one.info,
                as_printed: &one.as_printed,
                params: one.defect.with,
                engine: Engine::Sim,
                manner: MANNERS[manner].0,
                seed: measure.seed + nth,
            };
            runs_until_found(source, one, measure.limit, interrupted)
        },
        &mut |job, runs| {
            // A hunt that was cut short says nothing.
            if !interrupted.load(Ordering::Relaxed) && written.is_ok() {
                bar.inc(1);
                written = progress.add(job, runs);
            }
        },
    );
    bar.finish_and_clear();
    written?;
    progress.write()?;
    let is_whole = jobs.iter().all(|job| progress.has(*job));
    let manners = (0..MANNERS.len()).filter(|manner| {
        let mut of_manner = jobs.iter().filter(|(_, of, _)| of == manner);
        of_manner.all(|job| progress.has(*job))
    });
    let manners = manners.collect::<Vec<_>>();
    if !manners.is_empty() {
        let taken = progress.taken(promised, &manners, measure.seeds);
        let names = manners.iter().map(|manner| MANNERS[*manner].1);
        let names = names.collect::<Vec<_>>();
        let page = page::page(&all, &taken, &names, measure);
        print(&page)?;
        if let Some(out) = out {
            results::replace(&out.join(TABLE), &page)?;
            let numbers = page::numbers(&all, &taken, &names, measure.seed);
            results::replace(&out.join(NUMBERS), &numbers)?;
        }
    }
    if !is_whole {
        print(&format!("interrupted; {}\n", progress.how_to_go_on()))?;
        return Ok(Exit::Interrupted);
    }
    progress.forget()?;
    Ok(Exit::Holds)
}

/// The defects that can be switched on, those that break a promise first.
fn sought(algorithms: &[&'static AlgorithmInfo]) -> Vec<Sought> {
    let mut all = Vec::new();
    for info in algorithms {
        for defect in info.more.defects {
            let Some(breaks) = breaks(defect) else {
                continue;
            };
            let printed = info.as_printed(&[defect.id]);
            let printed = printed.expect("a defect goes with those it needs").defects;
            let without_it = printed.iter().filter(|id| *id != defect.id);
            all.push(Sought {
                info,
                defect,
                breaks,
                without_it: without_it.cloned().collect(),
                as_printed: printed.into_iter().collect(),
            });
        }
    }
    all.sort_by_key(|one| matches!(one.breaks, Breaks::Cost(_)));
    all
}

/// What a defect breaks; nothing if it cannot be run.
fn breaks(defect: &Defect) -> Option<Breaks> {
    if defect.rules.is_empty() {
        return None;
    }
    Some(match defect.shows {
        Shows::World(world) => match world.fails {
            Fails::Exclusion => Breaks::Promise("exclusion"),
            Fails::Uninvited => Breaks::Promise("uninvited"),
            Fails::ProtocolError => Breaks::Promise("protocol error"),
            Fails::Deadlock => Breaks::Promise("deadlock"),
            Fails::Trapped => Breaks::Promise("trapped"),
            Fails::Messages => Breaks::Cost("messages"),
        },
        Shows::Run(run) => match run.costs {
            Costs::LiveLock => Breaks::Promise("live-lock"),
            Costs::Messages => Breaks::Cost("messages"),
            Costs::Wait => Breaks::Cost("wait"),
        },
        Shows::Nothing => return None,
    })
}

fn runs_until_found(
    source: Source<'_>,
    sought: &Sought,
    limit: u64,
    interrupted: &AtomicBool,
) -> Option<u64> {
    let stopped = || interrupted.load(Ordering::Relaxed);
    (0..limit).take_while(|_| !stopped()).find_map(|nth| {
        let (scenario, resolved) = draw::scenario(source, nth);
        let done = trial::simulated(&scenario, &resolved, false, &stopped);
        let breaks_a_promise = matches!(
            done.failure?.what,
            What::Safety | What::Liveness | What::WellFormedness
        );
        let found = breaks_a_promise && is_of_the_defect(scenario, sought, &stopped);
        found.then_some(nth + 1)
    })
}

/// Whether the scenario fails because of the defect: repaired, it does not.
fn is_of_the_defect(scenario: Scenario, sought: &Sought, stopped: &dyn Fn() -> bool) -> bool {
    let repaired = Scenario {
        as_printed: match sought.without_it.is_empty() {
            true => None,
            false => Some(AsPrinted::Some(sought.without_it.clone())),
        },
        ..scenario
    };
    repaired.resolve().is_ok_and(|resolved| {
        let done = trial::simulated(&repaired, &resolved, false, stopped);
        done.verdict != Verdict::Violated
    })
}

/// Does it all on all processors, and hands over each as soon as it is done.
fn side_by_side(
    jobs: &[Job],
    perform: &(dyn Fn(Job) -> Option<u64> + Sync),
    over: &mut dyn FnMut(Job, Option<u64>),
) {
    let next = AtomicUsize::new(0);
    let workers = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        for _ in 0..workers {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                while let Some(&job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if sender.send((job, perform(job))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        receiver.iter().for_each(|(job, runs)| over(job, runs));
    });
}

/// The median; nothing if half of the seeds or more did not find it.
fn median(taken: &Taken) -> Option<u64> {
    let mut ranked = taken.clone();
    ranked.sort_unstable_by_key(|runs| runs.unwrap_or(u64::MAX));
    ranked[(ranked.len() - 1) / 2].filter(|_| ranked[ranked.len() / 2].is_some())
}

#[cfg(test)]
mod tests {
    use algorithms::registry;

    use super::*;

    #[test]
    fn the_median_is_of_all_seeds() {
        assert_eq!(median(&vec![Some(3), None, Some(1)]), Some(3));
        assert_eq!(median(&vec![Some(3), None, None]), None);
        assert_eq!(median(&vec![Some(5), Some(1), None, Some(2)]), Some(2));
        assert_eq!(median(&vec![Some(5), None]), None);
    }

    #[test]
    fn most_defects_can_be_hunted_for() {
        let all = sought(registry::ALL);
        assert!(all.len() > 60, "only {}", all.len());
        let last = all.last().expect("many");
        assert!(matches!(last.breaks, Breaks::Cost(_)), "{}", last.defect.id);
    }

    /// Where retrying is off, votes that are split deadlock, whatever the print lacks.
    #[test]
    fn what_fails_without_the_defect_too_has_not_found_it() {
        let scenario = |more: &str| {
            let text = format!(
                "algorithm = \"thomas\"\nnodes = 3\nworkload = \"batch\"\nengine = \"sim\"\nseed = 1\n\
                 delay = \"4ms\"\nas-printed = [\"kanrar-TH-D1\"]\n{more}"
            );
            Scenario::from_toml(&text).expect("a scenario")
        };
        let all = sought(registry::ALL);
        let splits = all.iter().find(|one| one.defect.id == "kanrar-TH-D1");
        let splits = splits.expect("it can be switched on");
        assert!(is_of_the_defect(scenario(""), splits, &|| false));
        let gives_up = "params = { retry = \"off\" }";
        assert!(!is_of_the_defect(scenario(gives_up), splits, &|| false));
    }
}
