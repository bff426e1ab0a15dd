//! The table of what a hunt is worth.

use algorithms::printed::Shows;

use super::{Breaks, MANNERS, Measure, Sought, Taken, median};
use crate::numbers::{count, many};
use crate::table::Table;

/// The page: what was found how soon, the share of it, and what was not found.
pub(super) fn page(
    all: &[Sought],
    taken: &[Vec<Taken>],
    manners: &[&str],
    measure: Measure,
) -> String {
    let Measure { seed, seeds, limit } = measure;
    let mut page = format!(
        "# What a hunt is worth\n\n\
         Runs until a known defect is found, as the median of {} from {seed}, each for at most {} \
         runs; in brackets how many of\nthe seeds found it, where not all did. Made by \
         `orchestrator hunt --worth={seeds} --runs {limit} --seed {seed}`; each number is in\n\
         [hunt.csv](hunt.csv).\n\n\
         Every defect of the registry that can be switched on and breaks safety, liveness or \
         well-formedness is here. The drawing knows\nnone of them; it is given the parameters \
         without which the defect is not there, where there are such. A run has found it that\n\
         breaks safety, liveness or well-formedness, while the repaired algorithm is not violated \
         in the same scenario.\n\n\
         - hunt: as `orchestrator hunt` draws, which knobs are turned and how many first; \
         `--schedule pct:d` is one of them.\n\
         - hunt without pct: the same without that knob.\n\
         - plain random: each knob and fault is turned in every other run; no pct.\n\
         - plain random with pct: the same, and `--schedule pct:d` in every run, d from 0 to 12.\n\n",
        many(seeds, "seed", "seeds"),
        count(limit),
    );
    let promises = || {
        all.iter()
            .zip(taken)
            .filter(|(one, _)| one.breaks_a_promise())
    };
    page += &rows(promises(), manners, measure);
    page += "\n";
    page += &shares(
        &promises().map(|(_, taken)| taken).collect::<Vec<_>>(),
        manners,
    );
    let names = MANNERS.iter().map(|(_, name)| *name);
    let unmeasured = names
        .filter(|name| !manners.contains(name))
        .collect::<Vec<_>>();
    if !unmeasured.is_empty() {
        page += &format!("\nNot all measured yet: {}.\n", unmeasured.join(", "));
    }
    page += &missing(promises(), limit);
    let costs = all.iter().filter(|one| !one.breaks_a_promise());
    let costs = costs
        .map(|one| format!("{} {}", one.info.name, one.defect.id))
        .collect::<Vec<_>>();
    if !costs.is_empty() {
        page += &format!(
            "\nNot hunted for, since they break no promise and only cost messages or time, and \
             closed forms are not held against\nwhat is as printed: {}.\n",
            costs.join(", ")
        );
    }
    page
}

fn rows<'a>(
    pairs: impl Iterator<Item = (&'a Sought, &'a Vec<Taken>)>,
    manners: &[&str],
    measure: Measure,
) -> String {
    let mut headings = ["algorithm", "defect", "breaks"]
        .map(str::to_owned)
        .to_vec();
    headings.extend(manners.iter().map(|name| (*name).to_owned()));
    let mut table = Table::of(headings);
    for (one, taken) in pairs {
        let (Breaks::Promise(how) | Breaks::Cost(how)) = one.breaks;
        let mut cells = [one.info.name, one.defect.id, how]
            .map(str::to_owned)
            .to_vec();
        cells.extend(taken.iter().map(|taken| {
            let found = taken.iter().flatten().count() as u64;
            let some = match found == measure.seeds {
                true => String::new(),
                false => format!(" ({found} of {})", measure.seeds),
            };
            match median(taken) {
                Some(runs) => format!("{}{some}", count(runs)),
                None => format!("more than {}{some}", count(measure.limit)),
            }
        }));
        table.add(cells);
    }
    table.shown(true)
}

/// How much of it was found in each manner.
fn shares(taken: &[&Vec<Taken>], manners: &[&str]) -> String {
    let mut text =
        "| drawn | found in the median | share | found by every seed | hunts that found it | \
                    sum of the medians of those found in all manners |\n|---|---|---|---|---|---|\n"
            .to_owned();
    let in_all = |taken: &&&Vec<Taken>| taken.iter().all(|taken| median(taken).is_some());
    for (nth, name) in manners.iter().enumerate() {
        let of_manner = || taken.iter().map(|taken| &taken[nth]);
        let found = of_manner().filter(|taken| median(taken).is_some()).count();
        let always = of_manner().filter(|taken| taken.iter().all(Option::is_some));
        let hunts = of_manner().flatten().count();
        let successful = of_manner().flatten().flatten().count();
        let sum = taken
            .iter()
            .filter(in_all)
            .filter_map(|taken| median(&taken[nth]));
        text += &format!(
            "| {name} | {found} of {} | {:.0} % | {} | {} of {} | {} |\n",
            taken.len(),
            100.0 * found as f64 / taken.len().max(1) as f64,
            always.count(),
            count(successful as u64),
            count(hunts as u64),
            count(sum.sum()),
        );
    }
    text
}

/// What a hunt did not find in the median, and what shows it.
fn missing<'a>(pairs: impl Iterator<Item = (&'a Sought, &'a Vec<Taken>)>, limit: u64) -> String {
    let missed = pairs.filter(|(_, taken)| median(&taken[0]).is_none());
    let missed = missed.map(|(one, _)| {
        let line = one
            .defect
            .line_as_printed(one.info.name)
            .unwrap_or_default();
        let steps = match one.defect.shows {
            Shows::World(_) => {
                let steps = one.defect.schedule.split(';').count();
                format!("one order of {steps} steps in a small world, ")
            }
            Shows::Nothing | Shows::Run(_) => String::new(),
        };
        format!(
            "- {} {}: {}: {steps}`{line}`\n",
            one.info.name, one.defect.id, one.defect.what
        )
    });
    let missed = missed.collect::<String>();
    match missed.is_empty() {
        true => String::new(),
        false => format!(
            "\nNot found by the hunt in {} runs in the median, with what shows each:\n\n{missed}",
            count(limit)
        ),
    }
}

/// Each hunt: what it took.
pub(super) fn numbers(all: &[Sought], taken: &[Vec<Taken>], manners: &[&str], seed: u64) -> String {
    let mut text = "algorithm,defect,breaks,drawn,seed,runs\n".to_owned();
    for (one, taken) in all
        .iter()
        .zip(taken)
        .filter(|(one, _)| one.breaks_a_promise())
    {
        let (Breaks::Promise(how) | Breaks::Cost(how)) = one.breaks;
        for (manner, taken) in manners.iter().zip(taken) {
            for (seed, runs) in (seed..).zip(taken) {
                let runs = runs.map(|runs| runs.to_string()).unwrap_or_default();
                let (algorithm, defect) = (one.info.name, one.defect.id);
                text += &format!("{algorithm},{defect},{how},{manner},{seed},{runs}\n");
            }
        }
    }
    text
}
