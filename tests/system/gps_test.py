#!/usr/bin/env python3
"""Debian's own gpsd inside an instance finds the place that was injected through the control API."""
import json
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time
import unittest

import harness

PORT = 2948  # the package's own service may have gpsd's usual one
PATIENCE = 30


class Gps(harness.DaemonTest):
    @classmethod
    def prepare(cls):
        if not shutil.which("mmdebstrap"):
            raise unittest.SkipTest("needs mmdebstrap: gpsd comes from Debian")
        with tempfile.TemporaryDirectory() as folder:
            package = pathlib.Path(folder) / "debian.tar.gz"
            subprocess.run([harness.ROOT / "tests/images/debian.sh", package, "bookworm", "gpsd,curl"], check=True,
                           capture_output=True, timeout=300)
            cls.daemon.add_image("debian", package)

    def control(self, id, method, path, body=None):
        """Asks the control API inside the instance; the answer has to be success."""
        command = ["curl", "-sS", "--unix-socket", "/run/svc/api.unix", "-X", method, f"s/1.0/{path}"]
        result = self.daemon.ctl("exec", id, "--", *command, *(["-d", json.dumps(body)] if body is not None else []))
        answer = json.loads(result.stdout or b"{}")
        self.assertEqual(answer.get("status"), "Success", (answer, result.stderr))
        return answer.get("metadata")

    def gpsd(self, id):
        """A connection to a gpsd that runs in the instance until the test ends."""
        daemon = subprocess.Popen([harness.SVCCTL, "--socket", self.daemon.socket, "exec", id, "--", "gpsd", "-N", "-n", "-b",
                                   "-G", "-S", str(PORT), "/dev/gnss-nmea"], stdin=subprocess.DEVNULL)
        self.addCleanup(daemon.wait, timeout=PATIENCE)
        self.addCleanup(daemon.terminate)
        address = (self.daemon.container(id)["address"], PORT)
        end = time.monotonic() + PATIENCE
        while True:
            try:
                return socket.create_connection(address, timeout=PATIENCE)
            except ConnectionRefusedError:
                self.assertIsNone(daemon.poll(), "gpsd has ended")
                self.assertLess(time.monotonic(), end, "gpsd does not listen")

    def fix(self, connection, is_wanted):
        """The first three-dimensional fix that is wanted."""
        connection.sendall(b'?WATCH={"enable":true,"json":true};\n')
        end = time.monotonic() + PATIENCE
        for line in connection.makefile():
            report = json.loads(line)
            if report["class"] == "TPV" and report["mode"] == 3 and is_wanted(report):
                return report
            self.assertLess(time.monotonic(), end, f"no fix: {report}")
        self.fail("gpsd has gone")

    def test_gpsd_is_at_the_injected_place_and_follows_it(self):
        id = self.daemon.launch("debian")
        place = {"latitude": -33.8568, "longitude": 151.2153, "altitude": 12.5, "time": time.time_ns() // 10**6,
                 "speed": 3, "bearing": 270, "horizontal_accuracy": 5, "vertical_accuracy": 8}
        self.control(id, "POST", "location", {"enable": True})
        self.control(id, "PATCH", "location", place)
        with self.gpsd(id) as connection:
            fix = self.fix(connection, lambda report: "speed" in report and "epv" in report)
            self.assertAlmostEqual(fix["lat"], place["latitude"], places=6)
            self.assertAlmostEqual(fix["lon"], place["longitude"], places=6)
            self.assertAlmostEqual(fix["altMSL"], place["altitude"], places=1)
            self.assertAlmostEqual(fix["speed"], place["speed"], places=2)
            self.assertAlmostEqual(fix["track"], place["bearing"], places=1)
            self.assertAlmostEqual(fix["eph"], place["horizontal_accuracy"], places=1)
            self.assertAlmostEqual(fix["epv"], place["vertical_accuracy"], places=1)
            self.control(id, "PATCH", "location", {**place, "format": "nmea", "latitude": 4807.038, "longitude": 1131.0})
            moved = self.fix(connection, lambda report: report["lat"] > 0)
            self.assertAlmostEqual(moved["lat"], 48.1173, places=6)
            self.assertAlmostEqual(moved["lon"], 11.5166667, places=6)


if __name__ == "__main__":
    unittest.main(verbosity=2)
