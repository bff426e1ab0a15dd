//! Which knobs of a scenario were really turned, and to what: what a hunt drew, without what did not fit.

use algorithms::params::Domain;
use chaos::Reach;
use chaos::language::{
    Action, Choice, FaultSpec, LinkFault, MessageFault, PartitionGroups, Selector, Start, Trigger,
    Who,
};
use toml::{Table, Value};

use crate::scenario::{Scenario, find_algorithm};

/// The knob's name, and the sort of value that it was turned to.
pub(crate) type Turn = (String, String);

/// Every knob that a scenario turns. Values of which there are many count by their sort.
pub(crate) fn turned(scenario: &Scenario) -> Vec<Turn> {
    let table = Table::try_from(scenario).unwrap_or_default();
    let mut turns = Vec::new();
    let mut turn = |knob: &str, value: &str| turns.push((knob.to_owned(), value.to_owned()));
    for (key, value) in &table {
        let text = value.as_str().unwrap_or_default();
        match key.as_str() {
            "algorithm" | "seed" | "fault" | "params" | "as-printed" => {}
            "nodes" => turn(key, size(value)),
            "workload" | "links" | "engine" | "transport" | "schedule" => turn(key, text),
            "topology" if text.starts_with("kanrar") => turn(key, "a figure"),
            "topology" | "detector" => turn(key, before(text, &[':', '@'])),
            "delay" => turn(key, law(text)),
            "loss" if text.starts_with("gemodel") => turn(key, "gemodel"),
            "loss" if text.starts_with("every") => turn(key, "every"),
            "hold" | "think" | "priority" => turn(key, span(value)),
            _ => turn(key, "given"),
        }
    }
    turns.extend(params(scenario));
    turns.extend(scenario.fault.iter().flat_map(fault));
    turns
}

fn size(value: &Value) -> &'static str {
    match value.as_integer() {
        Some(..=1) => "1",
        Some(2..=6) => "2 to 6",
        Some(7..=12) => "7 to 12",
        Some(13..=40) => "13 to 40",
        Some(41..=1_000) => "41 to 1,000",
        Some(_) | None => "more",
    }
}

/// The distribution of a delay as it is written.
fn law(text: &str) -> &str {
    let mut words = text.split(' ');
    match words.by_ref().any(|word| word == "distribution") {
        true => words.next().unwrap_or_default(),
        false if text.contains(' ') => "uniform",
        false => "constant",
    }
}

fn span(value: &Value) -> &str {
    match value {
        Value::Array(_) => "by node",
        Value::String(text) if text.contains(':') => before(text, &[':']),
        _ => "constant",
    }
}

fn before<'a>(text: &'a str, ends: &[char]) -> &'a str {
    text.split(ends).next().unwrap_or_default()
}

fn params(scenario: &Scenario) -> Vec<Turn> {
    let info = scenario.algorithm.as_deref().map(find_algorithm);
    let Some(Ok(info)) = info else {
        return Vec::new();
    };
    let given = scenario.params.iter().filter_map(|given| {
        let mut known = info.more.params.iter();
        let param = known.find(|param| param.name == given.name)?;
        let value = match param.domain {
            Domain::Choice(_) => given.value.as_str(),
            Domain::Integer { .. } => "a number",
            Domain::Document { .. } | Domain::Text { .. } => {
                match param.examples.contains(&given.value.as_str()) {
                    true => given.value.as_str(),
                    false => "drawn",
                }
            }
        };
        Some((format!("{} {}", info.name, param.name), value.to_owned()))
    });
    given.collect()
}

fn fault(spec: &FaultSpec) -> Vec<Turn> {
    let verb = spec.action.verb();
    let mut turns = vec![
        ("fault".to_owned(), word(&spec.action)),
        ("fault begins".to_owned(), begins(spec).to_owned()),
    ];
    let mut turn =
        |knob: &str, value: &str| turns.push((format!("fault {knob}"), value.to_owned()));
    if spec.schedule.for_ns.is_some() {
        turn("ends", "for");
    }
    if spec.schedule.until_ns.is_some() {
        turn("ends", "until");
    }
    match &spec.action {
        Action::Links { reach, .. } | Action::Heal { reach } => turn("on", links(reach)),
        Action::Cut { choice, in_flight }
        | Action::Churn {
            choice, in_flight, ..
        } => {
            turn("on", choice_of(choice));
            turn("under way", &in_flight.to_string());
        }
        Action::Partition { groups, in_flight } => {
            match groups {
                PartitionGroups::Named(named) => turn("groups", &named.to_string()),
                PartitionGroups::Groups(_) => turn("groups", "listed"),
            }
            turn("under way", &in_flight.to_string());
        }
        Action::Isolate { who, in_flight } => {
            turn(&format!("{verb} whom"), who_of(who));
            turn("under way", &in_flight.to_string());
        }
        Action::Process { who, .. } => turn(&format!("{verb} whom"), who_of(who)),
        Action::Message(
            MessageFault::Lose(selector)
            | MessageFault::Delay(selector, _)
            | MessageFault::Duplicate(selector),
        ) => selected(selector)
            .into_iter()
            .for_each(|part| turn("message", part)),
        // A hunt's scenarios are on one host.
        Action::Host(_) | Action::Message(MessageFault::HideDown { .. }) => {}
    }
    if let Start::When(Trigger::Message(selector)) = &spec.schedule.start {
        selected(selector)
            .into_iter()
            .for_each(|part| turn("trigger message", part));
    }
    turns
}

/// The word of a fault; of those with several forms, the form.
fn word(action: &Action) -> String {
    let Action::Links { fault, .. } = action else {
        return action.verb().to_owned();
    };
    let text = fault.to_string();
    match fault {
        LinkFault::Preset(name) => format!("preset {name}"),
        LinkFault::Model(_) | LinkFault::Delay { .. } => match fault.word() {
            "loss" if text.contains("gemodel") => "loss gemodel".to_owned(),
            "loss" if text.contains("every") => "loss every".to_owned(),
            "delay" => format!("delay {}", law(&text["delay ".len()..])),
            word => word.to_owned(),
        },
    }
}

fn begins(spec: &FaultSpec) -> &'static str {
    match &spec.schedule.start {
        Start::At(0) => "with the run",
        Start::At(_) => "at",
        Start::Every { .. } => "every",
        Start::When(Trigger::Enter(..)) => "when enter",
        Start::When(Trigger::Exit(..)) => "when exit",
        Start::When(Trigger::Request(..)) => "when request",
        Start::When(Trigger::Message(_)) => "when message",
    }
}

fn links(reach: &Reach) -> &'static str {
    match reach {
        Reach::All => "all",
        Reach::Between(pairs) if pairs.len() > 1 => "several",
        Reach::Between(_) => "some",
        Reach::Across(_) => "groups",
        Reach::Apart { .. } => "ring",
    }
}

fn choice_of(choice: &Choice) -> &'static str {
    match choice {
        Choice::Edges => "edges",
        Choice::Random(_) => "random edges",
        Choice::Links(reach) => links(reach),
    }
}

fn who_of(who: &Who) -> &'static str {
    match who {
        Who::Member(_) => "a member",
        Who::Holder => "holder",
        Who::Token => "token",
        Who::Random => "random",
    }
}

fn selected(selector: &Selector) -> Vec<&'static str> {
    let parts = [
        (selector.from.is_some(), "from"),
        (selector.to.is_some(), "to"),
        (selector.origin.is_some(), "origin"),
        (selector.all, "#all"),
        (selector.nth.get() > 1, "#n"),
    ];
    let given = parts.into_iter().filter(|(given, _)| *given);
    given.map(|(_, part)| part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scenario_says_which_knobs_it_turns() {
        let scenario = Scenario::from_toml(
            "algorithm = \"sanders\"\nnodes = 9\ndelay = \"2ms 1ms distribution normal\"\n\
             fault = [\"when exit 1 #2 kill token\", \"loss gemodel 1% on 0-1 and 1-2\"]\n\
             params = { structure = \"0/0;0/0\", rules = \"basic\" }",
        );
        let turns = turned(&scenario.expect("a scenario"));
        for (knob, value) in [
            ("nodes", "7 to 12"),
            ("delay", "normal"),
            ("fault", "kill"),
            ("fault kill whom", "token"),
            ("fault begins", "when exit"),
            ("fault", "loss gemodel"),
            ("fault on", "several"),
            ("sanders structure", "drawn"),
            ("sanders rules", "basic"),
        ] {
            let turn = (knob.to_owned(), value.to_owned());
            assert!(turns.contains(&turn), "no {knob} {value} among {turns:?}");
        }
    }
}
