#!/usr/bin/env python3
"""The comparison finds what is worse, and calls equal builds equal as often as it says."""
import random
import unittest

import paired


def series(chance, count, factor=1.0):
    """Two of them under common waves of noise and noise of their own; the second takes `factor` times as long."""
    waves = [chance.lognormvariate(0, 0.5) for _ in range(count)]
    noisy = lambda wave, by: wave * by * chance.lognormvariate(0, 0.05)
    return [noisy(wave, 1) for wave in waves], [noisy(wave, factor) for wave in waves]


class Compare(unittest.TestCase):
    def verdicts(self, factor, figures=20, runs=500):
        chance = random.Random(1)
        count = paired.pairs_needed(figures)
        return [paired.compare(*series(chance, count, factor), figures).verdict for _ in range(runs)]

    def test_equal_builds_are_rarely_called_different(self):
        self.assertLess(sum(verdict != "same" for verdict in self.verdicts(1.0)), 500 * 2 * paired.ERROR / 20 + 3)

    def test_a_fifth_more_is_found_below_waves_that_are_larger(self):
        self.assertGreater(self.verdicts(1.2).count("worse"), 490)

    def test_a_fifth_less_is_better(self):
        self.assertGreater(self.verdicts(1 / 1.2).count("better"), 490)

    def test_a_change_of_a_hundredth_is_none_however_certain(self):
        self.assertEqual(paired.compare([100.0] * 40, [101.0] * 40).verdict, "same")

    def test_one_odd_pair_hides_nothing(self):
        count = paired.pairs_needed(20)
        self.assertEqual(paired.compare([1.0] * count, [0.1] + [1.5] * (count - 1), 20).verdict, "worse")

    def test_too_few_pairs_are_refused(self):
        with self.assertRaisesRegex(ValueError, "4 pairs are too few for 20 figures"):
            paired.compare([1.0] * 4, [2.0] * 4, 20)

    def test_the_rank_is_that_of_the_binomial_distribution(self):
        # Of 10 fair coins at most one shows heads in 11 of 1024 cases.
        self.assertEqual(paired.rank(10, 11 / 1024), 1)
        self.assertEqual(paired.rank(10, 10.9 / 1024), 0)
        self.assertIsNone(paired.rank(4, 1 / 20))


if __name__ == "__main__":
    unittest.main()
