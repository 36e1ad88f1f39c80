#!/usr/bin/env python3
"""One system call of svcd fails, each in its turn (a sample of them; all with SVC_TEST_LONG=1): it answers with an error or goes
on, never ends by a signal, and the next start has what was acknowledged."""
import pathlib
import random
import re
import shutil
import struct
import sys
import tempfile
import unittest

import lives
import workload
from service import CRASH, GONE, harness

SAMPLE = 20


class Tolerant(workload.Client):
    """Stops at the first refusal, like a client that was told no."""
    tolerant = True

    def run(self, steps):
        try:
            super().run(steps)
        except (AssertionError, *GONE):
            pass  # the service was made to fail


class Faults(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="svc-crash-", dir="/dev/shm"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, True)
        cls.steps = lives.steps()
        cls.done = {}

    def environment(self, **more):
        return {"LD_PRELOAD": str(CRASH / "libsvc-faults.so"), "SVC_FAULT_COUNT": str(self.folder / "count"), **more}

    def calls(self):
        service = lives.Simulated()
        try:
            self.assertFalse(lives.live(service, workload.Client(service), self.steps, **self.environment()))
            return struct.unpack("Q", (self.folder / "count").read_bytes())[0]
        finally:
            service.close()

    def after(self, number, seed, **more):
        service = lives.Simulated()
        service.keeps_events = False  # events that could not be written are a gap afterwards
        client = Tolerant(service)
        try:
            try:
                died, found = lives.live(service, client, self.steps, **self.environment(SVC_FAULT=f"{number}:{seed}", **more)), []
            except AssertionError as e:
                return [f"{e} ({self.what(service.log_path.read_text())})"]
            if died and service.process:
                found += [f"ended with {service.end()} while it served"]
            elif died and "svcd: " not in service.log():
                found += [f"did not start, without a reason: {service.log()}"]
            log = service.log_path.read_text()
            self.note(log)
            return found + [f"{text} ({self.what(log)})" for text in lives.wrong_after(service, client)]
        finally:
            service.close()

    def what(self, log):
        return "; ".join(re.findall(r"svc-fault: (.*)", log)) or "not reached"

    def note(self, log):
        what = self.what(log)
        self.done[what] = self.done.get(what, 0) + 1

    def test_a_thread_that_cannot_be_made_ends_the_start_with_a_reason(self):
        numbers = range(1, 60) if lives.LONG else (2, 5, 8, 20)
        self.assertEqual({n: found for n in numbers if (found := self.after(n, 0, SVC_FAULT_ONLY="pthread_create"))}, {})

    def test_a_call_that_fails_loses_nothing(self):
        seed = lives.seed()
        total = self.calls()
        chosen = random.Random(seed)
        numbers = list(range(1, total + 1)) if lives.LONG else sorted(chosen.sample(range(1, total + 1), min(SAMPLE, total)))
        print(f"SVC_TEST_SEED={seed}: {len(numbers)} of {total} calls", file=sys.stderr)
        wrong = {}
        for number in numbers:
            found = self.after(number, chosen.randrange(1 << 16))
            if found:
                wrong[number] = found
                print(number, *found, sep="\n    ", file=sys.stderr, flush=True)
        print(*(f"{count} times: {what}" for what, count in sorted(self.done.items())), sep="\n", file=sys.stderr)
        self.assertEqual(list(wrong), [])


if __name__ == "__main__":
    harness.cases.main()
