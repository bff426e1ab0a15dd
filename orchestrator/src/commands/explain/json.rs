//! An algorithm as one JSON object, for scripts.

use algorithms::params::{Domain, Param};
use algorithms::printed::Printed;
use algorithms::registry::{AlgorithmInfo, ClosedForm, FormKind, Graph, LinkOrder, Metric};
use serde_json::{Value, json};

use crate::commands::list::family;

pub(super) fn text(info: &AlgorithmInfo) -> String {
    let defaults = info.defaults();
    let kinds = info.machine(&defaults, &Printed::repaired()).kinds();
    let notes = info.more.notes.iter();
    let notes = notes.map(|(name, meaning)| json!({ "name": name, "meaning": meaning }));
    let defects = info.more.defects.iter().map(|defect| {
        json!({
            "id": defect.id,
            "what": defect.what,
            "then": defect.result,
            "can_be_run": !defect.rules.is_empty(),
        })
    });
    let object = json!({
        "name": info.name,
        "title": info.title,
        "paper": info.paper,
        "family": family(info.family),
        "cost": info.cost,
        "explanation": info.explanation,
        "graph": match info.graph {
            Graph::Complete => "complete",
            Graph::Tree => "tree",
            Graph::Digraph => "digraph",
        },
        "links": match info.link_order {
            LinkOrder::Fifo => "fifo",
            LinkOrder::Any => "any",
        },
        "least_nodes": info.more.sizes.least,
        "admits": (info.more.admits)(&defaults),
        "survives": info.more.crashes,
        "messages": kinds,
        "token": info.token,
        "params": info.more.params.iter().map(param).collect::<Vec<_>>(),
        "notes": notes.collect::<Vec<_>>(),
        "closed_forms": info.more.forms.iter().map(form).collect::<Vec<_>>(),
        "defects": defects.collect::<Vec<_>>(),
    });
    format!("{object:#}\n")
}

fn param(param: &Param) -> Value {
    let mut object = json!({ "name": param.name, "help": param.help });
    match param.domain {
        Domain::Integer {
            least,
            most,
            default,
        } => {
            object["least"] = least.into();
            object["most"] = (most != u64::MAX).then_some(most).into();
            object["default"] = default.into();
        }
        Domain::Choice(words) => {
            object["choices"] = words.into();
            object["default"] = words[0].into();
        }
        Domain::Document { default, .. } | Domain::Text { default, .. } => {
            object["default"] = default.into();
        }
    }
    object
}

fn form(form: &ClosedForm) -> Value {
    json!({
        // A column of summary.csv.
        "metric": match form.metric {
            Metric::MessagesPerEntry => "messages_per_entry",
            Metric::SyncDelay => "sync_delay_mean_t",
        },
        "kind": match form.kind {
            FormKind::Exact => "exact",
            FormKind::Mean => "mean",
            FormKind::AtMost => "at-most",
            FormKind::AtLeast => "at-least",
            FormKind::Printed => "printed",
        },
        "formula": form.formula,
        "condition": form.condition,
    })
}
