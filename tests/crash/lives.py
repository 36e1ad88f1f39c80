"""One service and one client, until the service dies; then the next service, and what is wrong with it."""
import collections
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import check
import workload
from disk import Disk
from service import Died, Service

SETTINGS = {"simulated_start_delay": "10ms"}


class Simulated(Service):
    def __init__(self, parent=None, **settings):
        super().__init__("simulated", parent, **{**SETTINGS, **settings})

    def node(self):
        return self.api("GET", "/1.0/nodes").metadata[0].rsplit("/", 1)[1]

    def close(self):
        self.kill()
        shutil.rmtree(self.dir, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class OnDisk(Simulated):
    """Its state directory is on a disk of its own, the rest is elsewhere."""
    keeps_events = False  # what the disk does not take is in memory only

    def __init__(self, megabytes):
        super().__init__()
        self.disk = Disk(megabytes, self.dir / "disk")
        self.disk.mount("errors=remount-ro")

    @property
    def state(self):
        return self.disk.mounted / "state"

    def close(self):
        self.kill()
        self.disk.close()
        super().close()


def steps():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
                        f"{folder}/key", "-out", f"{folder}/crt", "-days", "2", "-subj", "/CN=o"], check=True, capture_output=True)
        return workload.steps(pathlib.Path(folder, "crt").read_text())


def live(service, client, wanted, **environment):
    """Goes through the steps. Whether the service has died on the way."""
    try:
        service.start(**environment)
        client.run(wanted)
        service.settle()
        return False
    except Died:
        return True
    finally:
        if client.events:
            client.events.stop()


def wrong_after(service, client):
    """Starts the service again: what is wrong, as texts."""
    try:
        service.when_stopped = None
        service.kill()
        service.start()
        return check.problems(service, client)
    except (Died, AssertionError) as e:
        return [f"after the restart: {type(e).__name__}: {e}"]


def seed():
    """SVC_TEST_SEED, or a new one."""
    return int(os.environ.get("SVC_TEST_SEED") or int.from_bytes(os.urandom(4), "big"))


LONG = bool(os.environ.get("SVC_TEST_LONG"))


def results(points, after, seconds=math.inf):
    """{point: what is wrong after it}, printed at once. Without SVC_TEST_LONG: of those that the time suffices for, one at least."""
    found, end = {}, math.inf if LONG else time.monotonic() + seconds
    for point in points:
        if found and time.monotonic() > end:
            break
        found[point] = after(*point)
        if found[point]:
            print(*point, *found[point], sep="\n    ", file=sys.stderr, flush=True)
    return found


def wrong(found):
    return {point: texts for point, texts in found.items() if texts}


class SimulatedTest(unittest.TestCase):
    """Has the steps of the workload, and a folder for what services write beside their state."""

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="svc-crash-", dir="/dev/shm"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, True)
        cls.steps = steps()

    def undisturbed(self, service, **environment):
        self.assertFalse(live(service, workload.Client(service), self.steps, **environment))

    def record(self):
        """For SVC_FAILPOINT_RECORD."""
        (self.folder / "record").unlink(missing_ok=True)
        return str(self.folder / "record")

    def recorded(self):
        """{name: times}"""
        return collections.Counter((self.folder / "record").read_text().split())
