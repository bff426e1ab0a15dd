//! What a person sees of a search, or of a replayed schedule.

use std::time::Duration;

use algorithms::NodeId;
use algorithms::registry::LinkOrder;
use model::time::rounded_us;
use simulator::explore::{
    Ending, Exploration, Finding, Kind, Mishap, Options, Outcome, Schedule, TakenStep, Timers,
};

use super::World;
use crate::numbers::{count, many, significant};
use crate::result_table::{Row, blocks, first_few};
use crate::scenario::Resolved;
use crate::table::indented;
use crate::{Exit, repeat_line};

/// What is explored, in one line.
pub(super) fn headline(resolved: &Resolved, options: &Options, replayed: bool) -> String {
    let plan = &resolved.plan;
    let mut text = format!(
        "{} · {} · {}",
        plan.algorithm,
        many(plan.nodes.into(), "node", "nodes"),
        plan.topology
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
    text.push_str(match (options.order, plan.info().link_order) {
        (LinkOrder::Fifo, _) => " · links fifo",
        (LinkOrder::Any, LinkOrder::Any) => " · links any",
        (LinkOrder::Any, LinkOrder::Fifo) => " · links any, though it needs fifo",
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
pub(super) fn shown(
    world: &World,
    report: &Exploration,
    elapsed: Duration,
    exit: Exit,
    states: bool,
) -> String {
    let depth = format!("up to {} steps from the start", report.depth);
    let seen = match report.complete {
        true => format!("all there are, {depth}"),
        false => format!("not all there are, {depth}"),
    };
    let rate = report.states as f64 / elapsed.as_secs_f64().max(1e-9);
    let mut rows = vec![
        Row::new("states", count(report.states), seen),
        Row::new("steps", count(report.edges), "between them"),
    ];
    if world.options.safety_only {
        let what = "states in which somebody waits and nothing can happen";
        rows.push(Row::new("stuck", count(report.stuck), what));
    }
    if let Some(trapped) = report.trapped {
        let mut what = "states from which not everybody can be served".to_owned();
        let survives = world.info.survives(&world.setting.params);
        if world.options.crash > survives {
            what.push_str(&format!(
                "; judged up to {survives} crashes, which is what it survives"
            ));
        }
        rows.push(Row::new("trapped", count(trapped), what));
    }
    rows.extend(unchecked_invariants(world));
    let rate = format!("{} states per second", significant(rate));
    let took = rounded_us(elapsed.as_secs_f64() * 1e6);
    rows.push(Row::new("time", took, rate));
    let mut text = format!("{}\n{}", world.headline, blocks(&[rows]));
    text.push_str(&format!("\nverdict: {}\n", verdict(exit)));
    if let Some(finding) = &report.finding {
        let reason = format!("{}: {}", finding.kind, finding.why);
        text.push_str(&indented("  because ", &reason));
        text.push_str(&format!("\n{}", numbered(&finding.told, states)));
        let stuck = matches!(finding.kind, Kind::Deadlock | Kind::Trapped);
        text.push_str(&end_of(&finding.ending, stuck, states));
        text.push_str(&format!("\nschedule: {}\n", finding.schedule));
        text.push_str(&format!("replay:   {}\n", replay_line(finding)));
    } else if exit == Exit::Interrupted {
        text.push_str("  because it was interrupted before every state was looked at\n");
    } else if !report.complete {
        text.push_str("  because not every state was looked at; --max-states allows more, and where timers are set\n          \
             --timers patient leaves fewer\n");
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
pub(super) fn replayed(world: &World, outcome: &Outcome, exit: Exit, states: bool) -> String {
    let mut text = format!("{}\n\n{}", world.headline, numbered(&outcome.told, states));
    let stuck = |mishap: &Mishap| matches!(mishap.kind, Kind::Deadlock | Kind::Trapped);
    let stuck = outcome.findings.iter().any(stuck);
    text.push_str(&end_of(&outcome.ending, stuck, states));
    text.push('\n');
    let nodes = |nodes: &[NodeId]| match nodes {
        [] => "nobody".to_owned(),
        _ => listed(nodes),
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

/// The schedule of a finding, a line for each step, however long.
pub(crate) fn steps_of(finding: &Finding) -> Vec<String> {
    let lines = led(&finding.told).into_iter();
    lines.map(|(lead, words)| lead + &words).collect()
}

/// The steps of a schedule, a line for each: the step as it is written, and who does what; with its
/// states, also what that changed.
fn numbered(told: &[TakenStep], states: bool) -> String {
    let mut text = String::new();
    for ((lead, words), told) in led(told).iter().zip(told) {
        text.push_str(&indented(lead, words));
        if states {
            let lead = " ".repeat(lead.chars().count());
            for change in &told.changed {
                text.push_str(&indented(&format!("{lead}| "), change));
            }
        }
    }
    text
}

/// Of each step its number and how it is written, and who does what.
fn led(told: &[TakenStep]) -> Vec<(String, String)> {
    let steps: Vec<_> = told.iter().map(|told| told.step.to_string()).collect();
    let width = steps.iter().map(String::len).max().unwrap_or(0);
    let numbered = (1..).zip(steps.iter().zip(told));
    let led = numbered.map(|(number, (step, told))| {
        let mut words = told.step.in_words();
        let effects = told.effects();
        if !effects.is_empty() {
            words.push_str(&format!(": {}", effects.join(", ")));
        }
        (format!("  {number:>3}  {step:<width$}  "), words)
    });
    led.collect()
}

/// Why it goes no further where somebody is stuck; with the states, that of every node.
fn end_of(ending: &Ending, stuck: bool, states: bool) -> String {
    let mut lines = Vec::new();
    if states {
        for (node, state) in ending.states.iter().enumerate() {
            let state = state.as_deref().unwrap_or("crashed");
            lines.push((format!("  {node}  "), state.to_owned()));
        }
    }
    if stuck {
        for waiting in &ending.waiting {
            let node = waiting.node;
            let what = match (waiting.asked.as_slice(), waiting.unanswered.as_slice()) {
                ([], _) => format!("{node} waits and has asked nobody"),
                (asked, []) => format!("{node} waits; {} answered when it asked", listed(asked)),
                (_, silent) => format!(
                    "{node} waits for {}: asked, and no answer came",
                    listed(silent)
                ),
            };
            lines.push(("  ".to_owned(), what));
        }
        let pending = match ending.pending.as_slice() {
            [] => "nothing is on its way, and no timer is set".to_owned(),
            steps => format!("still to come: {}", Schedule::of(steps.to_vec())),
        };
        lines.push(("  ".to_owned(), pending));
    }
    let lines = lines.iter().map(|(lead, text)| indented(lead, text));
    match lines.collect::<String>() {
        none if none.is_empty() => none,
        some => format!("\nat the end:\n{some}"),
    }
}

/// A list of nodes: `0, 1`.
fn listed(nodes: &[NodeId]) -> String {
    let words: Vec<_> = nodes.iter().map(ToString::to_string).collect();
    words.join(", ")
}

/// The line that replays a finding.
pub(super) fn replay_line(finding: &Finding) -> String {
    repeat_line::line_with("--replay", &finding.schedule.to_string())
}

/// The verdict that goes with an exit code.
pub(super) fn verdict(exit: Exit) -> &'static str {
    match exit {
        Exit::Holds => "holds",
        Exit::Violated => "violated",
        Exit::Usage | Exit::Inconclusive | Exit::Testbed | Exit::Interrupted => "inconclusive",
    }
}
