//! What the rest of the workspace needs to know about it.

use super::BantaSimple;
use super::defects::DEFECTS;
use super::draft::Draft;
use crate::erased::{Machine, Of};
use crate::params::{Param, Params};
use crate::printed::Printed;
use crate::registry::{AlgorithmInfo, Circumstances, ClosedForm, FormKind, Promise, info};

pub(crate) static INFO: AlgorithmInfo = info! {
    name: "banta-simple", title: "Banta, simple", paper: thesis!("chapters 3 and 4"),
    cost: "N messages alone, about 3 when everybody asks, 0 for the holder",
    family Token, graph Complete, order Any, links Patient, token Some("TOKEN"),
    more: {
        params: &[Param::choice(
            "rules",
            &["numbered", "preliminary", "basic", "draft"],
            "numbered as in section 4.6, the preliminary ones of 4.3, which can starve, the basic ones \
             of chapter 3, or its first draft, which loses requests",
        )],
        // The first draft loses requests.
        gives_up: |params, _| (params.word("rules") == "draft").then_some(Promise::Liveness),
        notes: &[
            ("idle", "entries of a holder that nobody else wanted in"),
            ("forwarded", "requests passed on to the next good site"),
            ("appended", "sites put on the token queue at once"),
            ("queued", "1 for each request that is put on the token queue"),
            (
                "sent_until_queued",
                "how often a request was sent before it was put on the token queue",
            ),
            ("stale", "updates that came after a newer one"),
        ],
        defects: DEFECTS,
        forms: &[
            ClosedForm::messages(
                FormKind::Mean, "N-1", "one request at a time, by a site drawn uniformly", light,
            ),
            ClosedForm::messages(
                FormKind::Mean, "(N-1)(N+1)/N",
                "the same with the basic rules, by which those on the queue are told too",
                light_and_basic,
            ),
        ],
    },
    explanation: EXPLANATION,
    // What it has seen; the token's queue and history exist once.
    state_bytes: |nodes| size_of::<BantaSimple>() as u64 + 8 * nodes,
    machine: machine,
};

/// The first draft of chapter 3 is a machine of its own.
fn machine(params: &Params, _: &Printed) -> &'static dyn Machine {
    match params.word("rules") {
        "draft" => &Of::<Draft>::MACHINE,
        _ => &Of::<BantaSimple>::MACHINE,
    }
}

const EXPLANATION: &str = "\
There is one token; the site that has it may enter. It carries a queue of the
sites that will get it. A request goes to the last of them, the good site: the
token will come by there.

    token at 4, queue [7]            everybody knows: the good site is 7
      2 -- REQUEST --> 7             7 waits, so it files what arrives
      5 -- REQUEST --> 7
    7 has been inside and leaves     the token queue is now [2 5]
      7 -- UPDATE 5 --> 0 1 3 4 6    the others will ask 5
      7 -- TOKEN [2 5] --> 2         2 and 5 learn it from the token

A site that neither waits nor has the token passes a request on to the good site
it knows. With rules=preliminary that is all, and a request may run after the
token for ever. With rules=numbered each site on the way also keeps a copy: the
token can elude a request only at sites that have not seen it. The token knows
for each site the number of the last request that was queued, so a second copy
is recognised; and a request that reaches a site twice is dropped there.

With rules=basic, those of chapter 3, what 7 filed joins the queue as soon as
the token arrives, and the UPDATE goes to 2 and 5 too. With rules=draft, its
first draft, there is no queue: a request goes to everybody, only the site that
has the token heeds it, and only the first. The other requests are lost.

UPDATEs of different sites overtake each other. So the token counts how often
its end has changed, an UPDATE says in which of these epochs it was sent, and
only a newer one is believed.

Why it is safe: there is one token. Why nobody starves: a request is passed to
good sites of ever newer epochs, it leaves a copy at each, and the first of them
that gets the token appends it.

What it costs: REQUEST, N-2 UPDATEs and TOKEN for a request that is alone, 0 for
the holder: N-1 on average. When everybody always wants in, each entry costs a
REQUEST, a TOKEN and about one UPDATE; the thesis hopes for 2. Links need not
keep order.";

fn light(run: &Circumstances<'_>) -> Option<f64> {
    let fits = run.is_alone() && run.params.word("rules") != "basic";
    fits.then(|| f64::from(run.nodes - 1))
}

/// It is the holder once in n times; else REQUEST, n-1 UPDATEs and TOKEN.
fn light_and_basic(run: &Circumstances<'_>) -> Option<f64> {
    let fits = run.is_alone() && run.params.word("rules") == "basic";
    let nodes = f64::from(run.nodes);
    fits.then(|| (nodes - 1.0) * (nodes + 1.0) / nodes)
}
