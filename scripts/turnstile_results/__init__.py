"""Runs and sweeps of Turnstile as data frames: load, aggregate, draw.

    from turnstile_results import load_run, load_sweep, aggregate

    run = load_run("results/latest")
    print(run.waits_us.quantile([0.5, 0.99]))

    sweep = load_sweep("results/light-load.sweep")
    print(aggregate(sweep.runs, sweep.keys, ["messages_per_entry"]))
"""

from .aggregation import aggregate, paired_difference
from .loading import NotAResult, Run, Sweep, load, load_published, load_run, load_sweep

__all__ = [
    "NotAResult",
    "Run",
    "Sweep",
    "aggregate",
    "load",
    "load_published",
    "load_run",
    "load_sweep",
    "paired_difference",
]
