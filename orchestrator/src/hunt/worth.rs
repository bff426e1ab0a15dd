//! What a hunt is worth: how many runs it takes to find defects that are known.
//!
//! Every defect of the registry that can be switched on and breaks safety, liveness or
//! well-formedness is hunted for, with several seeds and in several manners; none of them is told what
//! shows the defect, but the parameters without which it is not there.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use algorithms::printed::{Costs, Defect, Fails, Shows};
use algorithms::registry::AlgorithmInfo;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use model::run::Engine;

use super::draw::{self, Manner, Source};
use super::failure::What;
use super::trial;
use crate::numbers::{count, many};
use crate::table::Table;
use crate::{Exit, Failure, print, results};

/// The table's name in its directory.
const TABLE: &str = "hunt.md";

/// What is compared, and what each is called.
const MANNERS: [(Manner, &str); 3] = [
    (Manner::Swarm, "hunt"),
    (Manner::WithoutPriorities, "without pct"),
    (Manner::Plain, "plain random"),
];

/// A defect to hunt for.
struct Sought {
    info: &'static AlgorithmInfo,
    defect: &'static Defect,
    as_printed: Vec<String>,
}

/// How many runs the finding took for each seed; nothing where it was not found.
type Taken = Vec<Option<u64>>;

/// Hunts for every defect of these algorithms with so many seeds, each for at most so many runs.
pub(crate) fn measure(
    algorithms: &[&'static AlgorithmInfo],
    (seed, seeds): (u64, u64),
    limit: u64,
    out: Option<&Path>,
    interrupted: &AtomicBool,
) -> Result<Exit, Failure> {
    let all = sought(algorithms);
    if all.is_empty() || seeds == 0 {
        let why = "there is nothing to hunt for: no defect that can be switched on, or no seed";
        return Err(Failure::Usage(why.to_owned()));
    }
    let jobs = (0..all.len()).flat_map(|place| {
        let manners = 0..MANNERS.len();
        manners.flat_map(move |manner| (0..seeds).map(move |nth| (place, manner, nth)))
    });
    let jobs = jobs.collect::<Vec<_>>();
    let bar = ProgressBar::with_draw_target(Some(jobs.len() as u64), ProgressDrawTarget::stderr());
    let form = "{bar:30} {pos} of {len} hunts  ({eta} left)";
    bar.set_style(ProgressStyle::with_template(form).expect("the template is well formed"));
    let mut taken = vec![vec![vec![None; seeds as usize]; MANNERS.len()]; all.len()];
    side_by_side(
        &jobs,
        &|(place, manner, nth)| {
            let one = &all[place];
            let source = Source {
                info: one.info,
                as_printed: &one.as_printed,
                params: one.defect.with,
                engine: Engine::Sim,
                manner: MANNERS[manner].0,
                seed: seed + nth,
            };
            runs_until_found(source, limit, interrupted)
        },
        &mut |(place, manner, nth), runs| {
            bar.inc(1);
            taken[place][manner][nth as usize] = runs;
        },
    );
    bar.finish_and_clear();
    if interrupted.load(Ordering::Relaxed) {
        print("interrupted; what was measured so far would be no median\n")?;
        return Ok(Exit::Interrupted);
    }
    let page = page(&all, &taken, (seed, seeds), limit);
    print(&page)?;
    if let Some(out) = out {
        std::fs::create_dir_all(out)
            .map_err(|error| Failure::Usage(format!("--out {}: {error}", out.display())))?;
        results::replace(&out.join(TABLE), &page)?;
    }
    Ok(Exit::Holds)
}

/// The defects that break a promise; what only costs more is none of these.
fn sought(algorithms: &[&'static AlgorithmInfo]) -> Vec<Sought> {
    let mut all = Vec::new();
    for info in algorithms {
        for defect in info
            .more
            .defects
            .iter()
            .filter(|defect| breaks(defect).is_some())
        {
            let printed = info.as_printed(&[defect.id]);
            let printed = printed.expect("a defect goes with those it needs");
            all.push(Sought {
                info,
                defect,
                as_printed: printed.defects.into_iter().collect(),
            });
        }
    }
    all
}

/// What a defect breaks, in a word; nothing if it only costs messages or time, or cannot be run.
fn breaks(defect: &Defect) -> Option<&'static str> {
    if defect.rules.is_empty() {
        return None;
    }
    match defect.shows {
        Shows::World(world) => match world.fails {
            Fails::Exclusion => Some("exclusion"),
            Fails::Uninvited => Some("uninvited"),
            Fails::ProtocolError => Some("protocol error"),
            Fails::Deadlock => Some("deadlock"),
            Fails::Trapped => Some("trapped"),
            Fails::Messages => None,
        },
        Shows::Run(run) => (run.costs == Costs::LiveLock).then_some("live-lock"),
        Shows::Nothing => None,
    }
}

fn runs_until_found(source: Source<'_>, limit: u64, interrupted: &AtomicBool) -> Option<u64> {
    let stopped = || interrupted.load(Ordering::Relaxed);
    let breaks_a_promise =
        |what| matches!(what, What::Safety | What::Liveness | What::WellFormedness);
    (0..limit).take_while(|_| !stopped()).find_map(|nth| {
        let (scenario, resolved) = draw::scenario(source, nth);
        let done = trial::simulated(&scenario, &resolved, false, &stopped);
        let failure = done.failure?;
        breaks_a_promise(failure.what).then_some(nth + 1)
    })
}

type Job = (usize, usize, u64);

/// Does all of it on all processors, and hands over each as soon as it is done.
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

fn page(all: &[Sought], taken: &[Vec<Taken>], (seed, seeds): (u64, u64), limit: u64) -> String {
    let mut headings = vec![
        "algorithm".to_owned(),
        "defect".to_owned(),
        "breaks".to_owned(),
    ];
    headings.extend(MANNERS.iter().map(|(_, name)| (*name).to_owned()));
    let mut table = Table::of(headings);
    for (one, taken) in all.iter().zip(taken) {
        let mut cells = vec![
            one.info.name.to_owned(),
            one.defect.id.to_owned(),
            breaks(one.defect).unwrap_or_default().to_owned(),
        ];
        cells.extend(taken.iter().map(|taken| {
            let found = taken.iter().flatten().count() as u64;
            let some = match found == seeds {
                true => String::new(),
                false => format!(" ({found} of {seeds})"),
            };
            match median(taken) {
                Some(runs) => format!("{}{some}", count(runs)),
                None => format!("more than {}{some}", count(limit)),
            }
        }));
        table.add(cells);
    }
    let mut page = format!(
        "# What a hunt is worth\n\n\
         Runs until a known defect is found, as the median of {} from {seed}, each for at most {} \
         runs; in brackets how many of\nthe seeds found it, where not all did. Made by \
         `orchestrator hunt --worth={seeds} --runs {limit} --seed {seed} --out results/reference`. \
         Every defect of\nthe registry that can be switched on and breaks a promise is here; what \
         only costs messages or time is not.\n\n",
        many(seeds, "seed", "seeds"),
        count(limit),
    );
    page += &table.shown(true);
    page += "\n| drawn | found in the median | share | found by every seed | sum of medians, those found by all |\n\
             |---|---|---|---|---|\n";
    let by_all = |taken: &&Vec<Taken>| taken.iter().all(|taken| median(taken).is_some());
    for (nth, (_, name)) in MANNERS.iter().enumerate() {
        let of_manner = taken.iter().map(|taken| &taken[nth]);
        let found = of_manner.clone().filter(|taken| median(taken).is_some());
        let found = found.count();
        let always = of_manner.filter(|taken| taken.iter().all(Option::is_some));
        let sum = taken
            .iter()
            .filter(by_all)
            .filter_map(|taken| median(&taken[nth]));
        page += &format!(
            "| {name} | {found} of {} | {:.0} % | {} | {} |\n",
            all.len(),
            100.0 * found as f64 / all.len() as f64,
            always.count(),
            count(sum.sum()),
        );
    }
    page
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
    }
}
