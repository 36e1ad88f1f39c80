#!/usr/bin/env python3
"""What is injected into an instance reaches the programs in it: places, sensors, traces."""
import subprocess
import time

import harness
import injection

ROUTE = """<gpx xmlns="http://www.topografix.com/GPX/1/1"><trk><trkseg>
<trkpt lat="48.0" lon="11.0"><ele>500</ele><time>2026-01-01T00:00:00Z</time></trkpt>
<trkpt lat="48.001" lon="11.0"><ele>501</ele><time>2026-01-01T00:00:10Z</time></trkpt>
<trkpt lat="48.002" lon="11.001"><ele>502</ele><time>2026-01-01T00:00:20Z</time></trkpt>
</trkseg></trk></gpx>"""


class Guest(injection.InjectionTest):
    launch_fields = {"config": {"platform": "webrtc"}}

    def test_a_place_reaches_the_guest_and_is_repeated(self):
        self.assertIn("Location updates are not enabled", self.instance("location", "set", 1, 2, status=1))
        self.instance("location", "enable")
        self.instance("location", "set", 1, 2)
        reader = self.reader("location")
        self.assertTrue(reader.line().startswith("location 1.0000000 2.0000000 "))
        self.instance("location", "set", "--altitude", 12.5, "--accuracy", 5, "--", -33.8568, 151.2153)
        place = "location -33.8568000 151.2153000 altitude 12.50 speed 0.00 bearing 0.00 accuracy 5.0 20.0 "
        repeats = [reader.until(lambda line: line.startswith(place)), reader.line(), reader.line()]
        self.assertTrue(all(line.startswith(place) for line in repeats), repeats)
        passed = int(repeats[2].split()[-1]) - int(repeats[0].split()[-1])  # one may come late, the next is in time then
        self.assertTrue(900 <= passed <= 60000, passed)
        self.instance("location", "disable")
        self.assertEqual(reader.until(lambda line: not line.startswith(place)), "location disabled")
        self.instance("location", "enable")
        self.assertEqual(reader.line(), "location enabled")

    def test_a_recorded_way_is_replayed(self):
        file = injection.scratch(self) / "way.gpx"
        file.write_text(ROUTE)
        self.instance("location", "enable")
        self.instance("location", "set", 1, 2)
        reader = self.reader("location")
        reader.line()
        began = time.monotonic()
        self.instance("location", "replay", file, "--speed", 10)
        self.assertGreaterEqual(time.monotonic() - began, 2)
        self.assertEqual(self.instance("location", "show"), {"enabled": True})
        places = [reader.until(lambda line, lat=lat: line.startswith(f"location {lat}")).split()
                  for lat in ("48.0000000", "48.0010000", "48.0020000")]
        self.assertEqual([place[4] for place in places], ["500.00", "501.00", "502.00"])
        self.assertAlmostEqual(float(places[1][6]), 11.1, delta=0.2)  # a thousandth of a degree in ten seconds

    def test_sensors_flow_at_the_rate_the_guest_asks_for(self):
        self.instance("sensors", "enable")
        self.assertIn("Sensor 'acceleration' is not active",
                      self.instance("sensors", "set", "acceleration", 0, 0, 9.81, status=1))
        reader, slow = self.reader("sensor", "acceleration", 20), self.reader("sensor", "acceleration", 500)
        wanted = [{"type": "acceleration", "delay": 20}]
        self.eventually(lambda: self.instance("sensors", "show")["active_sensors"] == wanted)
        self.instance("sensors", "set", "acceleration", "--", 0.5, -1, 9.81)
        lines = [reader.line().split() for _ in range(52)]
        self.assertTrue(all(line[:5] == "sensor acceleration 0.5 -1 9.81".split() for line in lines), lines)
        times = [int(line[6]) for line in lines[1:]]
        self.assertTrue(0.95 <= (times[-1] - times[0]) / 1e9 <= 30, times)
        slow_times = [int(slow.line().split()[6]) for _ in range(5)]
        self.assertTrue(1.45e9 <= slow_times[-1] - slow_times[0] <= 60e9, slow_times)
        light = self.reader("--count", 2, "sensor", "light", 100)
        self.eventually(lambda: len(self.instance("sensors", "show")["active_sensors"]) == 2)
        for value in 250, 300.5:
            self.instance("sensors", "set", "light", value)
            self.assertEqual(light.line().split()[:3], ["sensor", "light", str(value)])
        self.assertEqual(light.rest(), [])
        reader.close()
        slow.close()
        self.eventually(lambda: self.instance("sensors", "show")["active_sensors"] == [])

    def test_a_trace_is_fetched_with_what_guests_tell(self):
        file = injection.scratch(self) / "trace"
        self.instance("trace", "start")
        self.assertIn("already active", self.instance("trace", "start", status=1))
        members = '"phase":"instant","name":"the guest was here"'
        self.assertIn('"active":true', self.execute(injection.CAT_INSIDE, "call", "trace.event", members))
        self.instance("trace", "stop", "--output", file)
        trace = file.read_bytes()
        names = {name for packet in fields(trace, 1) for event in fields(packet, 11) for name in fields(event, 23)}
        self.assertIn(b"the guest was here", names)
        self.assertIn("not active", self.instance("trace", "stop", "--output", file, status=1))
        self.assertEqual(file.read_bytes(), trace)
        self.assertEqual([path.name for path in file.parent.iterdir()], ["trace"])

    def test_platform_items(self):
        shown = self.instance("platform", "show")
        self.assertEqual(shown["name"], "webrtc")
        self.assertEqual((shown["config"]["rtc_log"], shown["config"]["stream_active"]), (False, False))
        self.instance("platform", "set", "rtc_log", "true")
        self.assertIs(self.instance("platform", "show")["config"]["rtc_log"], True)
        self.assertIn("read-only", self.instance("platform", "set", "stream_active", "true", status=1))
        self.instance("platform", "reset", "rtc_log")
        self.assertEqual(self.instance("platform", "show"), shown)

    def test_messages_and_calls_cross_between_outside_and_inside(self):
        self.assertEqual(self.instance("telephony", "show")["status"], "inactive")
        self.assertEqual(self.instance("telephony", "sms", "+12025550123", "Grüße"), {"id": 1})
        phone = self.reader("telephony")
        self.assertEqual(phone.line(), 'telephony sim ready registration home operator "Test" signal 100')
        self.assertEqual(phone.line(), "sms 1 from +12025550123: Grüße")
        self.instance("telephony", "call", "*77#")
        self.assertEqual(phone.line(), "call 1 from *77# ringing")
        answer = [injection.CAT_INSIDE, "call", "telephony.answer", '"call":1']
        self.assertEqual([self.execute_as(user, *answer)[0] for user in ("somebody", "user")], [1, 0])
        self.assertEqual(phone.line(), "call 1 from *77# active")
        self.instance("telephony", "set", "sim", "absent")
        self.assertEqual(phone.line(), 'telephony sim absent registration unregistered operator "" signal 0')
        self.assertEqual(phone.line(), "call 1 from *77# ended by no_service")
        self.instance("telephony", "set", "sim", "ready")
        self.execute(injection.CAT_INSIDE, "call", "telephony.send_sms", '"number":"7","message":"from inside"')
        self.assertEqual(self.instance("telephony", "messages")[-1]["message"], "from inside")

    def test_who_may_use_which_socket(self):
        show = [harness.AGENT_INSIDE, "ctl", "location", "show"]
        self.assertEqual([self.execute_as(user, *show)[0] for user in injection.USERS], [0, 0, 3])
        listing = [injection.CAT_INSIDE, "call", "sensors.list"]
        self.assertEqual([self.execute_as(user, *listing)[0] for user in injection.USERS], [0, 0, 0])
        turn = [injection.CAT_INSIDE, "call", "display.set_orientation", '"orientation":"landscape"']
        self.assertEqual([self.execute_as(user, *turn)[0] for user in injection.USERS], [0, 0, 1])
        strangers = subprocess.run([harness.AGENT, "ctl", "--api-socket", self.inside("/run/svc/api.unix"), "location",
                                    "show"], capture_output=True)
        self.assertEqual(strangers.returncode, 3, "root of the machine is nobody in the instance")

    def test_the_idle_agent_is_small(self):
        self.reader("--count", 1, "call", "sensors.list").rest()
        status = self.execute("sh", "-c", "cat /proc/$(pidof svc-agent)/status")
        resident = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
        self.assertLess(resident, 7 * 1024)


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7f) << shift
        shift, at = shift + 7, at + 1
        if not data[at - 1] & 0x80:
            return value, at


def fields(message, wanted):
    """The bytes of each occurrence of a length-delimited field of a protobuf message."""
    at = 0
    while at < len(message):
        key, at = varint(message, at)
        if key & 7 == 0:
            _, at = varint(message, at)
        elif key & 7 == 1:
            at += 8
        else:
            assert key & 7 == 2, key
            size, at = varint(message, at)
            assert at + size <= len(message)
            if key >> 3 == wanted:
                yield message[at:at + size]
            at += size


if __name__ == "__main__":
    harness.cases.main()
