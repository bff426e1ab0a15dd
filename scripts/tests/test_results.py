"""The Python side against files that the program has just written."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import numpy as np
import pandas as pd

from turnstile_results import NotAResult, Run, aggregate, load, load_run, load_sweep, paired_difference
from turnstile_results.__main__ import draw, main

PROGRAM = os.environ["TURNSTILE_PROGRAM"]
SWEEP = """
name = "small"
repetitions = 6
[scenario]
engine = "sim"
entries = 8
[grid]
algorithm = ["raymond", "lamport"]
nodes = [3, 5, 7]
[plot]
x = "nodes"
y = "messages_per_entry"
"""
PRINTED = """
repetitions = 1
[scenario]
engine = "sim"
algorithm = "fapp"
[grid]
as-printed = [[], ["F7", "F8"]]
entries = [2, 4]
[plot]
title = "The most that entered before"
x = "entries"
y = "passed_over_max"
"""


class Results(unittest.TestCase):
    box: tempfile.TemporaryDirectory[str]
    place: Path

    @classmethod
    def setUpClass(cls) -> None:
        cls.box = tempfile.TemporaryDirectory()
        cls.place = Path(cls.box.name)
        (cls.place / "small.toml").write_text(SWEEP)
        cls.call("run", "raymond", "--engine", "sim", "--seed", "1", "--fault", "at 50ms cut 0-1 for 20ms", "--out", "run")
        cls.call("sweep", "small.toml", "--out", "sweep")
        (cls.place / "printed.toml").write_text(PRINTED)
        cls.call("sweep", "printed.toml", "--out", "elsewhere")
        cls.call("compare", "raymond", "naimi-trehel", "--repetitions", "3", "--out", "compared")

    @classmethod
    def tearDownClass(cls) -> None:
        cls.box.cleanup()

    @classmethod
    def call(cls, *words: str) -> None:
        subprocess.run([PROGRAM, *words], cwd=cls.place, check=True, capture_output=True)

    def test_a_run_is_loaded_as_it_was_written(self) -> None:
        run = load(self.place / "run")
        assert isinstance(run, Run)
        self.assertEqual(len(run.entries), int(run.summary["requests"]))
        self.assertEqual(int(run.messages["sent"].sum()), int(run.summary["messages"]))
        self.assertEqual(len(run.faults), 1)
        self.assertEqual(run.record["verdict"]["verdict"], run.summary["verdict"])

    def test_waits_are_those_of_the_summary(self) -> None:
        run = load_run(self.place / "run")
        self.assertAlmostEqual(run.waits_us.mean(), float(run.summary["wait_mean_us"]), places=6)
        self.assertAlmostEqual(run.waits_us.max(), float(run.summary["wait_max_us"]), places=6)
        median = np.quantile(run.waits_us, 0.5, method="inverted_cdf")
        self.assertAlmostEqual(float(median), float(run.summary["wait_p50_us"]), places=6)

    def test_aggregates_are_those_of_the_program(self) -> None:
        sweep = load_sweep(self.place / "sweep")
        self.assertEqual(sweep.keys, ["cell.algorithm", "cell.nodes"])
        metrics = sorted(set(sweep.aggregate["metric"]))
        self.assertIn("wait_mean_us", metrics)
        for level, low, high in [(0.95, "low_95", "high_95"), (0.99, "low_99", "high_99")]:
            ours = aggregate(sweep.runs, ["cell", *sweep.keys], metrics, level)
            both = ours.merge(sweep.aggregate, on=["cell", "metric"], suffixes=("", "_theirs"))
            self.assertEqual(len(both), len(sweep.aggregate))
            self.assertTrue((both["n"] == both["n_theirs"]).all())
            for mine, theirs in [("mean", "mean_theirs"), ("sd", "sd_theirs"), ("low", low), ("high", high)]:
                left, right = both[mine].astype(float), both[theirs].astype(float)
                np.testing.assert_allclose(left, right, rtol=1e-9, atol=1e-9, err_msg=f"{mine} at {level}")

    def test_differences_are_paired_by_seed(self) -> None:
        runs = load_sweep(self.place / "sweep").runs
        five = runs[runs["cell.nodes"] == 5]
        found = paired_difference(five, "cell.algorithm", "raymond", "lamport", "messages_per_entry")
        by_hand = [
            float(five[(five["seed"] == seed) & (five["algorithm"] == "lamport")]["messages_per_entry"].iloc[0])
            - float(five[(five["seed"] == seed) & (five["algorithm"] == "raymond")]["messages_per_entry"].iloc[0])
            for seed in range(1, 7)
        ]
        self.assertEqual(found["n"], 6)
        self.assertAlmostEqual(found["mean"], float(np.mean(by_hand)))
        self.assertLess(found["low"], found["mean"])
        with self.assertRaises(ValueError):
            paired_difference(runs, "cell.algorithm", "raymond", "lamport", "messages_per_entry")

    def test_one_run_has_no_interval(self) -> None:
        one = pd.DataFrame({"a": ["x"], "m": [2.0]})
        row = aggregate(one, ["a"], ["m"]).iloc[0]
        self.assertEqual((row["n"], row["mean"]), (1, 2.0))
        self.assertTrue(np.isnan(row["low"]))

    def test_every_figure_is_drawn(self) -> None:
        for form in ["pdf", "svg", "png"]:
            out = self.place / form
            drawn = draw(self.place / "run", out, form)
            drawn += draw(self.place / "sweep", out, form)
            drawn += draw(self.place / "sweep", out, form, "nodes", "wait_mean_us")
            self.assertEqual(len(drawn), 6)
            for path in drawn:
                self.assertGreater(path.stat().st_size, 1_000, path)
        svg = (self.place / "svg" / "figure.svg").read_text()
        self.assertIn("lamport", svg)

    def test_a_closed_form_is_drawn_where_one_applies(self) -> None:
        [path] = draw(self.place / "sweep", self.place / "theory", "svg")
        self.assertIn("<!-- closed form -->", path.read_text())
        [path] = draw(self.place / "sweep", self.place / "theory", "svg", "nodes", "wait_mean_us")
        self.assertNotIn("<!-- closed form -->", path.read_text())

    def test_a_sweep_is_drawn_with_the_words_of_its_own_plot(self) -> None:
        [path] = draw(self.place / "elsewhere", self.place / "words", "svg")
        svg = path.read_text()
        for word in ["The most that entered before", "repaired", "as printed: F7, F8"]:
            self.assertIn(word, svg)
        [path] = draw(self.place / "elsewhere", self.place / "words", "svg", "entries", "messages")
        self.assertNotIn("The most that entered before", path.read_text())

    def test_what_is_drawn_of_a_run_is_named(self) -> None:
        draw(self.place / "run", self.place / "named", "svg")
        svg = (self.place / "named" / "inside.svg").read_text()
        for word in ["waiting", "inside", "a fault is in force"]:
            self.assertIn(f"<!-- {word} -->", svg)

    def test_published_numbers_stand_beside_the_measured(self) -> None:
        table = self.place / "published.csv"
        table.write_text("# A paper, table 1\nnodes,in_print\n3,6\n5,12\n")
        [path] = draw(self.place / "sweep", self.place / "beside", "svg", published=table)
        self.assertIn("published: in print", path.read_text())
        table.write_text("algorithm,formula\nlamport,3(N-1)\n")
        with self.assertRaises(NotAResult):
            draw(self.place / "sweep", self.place / "beside", "svg", published=table)

    def test_what_is_wrong_is_said(self) -> None:
        (self.place / "empty").mkdir(exist_ok=True)
        for directory, x, y in [
            ("nowhere", None, None),
            ("empty", None, None),
            ("run", "nodes", None),
            ("sweep", "noodles", None),
            ("sweep", None, "beauty"),
            ("sweep", None, "verdict"),
            ("compared", None, None),
        ]:
            with self.subTest(directory=directory, x=x, y=y), self.assertRaises(NotAResult):
                draw(self.place / directory, self.place / "none", "pdf", x, y)
        self.assertEqual(main([str(self.place / "empty")]), 2)


if __name__ == "__main__":
    unittest.main()
