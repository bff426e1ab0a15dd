"""From a directory that the program wrote to data frames."""

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd


class NotAResult(Exception):
    """A directory that holds neither a run nor a complete sweep; the message says what is missing."""


@dataclass(frozen=True)
class Run:
    """One run: `run.json`, and a frame for each of its tables. results/README.md explains the columns."""

    directory: Path
    record: dict[str, Any]
    entries: pd.DataFrame
    messages: pd.DataFrame
    counters: pd.DataFrame
    transport: pd.DataFrame
    nodes: pd.DataFrame
    faults: pd.DataFrame
    summary: pd.Series

    @property
    def name(self) -> str:
        """What ran: algorithm, number of nodes, engine and seed."""
        of = self.summary
        return f"{of['algorithm']} · {of['nodes']} nodes · {of['engine']} · seed {of['seed']}"

    @property
    def served(self) -> pd.DataFrame:
        """The requests that were made and got in, in the order of their arrival."""
        return self.entries[self.entries["enter_ns"].notna() & self.entries["request_ns"].notna()]

    @property
    def waits_us(self) -> "pd.Series[float]":
        """From arrival to entry, of every request that got in."""
        waits = (self.served["enter_ns"] - self.served["request_ns"]) / 1e3
        return waits.astype(float)


@dataclass(frozen=True)
class Sweep:
    """A sweep: a row for each run, and what the program made of them."""

    directory: Path
    asked: dict[str, Any]
    keys: list[str]
    """The columns of `runs` in which the cells differ: `cell.KEY`."""
    runs: pd.DataFrame
    aggregate: pd.DataFrame

    @property
    def name(self) -> str:
        """As the sweep's file says, else its directory's."""
        return str(self.asked.get("name", self.directory.name.removesuffix(".sweep")))


def load(directory: str | Path) -> Run | Sweep:
    """The run or the sweep in this directory."""
    directory = Path(directory)
    if (directory / "run.json").is_file():
        return load_run(directory)
    if (directory / "sweep.toml").is_file():
        return load_sweep(directory)
    raise NotAResult(f"{directory}: neither run.json nor sweep.toml is there")


def load_run(directory: str | Path) -> Run:
    """The run in this directory."""
    directory = Path(directory)
    record = json.loads(_text(directory / "run.json"))
    summary = _table(directory / "summary.csv")
    return Run(
        directory,
        record,
        _table(directory / "entries.csv"),
        _table(directory / "messages.csv"),
        _table(directory / "counters.csv"),
        _table(directory / "transport.csv"),
        _table(directory / "nodes.csv"),
        _table(directory / "faults.csv"),
        summary.iloc[0],
    )


def load_sweep(directory: str | Path) -> Sweep:
    """The sweep in this directory, which must be complete."""
    directory = Path(directory)
    asked = tomllib.loads(_text(directory / "sweep.toml"))
    if not (directory / "aggregate.csv").is_file():
        raise NotAResult(f"{directory}: the sweep is not complete; orchestrator sweep goes on with it")
    runs = _table(directory / "runs.csv")
    keys = [column for column in runs.columns if column.startswith("cell.")]
    return Sweep(directory, asked, keys, runs, _table(directory / "aggregate.csv"))


def load_published(path: str | Path) -> pd.DataFrame:
    """The numbers of a table in results/papers, by its first column; lines that begin with # tell their place."""
    path = Path(path)
    if not path.is_file():
        raise NotAResult(f"{path} is missing")
    table = pd.read_csv(path, comment="#")
    numbers = table.select_dtypes("number")
    if numbers.shape[1] < 2 or table.columns[0] != numbers.columns[0]:
        raise NotAResult(f"{path}: its first column and another must be numbers")
    return numbers.set_index(numbers.columns[0])


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise NotAResult(f"{path}: {error.strerror}") from error


def _table(path: Path) -> pd.DataFrame:
    """A table; whole numbers stay whole even where some are missing."""
    if not path.is_file():
        raise NotAResult(f"{path} is missing")
    return pd.read_csv(path, dtype_backend="numpy_nullable")
