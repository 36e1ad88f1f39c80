#!/usr/bin/env python3
"""Kills svcd at every failpoint that a workload comes to, each of the first times it comes there (all times with
SVC_TEST_LONG=1), starts it again and compares."""
import sys

import lives
import workload
from service import Died, harness

FIRST_TIMES = 1 << 30 if lives.LONG else 3
# Where a service dies with work under way, so that the next one has something to recover.
BEFORE_RECOVERY = ("engine.accepted:5", "launch.created:2", "engine.worked:8", "bootstrap.captured:2", "delete.container_removed:2")


class Walk(lives.SimulatedTest):
    def times(self):
        """{name: times} of a life in which nothing happens, and of the next start."""
        with lives.Simulated() as service:
            record = self.record()
            self.undisturbed(service, SVC_FAILPOINT_RECORD=record)
            service.kill(15)
            service.start(SVC_FAILPOINT_RECORD=record)
            return self.recorded()

    def after(self, point):
        """What is wrong after a death at this point; None: the service did not come there."""
        with lives.Simulated() as service:
            client = workload.Client(service)
            died = lives.live(service, client, self.steps, SVC_FAILPOINT=point) or service.kill(15) != 0
            found = lives.wrong_after(service, client)
            return found if died or found else None

    def after_two(self, first, second):
        """The same when the next service dies as well, while it recovers."""
        with lives.Simulated() as service:
            client = workload.Client(service)
            if not lives.live(service, client, self.steps, SVC_FAILPOINT=first):
                return None
            died = self.dies_recovering(service, SVC_FAILPOINT=second)
            found = lives.wrong_after(service, client)
            return found if died or found else None

    def dies_recovering(self, service, **environment):
        service.kill()
        try:
            service.start(**environment)
            service.settle()
            return False
        except Died:
            return True

    def times_of_recovery(self, first):
        """{name: times} of a service that is started after a death."""
        with lives.Simulated() as service:
            self.assertTrue(lives.live(service, workload.Client(service), self.steps, SVC_FAILPOINT=first), first)
            self.assertFalse(self.dies_recovering(service, SVC_FAILPOINT_RECORD=self.record()))
            return self.recorded()

    def walk(self, points, after):
        found = lives.results(points, after)
        missed = [point for point, texts in found.items() if texts is None]
        print(f"{len(points)} deaths, {len(missed)} points not reached: {missed}", file=sys.stderr)
        self.assertEqual(lives.wrong(found), {})
        self.assertLess(len(missed), 10 + len(points) // 4, missed)

    def test_nothing_is_lost_or_left_wherever_it_dies(self):
        times = self.times()
        self.walk([(f"{name}:{number}",) for name, count in sorted(times.items())
                   for number in range(1, min(count, FIRST_TIMES) + 1)], self.after)

    def test_nothing_is_lost_or_left_when_it_dies_again_while_it_recovers(self):
        for first in BEFORE_RECOVERY:
            with self.subTest(first=first):
                times = self.times_of_recovery(first)
                self.walk([(first, f"{name}:{number}") for name, count in sorted(times.items())
                           for number in range(1, min(count, FIRST_TIMES if lives.LONG else 1) + 1)], self.after_two)


if __name__ == "__main__":
    harness.cases.main()
