"""Means over repetitions, with Student's intervals: the same numbers as in aggregate.csv."""

import math
from collections.abc import Sequence

import pandas as pd
from scipy.stats import t as student


def aggregate(
    runs: pd.DataFrame, keys: Sequence[str], metrics: Sequence[str], level: float = 0.95
) -> pd.DataFrame:
    """A row for each combination of the keys and each metric: n, mean, sd, low, high.

    A run that has no value for a metric does not count for it. One value has a mean and no interval.
    """
    rows = []
    # Without keys everything is one group.
    by = list(keys) or (lambda _: 0)
    for values, group in runs.groupby(by, sort=False, dropna=False):
        named = dict(zip(keys, values if isinstance(values, tuple) else (values,)))
        for metric in metrics:
            numbers = group[metric].dropna().astype(float)
            if numbers.empty:
                continue
            n, mean, sd = len(numbers), numbers.mean(), numbers.std(ddof=1)
            low, high = _interval(n, mean, sd, level)
            rows.append({**named, "metric": metric, "n": n, "mean": mean, "sd": sd, "low": low, "high": high})
    return pd.DataFrame(rows)


def paired_difference(
    runs: pd.DataFrame, key: str, one: str, other: str, metric: str, level: float = 0.95
) -> dict[str, float]:
    """How much more `other` has than `one`, run by run with the same seed: n, mean, sd, low, high.

    Both are values of the column `key`; everything else must be the same in their runs.
    """
    def of(value: str) -> "pd.Series[float]":
        chosen = runs[runs[key].astype(str) == value].set_index("seed")[metric].astype(float)
        if chosen.empty:
            raise ValueError(f"{key}: there is no {value}")
        if chosen.index.duplicated().any():
            raise ValueError(f"{value} ran more than once with one seed: choose one cell first")
        return chosen

    differences = (of(other) - of(one)).dropna()
    n, mean, sd = len(differences), differences.mean(), differences.std(ddof=1)
    low, high = _interval(n, mean, sd, level)
    return {"n": n, "mean": mean, "sd": sd, "low": low, "high": high}


def _interval(n: int, mean: float, sd: float, level: float) -> tuple[float, float]:
    if n < 2:
        return math.nan, math.nan
    half = float(student.ppf((1 + level) / 2, n - 1)) * sd / math.sqrt(n)
    return mean - half, mean + half
