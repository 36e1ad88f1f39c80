#!/usr/bin/env python3
"""What is injected, after the agent was killed and after the instance was started again."""
import json

import harness
import injection


class Restart(injection.InjectionTest):
    launch_fields = {"config": {"platform": "webrtc"}}

    def test_a_restarted_agent_goes_on_as_it_was(self):
        for what in ("location", "sensors", "camera"):
            self.instance(what, "enable")
        self.instance("location", "set", 1, 2)
        self.instance("platform", "set", "rtc_log", "true")
        self.log_level("warning")
        cut = self.reader("sensor", "light", 100)
        self.eventually(lambda: self.instance("sensors", "show")["active_sensors"])
        self.kill_agent()
        self.assertNotEqual(cut.process.wait(injection.PATIENCE), 0)
        for what in ("location", "sensors", "camera"):
            self.assertIs(self.instance(what, "show")["enabled"], True, what)
        self.assertIs(self.instance("platform", "show")["config"]["rtc_log"], True)
        self.assertEqual(self.log_level(), "warning")
        self.assertEqual(self.instance("sensors", "show")["active_sensors"], [])
        self.assertIn("no fix", self.refused("location.get"))
        self.assertEqual(self.daemon.container(self.id)["status"], "running")
        reader = self.reader("location")
        self.instance("location", "set", 3, 4)
        self.assertTrue(reader.until(lambda line: line.startswith("location 3.0000000 4.0000000")))

    def test_a_restarted_instance_is_injected_nothing_into(self):
        for what in ("location", "sensors", "camera"):
            self.instance(what, "enable")
        self.instance("platform", "set", "rtc_log", "true")
        for status in ("stopped", "running"):
            self.daemon.succeed(self.daemon.api("PATCH", f"/1.0/containers/{self.id}", {"desired_status": status}))
        for what in ("location", "sensors", "camera"):
            self.assertIs(self.instance(what, "show")["enabled"], False, what)
        self.assertIs(self.instance("platform", "show")["config"]["rtc_log"], True)

    def log_level(self, name=None):
        words = ["PATCH", "/1.0", '{"log_level":"%s"}' % name] if name else ["GET", "/1.0"]
        answer = self.execute(harness.AGENT_INSIDE, "ctl", "request", *words)
        return None if name else json.loads(answer)["log_level"]

    def refused(self, op):
        result = self.daemon.ctl("exec", self.id, "--", injection.CAT_INSIDE, "call", op)
        self.assertEqual(result.returncode, 1, result)
        return result.stderr.decode()


if __name__ == "__main__":
    harness.cases.main()
