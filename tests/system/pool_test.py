#!/usr/bin/env python3
"""Real guests that are booted before their launch: a launch takes one, which is told name and user data, and stays what it is."""
import harness

MANIFEST = "name: alpha\nimage: busybox\n"


class Pool(harness.DaemonTest):
    def setUp(self):
        self.addCleanup(self.daemon.remove_instances)
        self.addCleanup(lambda: self.daemon.remove("/1.0/applications/alpha"))
        self.daemon.create_app({"manifest.yaml": MANIFEST, "hooks/pre-start": harness.hook("date >>/root/starts")})

    def set_pool(self, **pool):
        self.daemon.succeed(self.daemon.api("PATCH", "/1.0/applications/alpha", {"pool": pool}))

    def waiting(self):
        return [c["id"] for c in self.daemon.containers() or [] if c.get("pooled") and c["status"] == "running"]

    def inside(self, id):
        return [self.daemon.execute(id, *command).strip() for command in
                (("hostname",), ("cat", "/var/lib/svc-agent/userdata"), ("wc", "-l", "/root/starts"))]

    def test_a_launch_takes_a_guest_that_waits_and_tells_it_name_and_user_data(self):
        self.set_pool(min=1, late_data=True)
        self.assertTrue(self.daemon.eventually(lambda: len(self.waiting()) == 1))
        waiting, = self.waiting()
        init = harness.pids_of(waiting)[0]
        self.daemon.restart()  # by kill -9: it waits on
        self.assertEqual(self.daemon.launch_app("alpha", name="named", user_data="hello"), waiting)
        self.assertEqual(harness.pids_of(waiting)[0], init)
        self.assertEqual(self.inside(waiting), ["named", "hello", "2 /root/starts"])  # one is the bootstrap's
        self.assertTrue(self.daemon.eventually(lambda: len(self.waiting()) == 1))
        for verb in ("stop", "start"):
            self.assertEqual(self.daemon.ctl(verb, "named").returncode, 0)
        self.assertEqual(self.inside(waiting), ["named", "hello", "3 /root/starts"])
        self.set_pool()
        self.assertTrue(self.daemon.eventually(lambda: [c["name"] for c in self.daemon.containers()] == ["named"]))


if __name__ == "__main__":
    harness.cases.main()
