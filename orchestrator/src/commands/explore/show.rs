//! What a person sees of a search, or of a replayed schedule.

use std::time::Duration;

use algorithms::NodeId;
use algorithms::registry::Order;
use simulator::explore::{Finding, Mishap, Options, Outcome, Report, Schedule, Timers, Told};

use super::World;
use crate::numbers::{count, significant, time};
use crate::outcome::{Row, blocks, first_few};
use crate::scenario::Resolved;
use crate::table::indented;
use crate::{Exit, again};

/// What is explored, in one line.
pub(super) fn headline(resolved: &Resolved, options: &Options, replayed: bool) -> String {
    let plan = &resolved.plan;
    let mut text = format!(
        "{} · {} nodes · {}",
        plan.algorithm, plan.nodes, plan.topology
    );
    if plan.holder != NodeId(0) {
        text.push_str(&format!(" · holder {}", plan.holder));
    }
    if !replayed {
        let wants: Vec<_> = options.wants.iter().map(u32::to_string).collect();
        text.push_str(&format!(" · wants {}", wants.join(",")));
    }
    if options.priorities.iter().any(|&priority| priority > 0) {
        text.push_str(&format!(" · priority {}", first_few(&options.priorities)));
    }
    let params = plan.params.to_string();
    if !params.is_empty() {
        text.push_str(&format!(" · {params}"));
    }
    if !plan.printed.is_repaired() {
        text.push_str(&format!(" · as printed: {}", plan.printed));
    }
    text.push_str(match (options.order, plan.entry().order) {
        (Order::Fifo, _) => " · links fifo",
        (Order::Any, Order::Any) => " · links any",
        (Order::Any, Order::Fifo) => " · links any, though it needs fifo",
    });
    if options.timers != Timers::default() {
        text.push_str(&format!(" · timers {}", options.timers));
    }
    if !options.after.steps.is_empty() {
        text.push_str(&format!(" · after {}", options.after));
    }
    for (number, what) in [
        (options.lose, "lost"),
        (options.duplicate, "doubled"),
        (options.crash, "crashed"),
        (
            options.cut,
            if options.heal {
                "cut and healed"
            } else {
                "cut"
            },
        ),
    ] {
        if number > 0 {
            text.push_str(&format!(" · up to {number} {what}"));
        }
    }
    text
}

/// A search: how much there was, the verdict, and the way to what is bad.
pub(super) fn shown(world: &World, report: &Report, elapsed: Duration, exit: Exit) -> String {
    let depth = format!("up to {} steps from the start", report.depth);
    let states = match report.complete {
        true => format!("all there are, {depth}"),
        false => format!("not all there are, {depth}"),
    };
    let rate = report.states as f64 / elapsed.as_secs_f64().max(1e-9);
    let mut rows = vec![
        Row::new("states", count(report.states), states),
        Row::new("steps", count(report.edges), "between them"),
    ];
    if world.options.safety_only {
        let what = "states in which somebody waits and nothing can happen";
        rows.push(Row::new("stuck", count(report.stuck), what));
    }
    if let Some(trapped) = report.trapped {
        let mut what = "states from which not everybody can be served".to_owned();
        let survives = world.entry.survives(&world.setting.params);
        if world.options.crash > survives {
            what.push_str(&format!(
                "; judged up to {survives} crashes, which is what it survives"
            ));
        }
        rows.push(Row::new("trapped", count(trapped), what));
    }
    rows.extend(unchecked_invariants(world));
    let rate = format!("{} states per second", significant(rate));
    let took = time(elapsed.as_secs_f64() * 1e6);
    rows.push(Row::new("time", took, rate));
    let mut text = format!("{}\n{}", world.headline, blocks(&[rows]));
    text.push_str(&format!("\nverdict: {}\n", verdict(exit)));
    if let Some(finding) = &report.finding {
        let reason = format!("{}: {}", finding.kind, finding.why);
        text.push_str(&indented("  because ", &reason));
        text.push_str(&format!("\n{}", numbered(&finding.told)));
        text.push_str(&format!("\nschedule: {}\n", finding.schedule));
        text.push_str(&format!("replay:   {}\n", replay_line(finding)));
    } else if exit == Exit::Interrupted {
        text.push_str("  because it was interrupted before every state was looked at\n");
    } else if !report.complete {
        text.push_str("  because not every state was looked at; --max-states allows more\n");
    }
    text
}

/// Says where the algorithm's invariants are not checked.
fn unchecked_invariants(world: &World) -> Option<Row> {
    let Options {
        lose, duplicate, ..
    } = world.options;
    if !world.setting.printed.is_repaired() {
        let why = "they are facts about the repaired algorithm";
        return Some(Row::new("invariants", "not checked", why));
    }
    if lose > 0 || duplicate > 0 {
        let when = "only while nothing is lost or doubled";
        return Some(Row::new("invariants", "checked", when));
    }
    None
}

/// A schedule: its steps, where it ends, and the verdict.
pub(super) fn replayed(world: &World, outcome: &Outcome, exit: Exit) -> String {
    let mut text = format!("{}\n\n{}\n", world.headline, numbered(&outcome.told));
    let nodes = |nodes: &[NodeId]| match nodes {
        [] => "nobody".to_owned(),
        _ => {
            let words: Vec<_> = nodes.iter().map(ToString::to_string).collect();
            words.join(", ")
        }
    };
    let steps = outcome.possible.clone();
    let possible = match steps.as_slice() {
        [] => "nothing".to_owned(),
        _ => Schedule::of(steps).to_string(),
    };
    for (lead, what) in [
        ("inside at the end:  ", nodes(&outcome.inside)),
        ("waiting at the end: ", nodes(&outcome.waiting)),
        ("possible next:      ", possible),
    ] {
        text.push_str(&indented(lead, &what));
    }
    text.push_str(&format!("\nverdict: {}\n", verdict(exit)));
    for Mishap { step, kind, why } in &outcome.findings {
        let reason = format!("after step {step}: {kind}: {why}");
        text.push_str(&indented("  because ", &reason));
    }
    text
}

/// The steps of a schedule, a line for each, with what it does.
fn numbered(told: &[Told]) -> String {
    let steps: Vec<_> = told.iter().map(|told| told.step.to_string()).collect();
    let width = steps.iter().map(String::len).max().unwrap_or(0);
    let mut text = String::new();
    for (number, (step, told)) in (1..).zip(steps.iter().zip(told)) {
        let lead = format!("  {number:>3}  {step:<width$}  ");
        text.push_str(&indented(&lead, &told.effects.join(", ")));
    }
    text
}

/// The line that replays a finding.
pub(super) fn replay_line(finding: &Finding) -> String {
    again::line_with("--replay", &finding.schedule.to_string())
}

/// The verdict that goes with an exit code.
pub(super) fn verdict(exit: Exit) -> &'static str {
    match exit {
        Exit::Holds => "holds",
        Exit::Violated => "violated",
        Exit::Usage | Exit::Inconclusive | Exit::Testbed | Exit::Interrupted => "inconclusive",
    }
}
