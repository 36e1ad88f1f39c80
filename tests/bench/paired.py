"""Compares two series that were measured in turns: pair i holds what both gave one right after the other.

Noise of a machine that others use comes in waves, which a pair meets as a whole; so the ratios of the pairs are looked at, not the
two series. Nothing is assumed of their distribution: if there were no difference, each ratio would be above 1 as often as below, and
how many are above would be binomial. The range of order statistics that this gives for the median ratio is right for whatever
noise, as long as pairs do not depend on each other.
"""
import dataclasses
import math
import statistics

LEAST_CHANGE = 0.05  # what is smaller is no regression that anybody would look for
ERROR = 0.05         # how often a comparison of equal builds, all figures together, may call one of them worse


@dataclasses.dataclass
class Comparison:
    ratio: float  # median of new / old
    low: float    # the range that holds the true median ratio
    high: float

    @property
    def verdict(self):
        if self.low > 1 and self.ratio >= 1 + LEAST_CHANGE:
            return "worse"
        if self.high < 1 and self.ratio <= 1 - LEAST_CHANGE:
            return "better"
        return "same"


def rank(count, error):
    """How many ratios may lie on one side of the range's end by chance: the end is the ratio of that rank, from 0. None: so few
    pairs show nothing at this error."""
    tail, found = 0.0, None
    for outside in range(count):
        tail += math.comb(count, outside) / 2 ** count
        if tail > error:
            break
        found = outside
    return found


def compare(old, new, figures=1):
    """`figures`: how many are compared in all; each gets its share of the error, on each side."""
    ratios = sorted(late / early for early, late in zip(old, new, strict=True))
    position = rank(len(ratios), ERROR / figures)
    if position is None:
        raise ValueError(f"{len(ratios)} pairs are too few for {figures} figures")
    return Comparison(statistics.median(ratios), ratios[position], ratios[-1 - position])


def pairs_needed(figures):
    """The fewest with which one odd pair does not hide a difference."""
    return next(count for count in range(1, 100) if (rank(count, ERROR / figures) or 0) >= 1)
