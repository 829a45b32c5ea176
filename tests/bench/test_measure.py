# SPDX-License-Identifier: MIT
"""The harness's own arithmetic: /usr/bin/python3 tests/bench/test_measure.py."""

import pathlib
import sys
import unittest
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import measure  # noqa: E402
import page  # noqa: E402
import plot  # noqa: E402
from measure import Comparison, Tail, Work  # noqa: E402
from suites import soak  # noqa: E402


def one(rate, p50=1000, p99=2000, processor=100):
    """One round's result."""
    return {"rate": rate, "processor": processor, "latency": {"1": 10, "50": p50, "99": p99}, "requests": rate,
            "refused": 0, "broken": 0}


class Percentiles(unittest.TestCase):
    """The nearest rank."""

    def test_percentiles_are_values_that_were_found(self):
        ordered = list(range(1, 101))
        for percent, expected in (("1", 1), ("50", 50), ("99", 99), ("99.9", 100), ("99.99", 100)):
            self.assertEqual(measure.percentile(ordered, percent), expected)

    def test_percentiles_of_one_value_are_that_value(self):
        self.assertEqual({measure.percentile([7], percent) for percent in measure.PERCENTS}, {7})

    def test_of_an_odd_number_the_middle_is_the_median(self):
        self.assertEqual(measure.percentile([1, 2, 3], "50"), 2)

    def test_latencies_are_microseconds_whatever_the_order(self):
        found = measure.latencies([0.003, 0.001, 0.002])
        self.assertEqual(list(found), list(measure.PERCENTS))
        self.assertAlmostEqual(found["50"], 2000)
        self.assertAlmostEqual(found["99.99"], 3000)

    def test_an_entry_tells_the_rate_by_what_was_done_at_once(self):
        self.assertAlmostEqual(measure.entry([0.5, 0.5, 0.5, 0.5], 1.0)["rate"], 2)
        self.assertAlmostEqual(measure.entry([0.5, 0.5, 0.5, 0.5], 1.0, taken=1)["rate"], 4)
        self.assertAlmostEqual(measure.entry([2.0], 1.0, share=1024)["rate"], 512)
        self.assertAlmostEqual(measure.entry([0.5, 0.5], 1.0)["processor"], 500000)


class Ratios(unittest.TestCase):
    """Within the round, never across."""

    def test_each_round_is_compared_with_itself(self):
        measured = {8: {"a": [one(100), one(10)], "b": [one(50), one(20)]}}
        self.assertEqual(measure.ratios(measured, Comparison("a", "b", 1)), [2, 0.5])

    def test_how_many_times_as_long_is_the_other_way_round(self):
        measured = {8: {"a": [one(100)], "b": [one(150)]}}
        row = measure.describe(measured, [Comparison("a", "b", 1.5, least=False)])[0]
        self.assertEqual((row["median"], row["holds"]), (1.5, True))
        row = measure.describe(measured, [Comparison("b", "a", 1.5)])[0]
        self.assertEqual((row["median"], row["holds"]), (1.5, True))

    def test_a_median_past_the_goal_is_not_reached(self):
        measured = {8: {"a": [one(89), one(89), one(100)], "b": [one(100)] * 3}}
        row = measure.describe(measured, [Comparison("a", "b", 0.9)])[0]
        self.assertEqual((row["median"], row["minimum"], row["maximum"], row["holds"]), (0.89, 0.89, 1.0, False))

    def test_processor_time_tells_the_same_way_as_the_rate(self):
        measured = {8: {"a": [one(100, processor=50)], "b": [one(50, processor=100)]}}
        self.assertEqual(measure.describe(measured, [Comparison("a", "b", 1)])[0]["processor"], 2)
        self.assertEqual(measure.describe(measured, [Comparison("a", "b", 1, least=False)])[0]["processor"], 0.5)

    def test_tail_is_p99_against_p50(self):
        row = measure.describe({64: {"a": [one(1, 1000, 2500)]}}, [Tail("a", 3)])[0]
        self.assertEqual((row["median"], row["holds"], row["processor"]), (2.5, True, None))

    def test_the_work_of_a_request_is_bounded_from_above(self):
        measured = {8: {"a": [one(1, processor=40)], "b": [one(9, processor=100)]}}
        for goal, holds in ((0.4, True), (0.39, False)):
            row = measure.describe(measured, [Work("a", "b", goal)])[0]
            self.assertEqual((row["median"], row["holds"], row["processor"], row["unit"]),
                             (0.4, holds, None, "of its work"))

    def test_a_goal_that_is_missed_says_why_by_what_was_measured(self):
        measured = {8: {"a": [one(10)], "b": [one(20)]}}

        def why(found):
            return f"b gives {measure.rate(found, 'b', 8):g} in {measure.work(found, 'b', 8):g} us."

        for goal, said in ((0.5, None), (0.51, "b gives 20 in 100 us.")):
            row = measure.describe(measured, [Comparison("a", "b", goal, why=why)])[0]
            self.assertEqual(row["why"], said)
            self.assertEqual(page.reasons([row]),
                             [f"- Not reached, a / b, 8 connections: {said}", ""] if said else [])

    def test_every_refusal_and_broken_connection_is_told(self):
        measured = {8: {"a": [one(1), one(1) | {"refused": 2, "broken": 1}], "b": [one(1)]}}
        self.assertEqual(measure.faults(measured), ["a, 8 connections: 2 refused, 1 broken"])


class Growth(unittest.TestCase):
    """What soak takes for growth."""

    def samples(self, late):
        """Ten samples of two workers, the second of which was replaced half-way."""
        return [(number, {1: (100 if number < 8 else late, 10), (2 if number < 5 else 3): (50, 9)}, 0)
                for number in range(10)]

    def test_a_worker_is_compared_with_itself(self):
        self.assertEqual(soak.growth(self.samples(140), 0), [40])
        self.assertEqual(soak.growth(self.samples(140), 1), [0])

    def test_a_busy_moment_is_no_growth(self):
        samples = self.samples(100)
        samples[9] = (9, {1: (4000, 12), 3: (50, 9)}, 0)
        self.assertEqual(soak.growth(samples, 0), [0])


class Telling(unittest.TestCase):
    """Page and plot."""

    def whole(self):
        """A result with everything in it."""
        measured = {8: {"a": [one(100)], "b": [one(200)]}}
        return {"suite": "x", "title": "X & Y", "command": "tools/bench x", "date": "today", "rounds": 1, "seconds": 1,
                "workers": 4, "machine": "m", "load": 1.0, "versions": [], "measured": measured, "faults": [],
                "comparisons": measure.describe(measured, [Comparison("a", "b", 0.9)]),
                "tables": [{"title": "T", "head": ["p", "q"], "rows": [[1, 2]]}],
                "curves": [{"title": "<curve>", "series": {"s": [(1, 0), (2, 5)]}}]}

    def test_a_missed_goal_is_told_plainly(self):
        self.assertIn("**not reached**", page.section(self.whole(), "x.svg"))

    def test_the_plot_is_well_formed(self):
        drawn = plot.draw(self.whole())
        self.assertEqual(xml.etree.ElementTree.fromstring(drawn).tag, "{http://www.w3.org/2000/svg}svg")

    def test_what_is_drawn_stays_in_the_picture(self):
        shares = [plot.share_of(*pair) for pair in ((0, 0), (3, 0), (-5, 256), (1, 2), (9, 1))]
        self.assertEqual(shares, [0, 2, 0, 0.5, 2])

    def test_nothing_to_draw_is_no_plot(self):
        self.assertIsNone(plot.draw({"comparisons": [], "measured": {}}))

    def test_marks_are_round_and_inside(self):
        for values, logarithmic in (((0, 7), False), ((3, 4000), True), ((5, 5), False), ((0, 0), False)):
            axis = plot.Axis(values, 0, 100, logarithmic)
            for mark in axis.marks():
                self.assertTrue(-1e-6 <= axis.place(mark) <= 100 + 1e-6, (values, mark))


if __name__ == "__main__":
    unittest.main()
