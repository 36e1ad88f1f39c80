#!/usr/bin/env python3
"""Kills svcd at every failpoint that a workload comes to, each of the first times it comes there (all times with
SVC_TEST_LONG=1), starts it again and compares."""
import collections
import pathlib
import shutil
import sys
import tempfile
import unittest

import lives
import workload
from service import Died, harness

FIRST_TIMES = 1 << 30 if lives.LONG else 3
# Where a service dies with work under way, so that the next one has something to recover.
BEFORE_RECOVERY = ("engine.accepted:5", "launch.created:2", "engine.worked:8", "bootstrap.captured:2", "delete.container_removed:2")


class Walk(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="svc-crash-", dir="/dev/shm"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, True)
        cls.steps = lives.steps()

    def recorded(self):
        """{name: times} of a life in which nothing happens, and of the next start."""
        service, record = lives.Simulated(), self.folder / "record"
        record.unlink(missing_ok=True)
        try:
            self.assertFalse(lives.live(service, workload.Client(service), self.steps, SVC_FAILPOINT_RECORD=str(record)))
            service.kill(15)
            service.start(SVC_FAILPOINT_RECORD=str(record))
            return collections.Counter(record.read_text().split())
        finally:
            service.close()

    def after(self, point):
        """What is wrong after a death at this point; None: the service did not come there."""
        service = lives.Simulated()
        client = workload.Client(service)
        try:
            died = lives.live(service, client, self.steps, SVC_FAILPOINT=point)
            if not died:
                died = service.kill(15) != 0
            found = lives.wrong_after(service, client)
            return found if died or found else None
        finally:
            service.close()

    def after_two(self, first, second):
        """The same when the next service dies as well, while it recovers."""
        service = lives.Simulated()
        client = workload.Client(service)
        try:
            if not lives.live(service, client, self.steps, SVC_FAILPOINT=first):
                return None
            if service.process:
                service.kill()
            died = False
            try:
                service.start(SVC_FAILPOINT=second)
                service.settle()
            except Died:
                died = True
            found = lives.wrong_after(service, client)
            return found if died or found else None
        finally:
            service.close()

    def recovered(self, first):
        """The names that a service comes to that is started after a death."""
        service, record = lives.Simulated(), self.folder / "record"
        record.unlink(missing_ok=True)
        client = workload.Client(service)
        try:
            self.assertTrue(lives.live(service, client, self.steps, SVC_FAILPOINT=first), first)
            if service.process:
                service.kill()
            service.start(SVC_FAILPOINT_RECORD=str(record))
            service.settle()
            return collections.Counter(record.read_text().split())
        finally:
            service.close()

    def walk(self, points, after):
        wrong, missed = {}, []
        for point in points:
            found = after(*point)
            if found is None:
                missed.append(point)
            elif found:
                wrong[point] = found
                print(*point, *found, sep="\n    ", file=sys.stderr, flush=True)
        print(f"{len(points)} deaths, {len(missed)} points not reached: {missed}", file=sys.stderr)
        self.assertEqual(list(wrong), [])
        self.assertLess(len(missed), 10 + len(points) // 4, missed)

    def test_nothing_is_lost_or_left_wherever_it_dies(self):
        times = self.recorded()
        self.walk([(f"{name}:{number}",) for name, count in sorted(times.items())
                   for number in range(1, min(count, FIRST_TIMES) + 1)], self.after)

    def test_nothing_is_lost_or_left_when_it_dies_again_while_it_recovers(self):
        for first in BEFORE_RECOVERY:
            with self.subTest(first=first):
                times = self.recovered(first)
                self.walk([(first, f"{name}:{number}") for name, count in sorted(times.items())
                           for number in range(1, min(count, FIRST_TIMES if lives.LONG else 1) + 1)], self.after_two)


if __name__ == "__main__":
    harness.cases.main()
