//! The algorithms that the four sources name, built or not: `results/papers/algorithms.csv`.

use serde::{Deserialize, Serialize};

use crate::table::Table;

const LEDGER: &str = include_str!("../../../../results/papers/algorithms.csv");

/// An algorithm that a source names.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct Surveyed {
    algorithm: String,
    /// Who published it, and when, as the source cites it.
    cited: String,
    /// Source, section or table, and number of the reference there.
    places: String,
    status: Status,
    /// Our algorithm that it is, or is a variant of.
    ours: String,
    /// Why it is not built, or what is to be known.
    why: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Status {
    /// The algorithm is in the registry.
    Built,
    /// The algorithm is one of ours with certain parameters.
    Variant,
    /// The sources say too little to build it.
    Thin,
    /// It solves another problem, or needs another world.
    OutOfScope,
}

impl Status {
    fn word(self) -> &'static str {
        match self {
            Status::Built => "built",
            Status::Variant => "variant",
            Status::Thin => "thin",
            Status::OutOfScope => "out of scope",
        }
    }
}

/// All of them, and how many there are of each kind.
pub(super) fn table() -> String {
    let all = all();
    let mut table = Table::new(["algorithm", "status", "ours", "where, and why not"]);
    for one in &all {
        let why = match one.why.as_str() {
            "" => String::new(),
            why => format!("\n{why}"),
        };
        let about = format!("{}: {}{why}", one.cited, one.places);
        table.row([&one.algorithm, one.status.word(), &one.ours, &about]);
    }
    let count = |status| all.iter().filter(|one| one.status == status).count();
    table.show()
        + &format!(
            "\n{} algorithms are named: {} built, {} variants of those, {} described too thinly to \
             build, {} out of scope.\n",
            all.len(),
            count(Status::Built),
            count(Status::Variant),
            count(Status::Thin),
            count(Status::OutOfScope)
        )
}

pub(super) fn json() -> String {
    let list = serde_json::to_value(all()).expect("words become JSON");
    format!("{list:#}\n")
}

fn all() -> Vec<Surveyed> {
    let mut reader = csv::ReaderBuilder::new()
        .comment(Some(b'#'))
        .from_reader(LEDGER.as_bytes());
    let rows = reader.deserialize().collect::<Result<Vec<_>, _>>();
    rows.expect("the ledger is part of the program, and a test reads it")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use algorithms::registry;

    use super::*;

    #[test]
    fn what_is_called_built_is_in_the_registry_and_the_registry_in_the_ledger() {
        let all = all();
        let built = all.iter().filter(|one| one.status == Status::Built);
        let built = built.map(|one| one.ours.as_str()).collect::<Vec<_>>();
        let names = registry::ALL.iter().map(|info| info.name);
        assert_eq!(
            built.iter().copied().collect::<BTreeSet<_>>(),
            names.collect::<BTreeSet<_>>()
        );
        assert_eq!(built.len(), registry::ALL.len(), "one is there twice");
    }

    #[test]
    fn who_is_not_built_has_a_reason_and_a_variant_a_name() {
        let mut names = BTreeSet::new();
        for one in all() {
            assert!(
                names.insert(one.algorithm.clone()),
                "{one:?} is there twice"
            );
            assert!(!one.places.is_empty(), "{one:?}");
            let ours = registry::find(&one.ours).is_some();
            match one.status {
                Status::Built => assert!(ours, "{one:?}"),
                Status::Variant => assert!(ours && !one.why.is_empty(), "{one:?}"),
                Status::Thin | Status::OutOfScope => {
                    assert!(one.ours.is_empty() && !one.why.is_empty(), "{one:?}");
                }
            }
        }
        let built = format!("{} built", registry::ALL.len());
        assert!(table().contains(&built), "{}", table());
    }
}
