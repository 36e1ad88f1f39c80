#!/usr/bin/env python3
"""Debian's own gpsd inside an instance finds the places that are injected from outside."""
import json
import shutil
import socket
import subprocess
import time
import unittest

import harness
import injection

PORT = 2948  # the package's own service may have gpsd's usual one
PATIENCE = harness.PATIENCE
WAY = """<gpx><trk><trkseg><trkpt lat="48.1173" lon="11.5166667"><ele>545.4</ele></trkpt>
<trkpt lat="48.1174" lon="11.5166667"><ele>546.5</ele></trkpt></trkseg></trk></gpx>"""


class Gps(injection.InjectionTest):
    launch_fields = {"image": "debian"}

    @classmethod
    def prepare(cls):
        if not shutil.which("mmdebstrap"):
            raise unittest.SkipTest("needs mmdebstrap: gpsd comes from Debian")
        cls.daemon.add_image("debian", harness.debian_image("gpsd"))

    def gpsd(self):
        """A connection to a gpsd that runs in the instance until the test ends."""
        daemon = subprocess.Popen([harness.SVCCTL, "--socket", self.daemon.socket, "exec", self.id, "--", "gpsd", "-N", "-n",
                                   "-b", "-G", "-S", str(PORT), "/dev/gnss-nmea"], stdin=subprocess.DEVNULL)
        self.addCleanup(daemon.wait, timeout=PATIENCE)
        self.addCleanup(daemon.terminate)
        address = (self.daemon.container(self.id)["address"], PORT)
        end = time.monotonic() + PATIENCE
        while True:
            try:
                return socket.create_connection(address, timeout=PATIENCE)
            except ConnectionRefusedError:
                self.assertIsNone(daemon.poll(), "gpsd has ended")
                self.assertLess(time.monotonic(), end, "gpsd does not listen")

    def fix(self, reports, is_wanted):
        """The first three-dimensional fix that is wanted."""
        end = time.monotonic() + PATIENCE
        for line in reports:
            report = json.loads(line)
            if report["class"] == "TPV" and report["mode"] == 3 and is_wanted(report):
                return report
            self.assertLess(time.monotonic(), end, f"no fix: {report}")
        self.fail("gpsd has gone")

    def test_gpsd_is_at_the_injected_place_and_follows_it(self):
        self.instance("location", "enable")
        self.instance("location", "set", "--altitude", 12.5, "--speed", 3, "--bearing", 270, "--accuracy", 5,
                      "--vertical-accuracy", 8, "--", -33.8568, 151.2153)
        with self.gpsd() as connection:
            connection.sendall(b'?WATCH={"enable":true,"json":true};\n')
            reports = connection.makefile()
            fix = self.fix(reports, lambda report: "speed" in report and "epv" in report)
            for field, value in {"lat": -33.8568, "lon": 151.2153}.items():
                self.assertAlmostEqual(fix[field], value, places=6)
            for field, value in {"altMSL": 12.5, "speed": 3, "track": 270, "eph": 5, "epv": 8}.items():
                self.assertAlmostEqual(fix[field], value, places=1, msg=field)
            file = injection.scratch(self) / "way.gpx"
            file.write_text(WAY)
            self.instance("location", "replay", file)
            moved = self.fix(reports, lambda report: report["lat"] > 48.11735 and "altMSL" in report)
            self.assertAlmostEqual(moved["lat"], 48.1174, places=6)
            self.assertAlmostEqual(moved["lon"], 11.5166667, places=6)
            self.assertAlmostEqual(moved["altMSL"], 546.5, places=1)


if __name__ == "__main__":
    harness.cases.main()
