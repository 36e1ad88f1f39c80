#!/usr/bin/env python3
"""Cuts the power of the disk that the state directory is on, at failpoints (a sample of them; all with SVC_TEST_LONG=1): what was
not synced is gone. The next start has what was acknowledged."""
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import unittest
import uuid

import lives
import workload
from disk import Disk
from service import harness

SECONDS = 35  # for the sample
OPTIONS = ("noauto_da_alloc", "data=writeback,noauto_da_alloc", "defaults")
POINTS = ("store.committed", "store.staged", "store.told", "reply.sends", "blob.synced", "blob.renamed", "content.stored", "file.renamed",
          "folder.synced", "engine.accepted", "engine.finished", "launch.created", "bootstrap.captured", "content.blob_dropped",
          "delete.container_removed", "snapshot.copied", "events.written")


class OnDisk(lives.Simulated):
    """Writes its log elsewhere: the disk goes away. After the cut it finds another boot id, as after a real one."""
    keeps_events = keeps_guests = False

    def __init__(self, disk):
        super().__init__(parent=disk.mounted)
        self.apart = pathlib.Path(tempfile.mkdtemp(prefix="svc-test-", dir="/dev/shm"))
        self.log_path = self.apart / "svcd.log"
        self.when_stopped = disk.cut
        (self.apart / "boot_id").write_text(f"{uuid.uuid4()}\n")
        self.command()
        subprocess.run(["sync", "-f", self.dir], check=True)

    def command(self):
        if self.when_stopped:
            return super().command()
        bind = f"mount --bind {self.apart}/boot_id /proc/sys/kernel/random/boot_id && exec \"$@\""
        return ["unshare", "-m", "sh", "-c", bind, "sh", *super().command()]

    def close(self):
        super().close()
        shutil.rmtree(self.apart)


@unittest.skipUnless(os.geteuid() == 0, "needs root: mounts")
class Power(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.steps = lives.steps()
        cls.disk = Disk()
        cls.addClassCleanup(cls.disk.close)

    def after(self, options, point):
        """What is wrong after the power went at this point; None: the service did not come there."""
        self.disk.mount(options)
        service = OnDisk(self.disk)
        client = workload.Client(service)
        try:
            died = lives.live(service, client, self.steps, SVC_FAILPOINT=point, SVC_FAILPOINT_STOP="1")
            if not died:
                return None
            self.disk.unmount()
            self.disk.mount(options)
            return lives.wrong_after(service, client)
        finally:
            service.close()
            self.disk.unmount()

    def test_what_was_acknowledged_is_on_the_disk(self):
        chosen = random.Random(seed := lives.seed())
        print(f"SVC_TEST_SEED={seed}", file=sys.stderr)
        points = [(options, f"{name}:{number}") for options in OPTIONS for name in POINTS for number in range(1, 9)]
        chosen.shuffle(points)
        found = lives.results(points, self.after, SECONDS)
        cuts = sum(texts is not None for texts in found.values())
        print(f"{cuts} power cuts, {len(found) - cuts} points not reached", file=sys.stderr)
        self.assertEqual(lives.wrong(found), {})
        self.assertGreater(cuts, len(found) // 3)


if __name__ == "__main__":
    harness.cases.main()
