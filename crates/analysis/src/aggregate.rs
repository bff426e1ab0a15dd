//! What the repetitions of one scenario add up to.

use crate::statistics::Moments;
use crate::summary::Summary;

/// One metric over the repetitions of one cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Aggregate {
    /// A column of `summary.csv`.
    pub metric: String,
    /// Its mean and its spread over the runs that have it.
    pub moments: Moments,
}

/// How close an interval is to be, as a share of the mean, when asked how many repetitions it takes.
const CLOSE: f64 = 0.02;

/// Every metric that at least one of these runs has.
pub fn aggregate<'a>(runs: impl Iterator<Item = &'a Summary>) -> Vec<Aggregate> {
    let runs = runs.collect::<Vec<_>>();
    let aggregates = Summary::metrics().filter_map(|column| {
        let values = runs.iter().filter_map(|run| (column.of)(run).number());
        Aggregate::of(column.name, values)
    });
    aggregates.collect()
}

impl Aggregate {
    /// What these values of a metric add up to; nothing if there are none.
    pub fn of(metric: &str, values: impl Iterator<Item = f64>) -> Option<Self> {
        let moments = Moments::of(values);
        (moments.n > 0).then(|| Self {
            metric: metric.to_owned(),
            moments,
        })
    }

    /// The columns of `aggregate.csv`, after those that name the cell.
    pub const COLUMNS: [&str; 9] = [
        "metric",
        "n",
        "mean",
        "sd",
        "low_95",
        "high_95",
        "low_99",
        "high_99",
        "repetitions_for_2_percent",
    ];

    /// The cells of its row.
    pub fn cells(&self) -> [String; 9] {
        let Moments { n, mean, sd } = self.moments;
        let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
        let ends = |level| self.moments.interval(level).unzip();
        let ((low_95, high_95), (low_99, high_99)) = (ends(0.95), ends(0.99));
        [
            self.metric.clone(),
            n.to_string(),
            mean.to_string(),
            sd.to_string(),
            number(low_95),
            number(high_95),
            number(low_99),
            number(high_99),
            self.repetitions_needed()
                .map_or_else(String::new, |n| n.to_string()),
        ]
    }

    /// How many repetitions a 95 % interval of ±2 % of the mean takes, as far as these tell; none if
    /// two of them differ in nothing, or the mean is 0.
    pub fn repetitions_needed(&self) -> Option<u64> {
        let Moments { n, mean, sd } = self.moments;
        if n < 2 || sd == 0.0 || mean == 0.0 {
            return (n >= 2 && sd == 0.0).then_some(2);
        }
        let suffices = |n| {
            let interval = Moments { n, mean, sd }.interval(0.95);
            interval.is_some_and(|(low, high)| high - low <= 2.0 * CLOSE * mean.abs())
        };
        // The more repetitions, the closer: the first that suffice lie between a power of two that
        // does not and the next.
        let mut enough = 2_u64;
        while !suffices(enough) {
            enough = enough.checked_mul(2)?;
        }
        let mut few = enough / 2;
        while few + 1 < enough {
            let middle = few + (enough - few) / 2;
            match suffices(middle) {
                true => enough = middle,
                false => few = middle,
            }
        }
        Some(enough)
    }
}

#[cfg(test)]
mod tests {
    use algorithms::Topology;
    use model::run::Run;

    use super::*;
    use crate::fixtures;

    #[test]
    fn every_metric_is_averaged_over_the_runs_that_have_it() {
        let plan = fixtures::plan("raymond", 3);
        let empty = crate::judge(&plan, &Topology::complete(3), &Run::default()).summary;
        let run = |messages, wait| Summary {
            messages,
            wait_mean_us: wait,
            ..empty.clone()
        };
        let runs = [run(10, Some(1.0)), run(20, None), run(30, Some(3.0))];
        let aggregates = aggregate(runs.iter());
        let of = |metric: &str| {
            let found = aggregates
                .iter()
                .find(|aggregate| aggregate.metric == metric);
            found.map(|aggregate| (aggregate.moments.n, aggregate.moments.mean))
        };
        assert_eq!(of("messages"), Some((3, 20.0)));
        assert_eq!(of("wait_mean_us"), Some((2, 2.0)));
        assert_eq!(of("jain"), None);
        assert_eq!(of("seed"), None);
    }

    #[test]
    fn the_repetitions_it_asks_for_suffice() {
        for sd in [0.5, 3.0, 10.0, 40.0] {
            let of = |n| Aggregate {
                metric: "messages".to_owned(),
                moments: Moments { n, mean: 100.0, sd },
            };
            let needed = of(5).repetitions_needed().unwrap();
            let (low, high) = of(needed).moments.interval(0.95).unwrap();
            assert!(high - low <= 4.0, "{sd}: {needed}");
            let fewer = of(needed - 1).moments.interval(0.95);
            assert!(
                fewer.is_none_or(|(low, high)| high - low > 4.0),
                "{sd}: {needed}"
            );
        }
    }
}
