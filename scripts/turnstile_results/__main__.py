"""Draws the figures of a run or a sweep.

    scripts/draw results/latest
    scripts/draw results/light-load.sweep --x nodes --y messages_per_entry --format pdf
"""

import argparse
import sys
from pathlib import Path

from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from . import figures
from .loading import NotAResult, Run, load, load_published


def main(arguments: list[str] | None = None) -> int:
    """Draws, says where, and gives the exit code: 0, or 2 where something was asked for that is not there."""
    parser = argparse.ArgumentParser(prog="scripts/draw", description="Draws the figures of a run or a sweep.")
    parser.add_argument("directory", type=Path, help="the directory of a run, such as results/latest, or of a sweep")
    parser.add_argument("--x", help="sweep: the key along the axis [default: what its plot says]")
    parser.add_argument("--y", help="sweep: a column of runs.csv [default: what its plot says]")
    parser.add_argument("--published", type=Path, help="sweep: a table of results/papers to draw beside it; "
                        "its first column is along the axis")
    parser.add_argument("--format", choices=["pdf", "svg", "png"], default="pdf", help="[default: pdf]")
    parser.add_argument("--out", type=Path, help="directory for the figures [default: the result's own]")
    options = parser.parse_args(arguments)
    try:
        for path in draw(options.directory, options.out or options.directory, options.format, options.x, options.y, options.published):
            print(f"figure: {path}")
    except NotAResult as why:
        print(f"error: {why}", file=sys.stderr)
        return 2
    return 0


def draw(
    directory: Path, out: Path, form: str, x: str | None = None, y: str | None = None, published: Path | None = None
) -> list[Path]:
    """Draws everything there is in this directory, and says where it is."""
    result = load(directory)
    drawn: list[tuple[str, Figure]]
    if isinstance(result, Run):
        if x or y or published:
            raise NotAResult(f"{directory} is a run; --x, --y and --published are for sweeps")
        drawn = list(figures.of_run(result))
    else:
        beside = load_published(published) if published else None
        drawn = [(y or "figure", figures.of_sweep(result, x, y, beside))]
    out.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, figure in drawn:
        path = out / f"{name}.{form}"
        figure.savefig(path, dpi=160)
        # pyplot keeps every figure in memory until it is closed.
        plt.close(figure)
        paths.append(path)
    return paths


if __name__ == "__main__":
    sys.exit(main())
