#!/usr/bin/env python3
"""One system call of svcd fails, each in its turn (a sample of them; all with SVC_TEST_LONG=1): it answers with an error or goes
on, never ends by a signal, and the next start has what was acknowledged."""
import random
import re
import struct
import sys

import lives
import workload
from service import CRASH, harness

SAMPLE = 20


class Faults(lives.SimulatedTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.done = {}

    def environment(self, **more):
        return {"LD_PRELOAD": str(CRASH / "libsvc-faults.so"), "SVC_FAULT_COUNT": str(self.folder / "count"), **more}

    def calls(self):
        with lives.Simulated() as service:
            self.undisturbed(service, **self.environment())
            return struct.unpack("Q", (self.folder / "count").read_bytes())[0]

    def after(self, number, seed, **more):
        with lives.Simulated() as service:
            service.keeps_events = False  # events that could not be written are a gap afterwards
            client = workload.Client(service, tolerant=True)
            try:
                died = lives.live(service, client, self.steps, **self.environment(SVC_FAULT=f"{number}:{seed}", **more))
            except AssertionError as e:
                return [f"{e} ({self.what(service.log_path.read_text())})"]
            found = self.bad_end(service) if died else []
            log = service.log_path.read_text()
            self.note(log)
            return found + [f"{text} ({self.what(log)})" for text in lives.wrong_after(service, client)]

    def bad_end(self, service):
        if service.process:
            return [f"ended with {service.end()} while it served"]
        return [] if "svcd: " in service.log() else [f"did not start, without a reason: {service.log()}"]

    def what(self, log):
        return "; ".join(re.findall(r"svc-fault: (.*)", log)) or "not reached"

    def note(self, log):
        what = self.what(log)
        self.done[what] = self.done.get(what, 0) + 1

    def test_a_thread_that_cannot_be_made_ends_the_start_with_a_reason(self):
        points = [(number, 0) for number in (range(1, 60) if lives.LONG else (2, 5, 8, 20))]
        found = lives.results(points, lambda number, seed: self.after(number, seed, SVC_FAULT_ONLY="pthread_create"))
        self.assertEqual(lives.wrong(found), {})

    def test_a_call_that_fails_loses_nothing(self):
        seed = lives.seed()
        total = self.calls()
        chosen = random.Random(seed)
        numbers = list(range(1, total + 1)) if lives.LONG else sorted(chosen.sample(range(1, total + 1), min(SAMPLE, total)))
        print(f"SVC_TEST_SEED={seed}: {len(numbers)} of {total} calls", file=sys.stderr)
        found = lives.results([(number, chosen.randrange(1 << 16)) for number in numbers], self.after)
        print(*(f"{count} times: {what}" for what, count in sorted(self.done.items())), sep="\n", file=sys.stderr)
        self.assertEqual(lives.wrong(found), {})


if __name__ == "__main__":
    harness.cases.main()
