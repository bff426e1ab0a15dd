"""The figures of a run and of a sweep, for papers: matplotlib, legible in print and without colours."""

from collections.abc import Iterator
from typing import Any

import matplotlib

matplotlib.use("Agg")

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from .aggregation import aggregate
from .loading import NotAResult, Run, Sweep

# Okabe and Ito's colours and the darker ones of Tol's. The numbers of colours and of marks have no common
# divisor, so that the first seventy lines look different.
COLOURS = [
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#332288", "#882255", "#999933", "#6E6E6E",
]
MARKS = ["o", "s", "^", "D", "v", "P", "X"]
MOST_POINTS = 5_000


def of_run(run: Run) -> Iterator[tuple[str, Figure]]:
    """Every figure of a run, with its name."""
    yield "waits", waits(run)
    yield "inside", inside(run)
    yield "order", order(run)
    yield "messages", messages(run)


def waits(run: Run) -> Figure:
    """Which share of the requests waited no longer than this."""
    figure, axes = _paper()
    times = run.waits_us.sort_values() / 1e3
    shares = [100 * (rank + 1) / len(times) for rank in range(len(times))]
    axes.step(times, shares, where="post", color=COLOURS[0])
    _say(axes, run.name, "wait, ms", "requests that waited no longer, %")
    axes.set_ylim(0, 100)
    return figure


def inside(run: Run) -> Figure:
    """Who waited and who was inside, with the times in which a fault was in force."""
    figure, axes = _paper()
    rows, left_out = _thinned(run.served)
    end = float(run.record["run"]["ended_ns"]) / 1e9
    arrived, entered, left = (_seconds(rows[column]) for column in ["request_ns", "enter_ns", "exit_ns"])
    left = left.fillna(end)
    nodes = rows["node"].astype(int)
    axes.barh(nodes, entered - arrived, left=arrived, height=0.3, color=COLOURS[5], label="waiting")
    axes.barh(nodes, left - entered, left=entered, height=0.8, color=COLOURS[0], label="inside")
    faults = zip(_seconds(run.faults["time_ns"]), _seconds(run.faults["until_ns"]).fillna(end))
    for nth, (start, until) in enumerate(faults):
        # A label that begins with a stroke is not in the legend: one for all of them is enough.
        label = "_" if nth else "a fault is in force"
        axes.axvspan(start, until, color=COLOURS[4], alpha=0.25, label=label)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    # Outside, for inside there is a bar everywhere.
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=8)
    _say(axes, run.name + left_out, "time, s", "node")
    return figure


def order(run: Run) -> Figure:
    """How many places later or earlier than its turn a request came in."""
    figure, axes = _paper()
    served = run.served.reset_index(drop=True)
    entered = served["enter_ns"].rank(method="first").astype(float) - 1
    places, left_out = _thinned(pd.DataFrame({"places": entered - served.index}))
    axes.plot(places.index, places["places"], MARKS[0], color=COLOURS[0], markersize=2)
    axes.axhline(0, color="black", linewidth=0.8)
    # There are no half requests, nor places.
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    _say(axes, run.name + left_out, "request, by arrival", "places later (+) or earlier (−)")
    return figure


def messages(run: Run) -> Figure:
    """How many messages of each kind were sent."""
    figure, axes = _paper()
    sent = run.messages.groupby("kind")["sent"].sum().sort_index(ascending=False)
    axes.barh([str(kind) for kind in sent.index], sent.astype(float), color=COLOURS[0])
    _say(axes, run.name, "messages sent", "")
    return figure


def of_sweep(
    sweep: Sweep, x: str | None = None, y: str | None = None, published: pd.DataFrame | None = None
) -> Figure:
    """A metric over a key, a line for each combination of the others, with 95 % intervals.

    Without `x` and `y` what the sweep's own [plot] says. What a closed form expects is a short black
    stroke, as in the program's own plot; what is published is drawn beside it, hollow.
    """
    plot = sweep.asked.get("plot", {})
    x, y = x or plot.get("x"), y or plot.get("y")
    if x is None or y is None:
        raise NotAResult(f"{sweep.directory}: the sweep says no [plot]; name --x and --y")
    along = f"cell.{x}"
    if along not in sweep.keys:
        known = ", ".join(key.removeprefix("cell.") for key in sweep.keys)
        raise NotAResult(f"--x: '{x}' is no key of the sweep; there are {known}")
    if y not in sweep.runs.columns:
        raise NotAResult(f"--y: '{y}' is no column of runs.csv")
    if not pd.api.types.is_numeric_dtype(sweep.runs[y]):
        raise NotAResult(f"--y: '{y}' is not a number")
    runs = sweep.runs.assign(**{along: _numbers(sweep.runs[along], plot.get("at"), x)})
    # A key that follows from the one along the axis makes no line of its own.
    values = runs.groupby(along)[sweep.keys].nunique(dropna=False).max()
    others = [key for key in sweep.keys if key != along and values[key] > 1]
    if x == plot.get("x") and plot.get("lines"):
        others = [f"cell.{key}" for key in plot["lines"]]
    figure, axes = _paper()
    scale, label = (1e-3, y.removesuffix("_us") + ", ms") if y.endswith("_us") else (1.0, y)
    means = aggregate(runs, [along, *others], [y])
    if means.empty:
        raise NotAResult(f"--y: no run of the sweep has a '{y}'")
    lines = means.groupby(others, sort=False, dropna=False) if others else [("", means)]
    for nth, (name, line) in enumerate(lines):
        line = line.sort_values(along)
        mean, half = line["mean"] * scale, (line["high"] - line["low"]) / 2 * scale
        words = name if isinstance(name, tuple) else (name,)
        axes.errorbar(
            line[along].astype(float), mean, yerr=half.fillna(0), capsize=3, linewidth=1.2,
            color=COLOURS[nth % len(COLOURS)], marker=MARKS[nth % len(MARKS)], markersize=4,
            label=" ".join(_line_name(key, word) for key, word in zip(others, words)),
        )
    expected = _expected(runs, [along, *others], y)
    if expected is not None:
        axes.plot(
            expected[along].astype(float), expected["mean"] * scale, "_", color="black",
            markersize=12, label="closed form",
        )
    for nth, (column, values) in enumerate([] if published is None else published.items()):
        axes.plot(
            values.index, values, MARKS[nth % len(MARKS)], color="black",
            fillstyle="none", label=f"published: {str(column).replace('_', ' ')}",
        )
    if plot.get("logarithmic"):
        axes.set_xscale("log")
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    if others or expected is not None or published is not None:
        axes.legend(frameon=False, fontsize=8)
    drawn_as_asked = (x, y) == (plot.get("x"), plot.get("y"))
    title = plot.get("title", sweep.name) if drawn_as_asked else sweep.name
    _say(axes, title, plot.get("label", x) if x == plot.get("x") else x, label.replace("_", " "))
    return figure


def _line_name(key: str, value: object) -> str:
    """What a line has for this key, as in the program's own plot."""
    key, word = key.removeprefix("cell."), str(value)
    if key == "as-printed" and word in ("[]", "false", "False"):
        return "repaired"
    if key == "as-printed" and word in ("true", "True"):
        return "as printed"
    if key == "as-printed":
        return "as printed: " + word.strip("[]").replace('"', "")
    # A number, a time or a share by itself would say nothing.
    return f"{key}={word}" if _is_quantity(word) else word


def _is_quantity(word: str) -> bool:
    """Whether a value is an amount of something and no name: `5`, `1ms 500us`, `exp:1ms`, `5%`."""
    amount = word.removeprefix("exp:").removeprefix("uniform:")
    return amount[:1].isdigit() or amount.startswith("-")


def _expected(runs: pd.DataFrame, keys: list[str], y: str) -> pd.DataFrame | None:
    """What the closed forms say of the metric in each cell, where one applies."""
    column = f"expected_{y}"
    if column not in runs.columns:
        return None
    means = aggregate(runs, keys, [column])
    return None if means.empty else means


def _numbers(values: "pd.Series[Any]", at: list[float] | None, x: str) -> "pd.Series[float]":
    """Where the values stand along the axis: where the sweep says, or they are numbers themselves."""
    numbers = pd.to_numeric(values, errors="coerce")
    if at is not None:
        places = dict(zip(values.astype(str).unique(), at))
        numbers = values.astype(str).map(places)
    if numbers.isna().any():
        raise NotAResult(f"--x: '{x}' is not a number in every cell")
    return numbers.astype(float)


def _paper() -> tuple[Figure, Axes]:
    """A figure as wide as a column and a half."""
    figure, axes = plt.subplots(figsize=(5.4, 3.4), layout="constrained")
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _say(axes: Axes, title: str, x: str, y: str) -> None:
    axes.set_title(title, fontsize=9)
    axes.set_xlabel(x)
    axes.set_ylabel(y)


def _seconds(times_ns: "pd.Series[Any]") -> "pd.Series[float]":
    return pd.to_numeric(times_ns, errors="coerce").astype("Float64").astype(float) / 1e9


def _thinned(rows: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """No more rows than a reader can see, and words for what was left out."""
    step = -(-len(rows) // MOST_POINTS)
    if step <= 1:
        return rows, ""
    return rows.iloc[::step], f" (one in {step} drawn)"
