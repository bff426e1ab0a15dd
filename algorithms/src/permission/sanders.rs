//! Sanders' generalised algorithm: one machine, any information structure.
//!
//! B. A. Sanders, "The information structure of distributed mutual exclusion algorithms", ACM
//! Transactions on Computer Systems 5(3), 1987.
//!
//! Two sets per node make the algorithm. A node asks its *request set* R before it enters and tells
//! its *inform set* I when it leaves; so each node keeps, in CSSTAT, the status of those that tell it,
//! its *status set* S.
//!
//! ```text
//!     centralised                complete                    fig4
//!     I_i = R_i = {i, 0}         I_i = {i}, R_i = all        I_0={0} I_1={1} I_2={0,1,2}
//!                                                            R_0=R_1={0,1}   R_2={0,1,2}
//!         0                         0 <---> 1                    0 <---> 1
//!       ^ ^ ^                       ^ \   / ^                      ^   ^
//!      /  |  \                      |   X   |                       \ /
//!     1   2   3                     2 <---> 3                        2
//! ```
//!
//! Which structures are safe, the theorem of section 4 says ([`conditions`]); what they cost, section
//! 6 ([`costs`]). The basic rules of section 3 deadlock with almost any structure; those of section 5
//! ask grants back. Section 7's recovery is in `recovery`, section 8's dynamic structure is
//! `carvalho-roucairol`.
//!
//! Cost: between `|I\i| + 2|R\i|` messages per entry and that plus DM (see [`costs`]).
//! Kept from the paper: names, messages, the order of the rules. The clock travels on REQUEST alone.
//! Repaired: see `defects`; each repair is one commented line where it belongs.
//! Added: INQUIRE and YIELD name the request that caused them, for the counting of section 6.1.

pub mod conditions;
pub mod costs;
pub mod file;
pub mod structure;

mod defects;
mod invariants;
mod machine;
mod recovery;
mod rules;

use crate::contract::NodeId;
use crate::params::{Domain, Param, Params};
use crate::printed::Printed;
use crate::registry::{
    ALONE, AlgorithmInfo, Circumstances, ClosedForm, FormKind, Load, Metric, Promise, WHOLE, info,
};
use conditions::Conditions;
use machine::Sanders;
use rules::{Rules, Version};
use structure::Structure;

pub(crate) static INFO: AlgorithmInfo = info! {
    name: "sanders", title: "Sanders, any information structure",
    paper: "B. A. Sanders, \"The information structure of distributed mutual exclusion \
            algorithms\", ACM TOCS 5(3), 1987",
    cost: "|I\\i| + 2|R\\i| messages per entry, more in conflict",
    // order: an INQUIRE that overtakes its GRANT is taken for an old one.
    family Permission, graph Complete, order Fifo, links Patient, token None,
    more: {
        params: PARAMS,
        refuses,
        gives_up: |params, _| match (params.word("unsafe"), params.word("rules")) {
            ("yes", _) => Some(Promise::Safety),
            // The basic rules may deadlock, and so may those that Maekawa's algorithm has in print.
            (_, "basic" | "no-fail") => Some(Promise::Liveness),
            _ => None,
        },
        crashes: 1,
        defects: defects::ALL,
        forms: &[
            ClosedForm::messages(
                FormKind::Exact, "|I\\i| + 2|R\\i|",
                "the same for all nodes i; one request at a time, or rules that never take a grant back",
                exact,
            ),
            ClosedForm::messages(FormKind::Mean, "mean of |I\\i| + 2|R\\i|", ALONE, light),
            ClosedForm::messages(FormKind::AtLeast, "min |I\\i| + 2|R\\i|", WHOLE, at_least),
            ClosedForm::messages(FormKind::AtMost, "max |I\\i| + 2|R\\i| + DM", WHOLE, at_most),
            ClosedForm {
                metric: Metric::SyncDelay,
                formula: "max D",
                condition: "everybody asks again the moment it leaves, constant hold at least 20 times \
                            the constant delay",
                value: sync_delay,
                kind: FormKind::AtMost,
            },
        ],
    },
    explanation: EXPLANATION,
    // With the structure 'complete', R is everybody.
    node Sanders, further bytes: |nodes| 12 * nodes,
};

const PARAMS: &[Param] = &[
    Param {
        name: "structure",
        domain: Domain::Document {
            default: "grid",
            condense: file::condense,
        },
        help: "the information structure; 'orchestrator structure' shows and checks one",
        examples: &[
            "centralised",
            "complete",
            "plane",
            "grid",
            "cyclic",
            "tree",
            "two-hot",
            "fig3a",
            "fig3b",
            "fig4",
            "mq",
        ],
    },
    Param::choice(
        "rules",
        &["auto", "basic", "deadlock-free", "no-fail"],
        "basic may deadlock; auto: basic where that cannot happen, else deadlock-free",
    ),
    Param::choice(
        "policy",
        &["stamp", "fcfs"],
        "who goes first at an arbiter: the smallest time stamp, or, with one arbiter, who came first",
    ),
    Param::choice(
        "self",
        &["auto", "atomic", "late"],
        "late: a node grants itself only when all others have; atomic: at once, and under \
         rules=auto gives it back where that could deadlock; auto: late where I = {i} for all i",
    ),
    Param::choice(
        "recovery",
        &["off", "on"],
        "on: the survivors of a death mend the structure, in which every node must inform itself",
    ),
    Param::choice(
        "unsafe",
        &["no", "yes"],
        "yes: run even what the theorem calls unsafe, to watch it fail",
    ),
];

const EXPLANATION: &str = "\
Before it enters, a node asks everybody in its request set R and waits for all
grants. When it leaves, it tells everybody in its inform set I. So a node knows
the status of those that tell it, its status set S; it grants to one of them at
a time and keeps the others in a queue, smallest time stamp first.

Two sets per node, and the algorithm is another one:

    structure      I                R                it is then
    centralised    {i, c}           {i, c}           a coordinator with a queue
    complete       {i}              everybody        Ricart and Agrawala's
    plane, grid    a quorum         the same         Maekawa's
    two-hot        {0}, {1}, ...    {0, 1}, ...      new: 0 and 1 enter cheaply

Why it is safe: if I is part of R for all, and of any two nodes either their
inform sets meet, or each asks the other. In the first case the node where they
meet grants to one at a time; in the second each is its own arbiter. Where one
node resolves all conflicts it may as well serve first who came first
(policy=fcfs, with 'centralised'); two arbiters need stamps, to agree.

With the basic rules (REQUEST, GRANT, RELEASE) two nodes may each hold what the
other needs. So an arbiter that has granted, and then hears of a smaller stamp,
sends INQUIRE; who knows from a FAIL that it is not next answers YIELD, and the
grant goes to the smaller stamp.

      2 --REQUEST--> 1        1 grants to 2
      0 --REQUEST--> 1        0 is smaller: 1 --INQUIRE--> 2
      0 --FAIL-----> 2        2 is not next at 0: 2 --YIELD--> 1 --GRANT--> 0

What it costs: a REQUEST and a GRANT for each in R, a RELEASE for each in I, not
counting oneself; in conflict up to 4 more for each in R. From an exit of j to
the entry of i it takes at most one or two messages in a row.

With recovery=on, a node that learns of a death asks directly those it used to
meet at the dead. Each of them is then its own arbiter, so that every node must
be in its own I; else one death may let two in, and the structure is refused.
--holder is the coordinator of 'centralised'.";

fn refuses(params: &Params, nodes: u32) -> Option<String> {
    let word = params.word("structure");
    let structure = match Structure::of_one_size(word) {
        Some(Err(why)) => return Some(why),
        Some(Ok(structure)) if params.word("unsafe") == "no" => {
            if let Some(complaint) = Conditions::of(&structure).complaint() {
                return Some(format!(
                    "structure '{word}' is not safe. {complaint}. To watch it fail, add unsafe=yes"
                ));
            }
            Structure::read(word, nodes, NodeId(0))
        }
        Some(Ok(_)) | None => Structure::read(word, nodes, NodeId(0)),
    };
    match structure {
        Err(why) => Some(why),
        Ok(structure) => Rules::refusal(params, &structure),
    }
}

/// The run's structure, and the version of the rules it follows.
fn structure_of(run: &Circumstances<'_>) -> Option<(Structure, Version)> {
    let structure = Structure::read(run.params.word("structure"), run.nodes, run.holder).ok()?;
    let rules = Rules::of(run.params, &Printed::repaired(), &structure);
    Some((structure, rules.version))
}

/// The fewest messages of each node's entries.
fn least(structure: &Structure) -> Vec<f64> {
    let each = structure.ids();
    each.map(|i| f64::from(costs::least_messages(structure, i)))
        .collect()
}

fn all_alike(costs: &[f64]) -> bool {
    costs.windows(2).all(|pair| pair[0] == pair[1])
}

fn exact(run: &Circumstances<'_>) -> Option<f64> {
    if !run.is_whole() {
        return None;
    }
    let (structure, version) = structure_of(run)?;
    let never_more = match version {
        Version::Basic | Version::NoFail => true,
        Version::DeadlockFree => run.load == Load::OneAtATime,
    };
    let least = least(&structure);
    (never_more && all_alike(&least)).then(|| least[0])
}

fn light(run: &Circumstances<'_>) -> Option<f64> {
    if !run.is_alone() {
        return None;
    }
    let least = least(&structure_of(run)?.0);
    (!all_alike(&least)).then(|| least.iter().sum::<f64>() / f64::from(run.nodes))
}

fn at_least(run: &Circumstances<'_>) -> Option<f64> {
    if !run.is_whole() {
        return None;
    }
    least(&structure_of(run)?.0).into_iter().reduce(f64::min)
}

fn at_most(run: &Circumstances<'_>) -> Option<f64> {
    if !run.is_whole() {
        return None;
    }
    let (structure, version) = structure_of(run)?;
    let extra = |i| match version {
        Version::Basic | Version::NoFail => 0,
        Version::DeadlockFree => costs::most_extra_messages(&structure, i),
    };
    let most = structure
        .ids()
        .map(|i| costs::least_messages(&structure, i) + extra(i));
    most.max().map(f64::from)
}

/// A hold of 20 delays lets everything settle that the others' requests have set off.
fn sync_delay(run: &Circumstances<'_>) -> Option<f64> {
    let settled = run.constant_hold? >= 20 * run.constant_delay?;
    if !(run.is_whole() && run.load == Load::Saturated && settled) {
        return None;
    }
    let (structure, _) = structure_of(run)?;
    let pairs = structure
        .ids()
        .flat_map(|i| structure.ids().map(move |j| (i, j)));
    pairs
        .map(|(i, j)| costs::delay(&structure, i, j))
        .max()
        .map(f64::from)
}
