//! Who asks, when and for how long, by chance.

use toml::Value;

use super::{Drawing, Knob};

/// About how many entries a run has at most, so that thousands of runs take no long time.
const MOST_ENTRIES: u64 = 120;

/// In larger groups only a few ask.
const MANY: u32 = 40;

impl Drawing<'_> {
    pub(super) fn load(&mut self) {
        let workload = match self.is_on(Knob::Workload) {
            // Where everybody tells everybody, a request of each is a million messages.
            _ if self.nodes > MANY => *self.dice.one_of(&["batch", "one-at-a-time"]),
            true => *self
                .dice
                .one_of(&["closed", "open", "batch", "one-at-a-time", "window"]),
            false => "closed",
        };
        self.set("workload", workload);
        if self.is_on(Knob::Hold) {
            let hold = self.spans(0);
            self.set("hold", hold);
        }
        match workload {
            "closed" => self.closed(),
            "open" => self.open(),
            "batch" => self.batch(),
            "one-at-a-time" => {
                let most = if self.nodes > MANY { 6 } else { 30 };
                let total = self.dice.rather_small(1, most);
                self.set("total", total as i64);
            }
            _ => {
                let askers = self.dice.between(1, u64::from(self.nodes));
                self.set("askers", askers as i64);
                let within = self.dice.time(500, 50_000);
                self.set("within", within);
            }
        }
        if self.is_on(Knob::Clients) && matches!(workload, "closed" | "open") {
            let clients = self.dice.between(2, 4);
            self.set("clients", clients as i64);
        }
        let takes_weights = matches!(workload, "closed" | "open" | "one-at-a-time");
        if self.is_on(Knob::Weights) && takes_weights && self.nodes <= MANY {
            let weights = (0..self.nodes).map(|_| f64::from(*self.dice.one_of(&[0, 1, 1, 2, 5])));
            let weights = weights.map(Value::from).collect::<Vec<_>>();
            self.set("weights", weights);
        }
        if self.is_on(Knob::Priorities) {
            let priority = match self.dice.chance(0.5) {
                true => format!("uniform:0..{}", self.dice.between(1, 9)).into(),
                false => {
                    let each = (0..self.nodes.min(4)).map(|_| self.dice.between(0, 9) as i64);
                    Value::from(each.collect::<Vec<_>>())
                }
            };
            self.set("priority", priority);
        }
        if self.is_on(Knob::WarmUp) {
            let warm_up = self.dice.between(1, 5);
            self.set("warm-up", warm_up as i64);
        }
    }

    fn entries(&mut self) -> u64 {
        let most = (MOST_ENTRIES / u64::from(self.nodes)).clamp(1, 40);
        match self.is_on(Knob::Entries) {
            true => self.dice.rather_small(1, most),
            false => most.min(4),
        }
    }

    fn closed(&mut self) {
        let think = match self.is_on(Knob::Think) {
            true => self.spans(0),
            false => "0s".into(),
        };
        self.set("think", think);
        let entries = self.entries();
        match self.dice.between(0, 9) {
            0 => {
                let total = entries * u64::from(self.nodes).min(MOST_ENTRIES);
                self.set("total", total as i64);
            }
            1 => {
                let duration = self.dice.time(5_000, 100_000);
                self.set("duration", duration);
            }
            _ => self.set("entries", entries as i64),
        }
    }

    fn open(&mut self) {
        match self.dice.chance(0.3) {
            true => {
                let rate = self.dice.rather_small(10, 2_000);
                self.set("rate", rate as i64);
            }
            false => {
                let gap = self.dice.time(500, 100_000);
                self.set("gap", gap);
            }
        }
        let entries = self.entries();
        self.set("entries", entries as i64);
    }

    fn batch(&mut self) {
        let most = if self.nodes > MANY { 6 } else { 12 };
        let asks = self.dice.rather_small(1, most);
        let asks = (0..asks).map(|_| {
            let mut ask = self.member().to_string();
            if self.dice.chance(0.6) {
                ask += &format!(" at {}", self.dice.time(0, 20_000));
            }
            if self.dice.chance(0.2) {
                ask += &format!(" priority {}", self.dice.between(0, 9));
            }
            if self.dice.chance(0.2) {
                ask += &format!(" hold {}", self.dice.time(0, 20_000));
            }
            ask
        });
        let asks = asks.collect::<Vec<_>>();
        self.set("asks", asks);
        if self.dice.chance(0.2) {
            self.set("settled", true);
        }
    }

    /// A length of time, or one for each node in turn.
    fn spans(&mut self, least_us: u64) -> Value {
        match self.dice.chance(0.25) {
            false => self.span(least_us).into(),
            true => {
                let several = self.dice.between(2, 3);
                let spans = (0..several).map(|_| Value::from(self.span(least_us)));
                Value::Array(spans.collect())
            }
        }
    }

    fn span(&mut self, least_us: u64) -> String {
        let most = 20_000;
        match self.dice.between(0, 3) {
            0 => format!("exp:{}", self.dice.time(50, most)),
            1 => format!("uniform:0s..{}", self.dice.time(50, most)),
            _ => self.dice.time(least_us, most),
        }
    }
}
