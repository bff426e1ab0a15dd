//! What is told to the page.

use serde::Serialize;
use serde_json::{Value, json};

/// Of more events than this between two tellings the page is told only what came of them.
pub(super) const MOST_AT_ONCE: usize = 400;

/// What is told to the page at once.
#[derive(Default, Serialize)]
pub(super) struct Told {
    pub(super) moments: Vec<Value>,
    pub(super) violations: Vec<Value>,
}

/// The faults in force that the page shows as bands: no event of a member tells of them.
#[derive(Debug, Default)]
pub(super) struct Bands {
    /// Those that a healing ends, by their words.
    cuts: Vec<String>,
    /// Those that end by themselves: when, and their words.
    ends: Vec<(u64, String)>,
}

impl Bands {
    /// The page's moments of a fault that begins now, in the words of `--fault` without a time, and is
    /// over then, if that is known.
    pub(super) fn begin(&mut self, at_ns: u64, words: &str, over_ns: Option<u64>) -> Vec<Value> {
        let (fault, target) = parts(words);
        let victim = target.split(' ').next();
        let victim = victim.and_then(|word| word.parse::<u32>().ok());
        let strikes = ["kill", "pause", "resume", "restart"].contains(&fault);
        let mut moment =
            json!({"time_ns": at_ns, "what": "fault", "fault": fault, "target": target});
        if let Some(victim) = victim.filter(|_| strikes) {
            moment["node"] = victim.into();
        }
        let mut moments = Vec::new();
        if fault == "heal" {
            let healed = std::mem::take(&mut self.cuts);
            moments.extend(healed.iter().map(|words| over(at_ns, words)));
        } else if let Some(over_ns) = over_ns.filter(|_| !strikes) {
            self.ends.push((over_ns, words.to_owned()));
        } else if CUTS.iter().any(|cut| fault.starts_with(cut)) {
            self.cuts.push(words.to_owned());
        }
        moments.push(moment);
        moments
    }
}

impl Bands {
    /// The page's moments of the faults that were over until then.
    pub(super) fn ended(&mut self, until_ns: u64) -> Vec<Value> {
        let ended = self
            .ends
            .extract_if(.., |(over_ns, _)| *over_ns <= until_ns);
        let mut ended: Vec<_> = ended.collect();
        ended.sort();
        ended
            .iter()
            .map(|(at_ns, words)| over(*at_ns, words))
            .collect()
    }
}

/// What a healing ends.
const CUTS: [&str; 4] = ["cut", "partition", "isolate", "churn"];

/// The page's moment of a fault that is over.
fn over(at_ns: u64, words: &str) -> Value {
    let (fault, target) = parts(words);
    json!({"time_ns": at_ns, "what": "fault-over", "fault": fault, "target": target})
}

fn parts(words: &str) -> (&str, &str) {
    let parts = words.split_once(" on ").or_else(|| words.split_once(' '));
    parts.unwrap_or((words, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn healing_ends_cuts_and_time_ends_what_has_one() {
        let mut bands = Bands::default();
        assert_eq!(bands.begin(1, "kill 3", None)[0]["node"], 3);
        let loss = &bands.begin(2, "loss 10% on all", None)[0];
        assert_eq!(
            (&loss["fault"], &loss["target"]),
            (&json!("loss 10%"), &json!("all"))
        );
        assert!(bands.begin(3, "cut 0-1", None)[0]["node"].is_null());
        bands.begin(4, "cut 2-3 for 4ns", Some(8));
        assert_eq!(bands.ended(7), Vec::<Value>::new());
        let ended = bands.ended(8);
        assert_eq!((ended.len(), &ended[0]["time_ns"]), (1, &json!(8)));
        let healed = bands.begin(9, "heal", None);
        let told: Vec<_> = healed.iter().map(|moment| moment["what"].clone()).collect();
        assert_eq!(told, ["fault-over", "fault"]);
        assert_eq!(healed[0]["target"], "0-1");
        assert_eq!(bands.begin(10, "heal", None).len(), 1);
    }
}
