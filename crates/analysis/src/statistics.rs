//! Means, intervals and corrections.

use statrs::distribution::{Beta, ContinuousCDF, StudentsT};

/// An interval, its lower end first.
pub type Interval = (f64, f64);

/// Size, mean and standard deviation of a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moments {
    /// How many values the sample has.
    pub n: u64,
    /// Their mean; 0 if there are none.
    pub mean: f64,
    /// Their standard deviation, with n − 1; 0 if there are fewer than two.
    pub sd: f64,
}

impl Moments {
    /// The moments of these values, in one pass that does not lose small deviations from a large mean
    /// (Welford's).
    pub fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let (mut n, mut mean, mut squares) = (0_u64, 0.0, 0.0);
        for value in values {
            n += 1;
            let before = value - mean;
            mean += before / n as f64;
            squares += before * (value - mean);
        }
        let sd = if n < 2 {
            0.0
        } else {
            (squares / (n - 1) as f64).sqrt()
        };
        Self { n, mean, sd }
    }

    /// Student's t interval for the mean, for independent values; `None` for fewer than two.
    pub fn interval(&self, level: f64) -> Option<Interval> {
        if self.n < 2 {
            return None;
        }
        let half = t_quantile((self.n - 1) as f64, level) * self.sd / (self.n as f64).sqrt();
        Some((self.mean - half, self.mean + half))
    }
}

/// An estimate with its standard error, and how freely that varies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// How many values it was made of.
    pub n: u64,
    /// The estimated difference of the means.
    pub mean: f64,
    error: f64,
    freedom: f64,
}

impl Difference {
    /// The mean of differences, each of two values that belong together.
    pub fn of(paired: Moments) -> Self {
        Self {
            n: paired.n,
            mean: paired.mean,
            error: match paired.n {
                0 => 0.0,
                n => paired.sd / (n as f64).sqrt(),
            },
            freedom: paired.n.saturating_sub(1).max(1) as f64,
        }
    }

    /// One mean less another, of values that do not belong together and may vary differently
    /// (Welch's); `None` if one has fewer than two.
    pub fn between(a: Moments, b: Moments) -> Option<Self> {
        if a.n < 2 || b.n < 2 {
            return None;
        }
        let squared = |of: Moments| of.sd * of.sd / of.n as f64;
        let (in_a, in_b) = (squared(a), squared(b));
        let both = in_a + in_b;
        let of_each = in_a * in_a / (a.n - 1) as f64 + in_b * in_b / (b.n - 1) as f64;
        Some(Self {
            n: a.n + b.n,
            mean: a.mean - b.mean,
            error: both.sqrt(),
            freedom: if of_each > 0.0 {
                both * both / of_each
            } else {
                1.0
            },
        })
    }

    /// Student's t interval.
    pub fn interval(&self, level: f64) -> Interval {
        if self.error == 0.0 {
            return (self.mean, self.mean);
        }
        let half = t_quantile(self.freedom, level) * self.error;
        (self.mean - half, self.mean + half)
    }

    /// How likely an estimate so far below 0, or farther, is if the truth is 0: Student's, one-sided.
    /// Values that do not differ leave nothing to chance.
    pub fn p_below_zero(&self) -> f64 {
        if self.error == 0.0 {
            return match self.mean.total_cmp(&0.0) {
                std::cmp::Ordering::Less => 0.0,
                std::cmp::Ordering::Equal => 0.5,
                std::cmp::Ordering::Greater => 1.0,
            };
        }
        student(self.freedom).cdf(self.mean / self.error)
    }
}

/// Half the width of an interval for the mean of one run's values in their order, which need not
/// be independent.
///
/// The values are cut into up to 128 batches of equal length, at least so long, and the interval
/// is Student's over the batches' means: what one value still knows of the one before it is
/// averaged out within a batch. `None` for fewer than ten batches.
pub fn batch_half_width(values: &[f64], length: usize, level: f64) -> Option<f64> {
    const MOST: usize = 128;
    const LEAST: usize = 10;
    let batches = (values.len() / length.max(1)).min(MOST);
    if batches < LEAST {
        return None;
    }
    // The remainder is dealt to the batches, so that no value is left out.
    let bound = |batch: usize| batch * values.len() / batches;
    let means = (0..batches).map(|batch| {
        let values = &values[bound(batch)..bound(batch + 1)];
        values.iter().sum::<f64>() / values.len() as f64
    });
    let (low, high) = Moments::of(means).interval(level)?;
    Some((high - low) / 2.0)
}

/// Clopper and Pearson's interval for a proportion: it covers at least as often as it says.
///
/// `None` if nothing was tried.
pub fn clopper_pearson(successes: u64, trials: u64, level: f64) -> Option<Interval> {
    if trials == 0 || successes > trials {
        return None;
    }
    let tail = (1.0 - level) / 2.0;
    let (s, f) = (successes as f64, (trials - successes) as f64);
    let quantile = |a, b, p| {
        let beta = Beta::new(a, b).expect("both parameters are positive");
        beta.inverse_cdf(p)
    };
    let low = if successes == 0 {
        0.0
    } else {
        quantile(s, f + 1.0, tail)
    };
    let high = if successes == trials {
        1.0
    } else {
        quantile(s + 1.0, f, 1.0 - tail)
    };
    Some((low, high))
}

/// Holm's correction: p-values that may be compared with one level though there are several.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut ascending = (0..p_values.len()).collect::<Vec<_>>();
    ascending.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut corrected = vec![0.0; p_values.len()];
    let mut largest = 0.0_f64;
    for (rank, &index) in ascending.iter().enumerate() {
        let remaining = (p_values.len() - rank) as f64;
        // A larger p-value never becomes smaller than a smaller one.
        largest = largest.max(p_values[index] * remaining).min(1.0);
        corrected[index] = largest;
    }
    corrected
}

/// The two-sided quantile of Student's t: what a mean is away from its expectation, in standard
/// errors, at most, with this probability.
fn t_quantile(freedom: f64, level: f64) -> f64 {
    student(freedom).inverse_cdf(0.5 + level / 2.0)
}

fn student(freedom: f64) -> StudentsT {
    StudentsT::new(0.0, 1.0, freedom).expect("a positive freedom")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64, tolerance: f64) {
        assert!((a - b).abs() <= tolerance, "{a} is not {b}");
    }

    #[test]
    fn quantiles_of_student_are_those_of_the_tables() {
        close(t_quantile(1.0, 0.95), 12.706_204_736, 1e-6);
        close(t_quantile(9.0, 0.95), 2.262_157_163, 1e-8);
        close(t_quantile(29.0, 0.99), 2.756_385_904, 1e-8);
        close(t_quantile(60.0, 0.999), 3.460, 5e-4);
        close(t_quantile(120.0, 0.999), 3.373, 5e-4);
        close(t_quantile(1_000_000.0, 0.999), 3.290_5, 5e-4);
    }

    #[test]
    fn moments_divide_by_one_less_than_the_number_of_values() {
        let moments = Moments::of([2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]);
        assert_eq!((moments.n, moments.mean), (8, 5.0));
        close(moments.sd, (32.0_f64 / 7.0).sqrt(), 1e-12);
    }

    #[test]
    fn small_deviations_from_a_large_mean_survive() {
        let moments = Moments::of([1e9 + 4.0, 1e9 + 7.0, 1e9 + 13.0, 1e9 + 16.0]);
        close(moments.sd, 30.0_f64.sqrt(), 1e-6);
    }

    #[test]
    fn an_interval_needs_two_values() {
        assert_eq!(Moments::of([1.0]).interval(0.95), None);
        let (low, high) = Moments::of([1.0, 3.0]).interval(0.95).unwrap();
        close(low, 2.0 - 12.706_204_736, 1e-5);
        close(high, 2.0 + 12.706_204_736, 1e-5);
    }

    #[test]
    fn one_sided_chance_is_that_of_the_tables() {
        // t = -2.132 with 4 degrees of freedom: 5 %.
        let of = |mean| {
            Difference::of(Moments {
                n: 5,
                mean,
                sd: 5_f64.sqrt(),
            })
        };
        close(of(-2.132).p_below_zero(), 0.05, 1e-4);
        close(of(2.132).p_below_zero(), 0.95, 1e-4);
        let certain = Difference::of(Moments::of([-1.0, -1.0]));
        assert_eq!(certain.p_below_zero(), 0.0);
    }

    #[test]
    fn two_samples_are_compared_as_welch_does() {
        // Variances 4/3 and 4: the error is √(1/3 + 1), the freedom (4/3)²/(1/27 + 1/3) = 4.8.
        let a = Moments::of([1.0, 3.0, 1.0, 3.0]);
        let b = Moments {
            n: 4,
            mean: 8.0,
            sd: 2.0,
        };
        let difference = Difference::between(a, b).unwrap();
        close(difference.mean, -6.0, 1e-12);
        close(difference.error, (4.0_f64 / 3.0).sqrt(), 1e-12);
        close(difference.freedom, 4.8, 1e-9);
        assert!(difference.p_below_zero() < 0.01);
        let (low, high) = difference.interval(0.99);
        close((low + high) / 2.0, -6.0, 1e-9);
        assert_eq!(Difference::between(a, Moments::of([1.0])), None);
    }

    #[test]
    fn batches_see_the_correlation_that_single_values_hide() {
        // Fifty equal values in a row are one observation, not fifty.
        let values = (0..6_400)
            .map(|i| f64::from((i / 50 * 7919) % 97))
            .collect::<Vec<_>>();
        let (low, high) = Moments::of(values.iter().copied()).interval(0.99).unwrap();
        let batched = batch_half_width(&values, 10, 0.99).unwrap();
        close(batched / ((high - low) / 2.0), 50.0_f64.sqrt(), 0.2);
    }

    #[test]
    fn batches_leave_no_value_out_and_are_never_few() {
        let mut values = vec![1.0; 109];
        assert_eq!(batch_half_width(&values, 10, 0.95), Some(0.0));
        values.push(111.0);
        // Ten means of 1 and one of 12 have the standard deviation √11, which the root of their
        // number cancels: what is left is Student's quantile for ten degrees of freedom.
        let half = batch_half_width(&values, 10, 0.95).unwrap();
        close(half, 2.228_139, 1e-6);
        assert_eq!(batch_half_width(&values[..99], 10, 0.95), None);
    }

    #[test]
    fn clopper_pearson_gives_the_published_limits() {
        // 0 of 10: 1 − 0.025^(1/10).
        let (low, high) = clopper_pearson(0, 10, 0.95).unwrap();
        assert_eq!(low, 0.0);
        close(high, 1.0 - 0.025_f64.powf(0.1), 1e-9);
        let (low, high) = clopper_pearson(10, 10, 0.95).unwrap();
        close(low, 0.025_f64.powf(0.1), 1e-9);
        assert_eq!(high, 1.0);
        let (low, high) = clopper_pearson(5, 10, 0.95).unwrap();
        close(low, 0.187_086, 1e-6);
        close(high, 0.812_914, 1e-6);
        assert_eq!(clopper_pearson(0, 0, 0.95), None);
    }

    #[test]
    fn holm_steps_down_and_never_turns_the_order() {
        let corrected = holm(&[0.01, 0.04, 0.03, 0.005]);
        for (got, expected) in corrected.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            close(*got, expected, 1e-12);
        }
        assert_eq!(holm(&[0.9, 0.8]), [1.0, 1.0]);
    }
}
