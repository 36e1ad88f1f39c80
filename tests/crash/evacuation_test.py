#!/usr/bin/env python3
"""Kills svcd at every failpoint that evacuations come to, starts it again and compares: each goes on, and nothing is there twice."""
import sys

import lives
import workload
from service import harness
from workload import Step

PLACES = ("evacuation.", "launch.", "delete.", "stop.", "engine.accepted", "engine.worked", "engine.finished")


def evacuate(node, mode):
    return lambda c: c.service.api("POST", f"/1.0/nodes/{node}/evacuate", {"mode": mode})


def launch(name):
    return Step(f"launch {name}", lambda c: c.launch(name, {**workload.RAW, "node": "sim1"}), {f"instance {name}": "running"})


def all_are(status):
    return {f"instance {name}": status for name in ("first", "second")}


BEFORE = [
    Step("upload an image", lambda c: c.service.upload("POST", "/1.0/images", workload.A1, name="a"), {"image a": workload.ACTIVE_1}),
    launch("first"),
    launch("second"),
]
EVACUATIONS = [
    Step("launch anew", evacuate("sim1", "relaunch"), all_are("running")),
    Step("stop", evacuate("sim2", "stop"), all_are("stopped")),
    Step("delete", evacuate("sim2", "delete"), all_are(None)),
]


class Evacuations(lives.SimulatedTest):
    def service(self):
        return lives.Simulated(simulated_nodes="2")

    def times(self, steps):
        """{name: times} of a life in which nothing happens."""
        with self.service() as service:
            self.assertFalse(lives.live(service, workload.Client(service), steps, SVC_FAILPOINT_RECORD=self.record()))
            return self.recorded()

    def after(self, point):
        """What is wrong after a death at this point."""
        with self.service() as service:
            client = workload.Client(service)
            if not lives.live(service, client, BEFORE + EVACUATIONS, SVC_FAILPOINT=point):
                return ["it did not come there"]
            return lives.wrong_after(service, client)

    def test_each_goes_on_wherever_the_service_dies(self):
        before, times = self.times(BEFORE), self.times(BEFORE + EVACUATIONS)
        points = [(f"{name}:{number}",) for name, count in sorted(times.items()) if name.startswith(PLACES)
                  for number in range(before.get(name, 0) + 1, count + 1)]
        found = lives.results(points, self.after)
        print(f"{len(points)} deaths", file=sys.stderr)
        self.assertEqual(lives.wrong(found), {})


if __name__ == "__main__":
    harness.cases.main()
