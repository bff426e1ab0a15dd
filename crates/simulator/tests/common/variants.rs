//! Rules that a source describes beside the usual ones, as parameters: what holds of every algorithm
//! must hold with these too.

/// An algorithm, and the parameters that are not as they come.
pub(crate) type Variant = (&'static str, &'static [(&'static str, &'static str)]);

/// All of them that serve everybody.
pub(crate) const VARIANTS: &[Variant] = &[
    ("ricart-agrawala-token", &[("next", "lowest")]),
    ("banta-simple", &[("rules", "basic")]),
    ("banta-efficient", &[("late", "before")]),
    (
        "sanders",
        &[("structure", "centralised"), ("policy", "fcfs")],
    ),
    ("tb-dva", &[("buffer", "0s")]),
    ("tb-dva", &[("buffer", "4T")]),
    ("thomas", &[("ask", "chain")]),
    ("nhme", &[("queue", "arrival")]),
    ("nhme", &[("priority", "on")]),
    ("nhme", &[("priority", "on"), ("ageing", "1")]),
];
