#!/usr/bin/env python3
"""Kills svcd, svc-lxc or svc-launch, and svc-agent at the failpoints that the life of real containers comes to (a sample of them; all with
SVC_TEST_LONG=1), starts svcd again, compares, deletes everything and looks for what is left in the machine."""
import os
import random
import sys
import unittest

import check
import containers
import lives
from service import Died, harness

SECONDS = 35  # for the sample


@unittest.skipUnless(os.geteuid() == 0, "needs root: containers, bridge and mounts")
class LxcWalk(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.steps = containers.steps(containers.image())

    def life(self, service, client, program, **orders):
        """Whether svcd died on the way."""
        if program == "svcd":
            return lives.live(service, client, self.steps, **orders) or service.kill(15) != 0
        service.order(program, **orders)
        try:
            return lives.live(service, client, self.steps) or service.kill(15) != 0
        finally:
            service.order(program)

    def recorded(self):
        """{program: names} of a life in which nothing happens, and of the next start."""
        service = containers.Contained()
        client = containers.Client(service)
        record = {"svcd": service.dir / "svcd.record", harness.HELPER: service.dir / "helper.record"}
        try:
            type(self).fresh = service.start().traces()
            service.kill(15)
            service.order(harness.HELPER, SVC_FAILPOINT_RECORD=record[harness.HELPER])
            service.order("svc-agent", SVC_FAILPOINT_RECORD="/crash/record")
            self.assertFalse(lives.live(service, client, self.steps, SVC_FAILPOINT_RECORD=str(record["svcd"])))
            service.kill(15)
            service.start(SVC_FAILPOINT_RECORD=str(record["svcd"]))
            names = {program: set(file.read_text().split()) for program, file in record.items()}
            names["svc-agent"] = set(client.printed.split())
            return {program: names[program] & check.names_in(containers.FOLDERS[program]) for program in names}
        finally:
            self.assertEqual(self.remove(service), [])

    def after(self, program, name):
        """What is wrong after a death at the first time it comes to the name."""
        service = containers.Contained()
        client = containers.Client(service, program != "svcd")
        found = []
        try:
            died = self.life(service, client, program, SVC_FAILPOINT=f"{name}:1")
            if died != (program == "svcd"):
                found.append("svcd died" if died else "svcd did not die")
            found += lives.wrong_after(service, client)
            service.kill(15)
            found += [f"{trace} is left" for trace in service.traces() - self.fresh]
            return found + self.remove(service)
        except (Died, AssertionError) as e:
            return [*found, f"{type(e).__name__}: {e}"]
        finally:
            service.kill()

    def remove(self, service):
        try:
            return service.close()
        finally:
            service.kill()

    def test_nothing_is_lost_or_left_wherever_a_program_dies(self):
        chosen = random.Random(seed := lives.seed())
        reached = self.recorded()
        points = [(program, name) for program, names in reached.items() for name in sorted(names)]
        chosen.shuffle(points)
        found = lives.results(points, self.after, SECONDS)
        print(f"SVC_TEST_SEED={seed}: {len(found)} of {len(points)} deaths", file=sys.stderr)
        self.assertEqual(lives.wrong(found), {})


if __name__ == "__main__":
    harness.cases.main()
