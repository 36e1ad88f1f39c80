#!/usr/bin/env python3
"""The commands of a manifest start an application and watch it, in a guest that is no Android."""
import harness

MANIFEST = """name: {name}
features: [loud, red]
boot: {boot}
watchdog:
  command: kill -0 $(cat /tmp/candy)
  disabled: {disabled}
"""
BOOT = "sleep 100000 & echo $! >/tmp/candy; echo $FEATURES >/tmp/features"


class Commands(harness.DaemonTest):
    def application(self, name, boot=BOOT, disabled="false"):
        self.daemon.create_app({"manifest.yaml": MANIFEST.format(name=name, boot=f"'{boot}'", disabled=disabled)})

    def inside(self, id, script):
        return self.daemon.execute(id, "sh", "-ec", script)

    def await_error(self, id):
        self.assertTrue(self.daemon.eventually(lambda: self.daemon.container(id)["status"] == "error"), self.daemon.container(id))
        return self.daemon.container(id)["error_message"]

    def test_an_application_that_ends_ends_its_instance(self):
        self.application("watched")
        id = self.daemon.launch_app("watched")
        self.assertEqual(self.inside(id, "cat /tmp/features; cat /var/lib/svc-agent/features"), "loud,red\nloud\nred\n")
        self.inside(id, "kill $(cat /tmp/candy)")
        self.assertIn("watchdog command 'kill -0 $(cat /tmp/candy)' exits with 1", self.await_error(id))

    def test_what_is_switched_off_is_not_watched(self):
        self.application("left-alone", disabled="true")
        id = self.daemon.launch_app("left-alone")
        self.inside(id, "kill $(cat /tmp/candy)")
        version = self.daemon.version("left-alone", 0)
        self.assertEqual((version["boot"], version["watchdog"]["command"]), (BOOT, "kill -0 $(cat /tmp/candy)"))
        # Longer than the watchdog of another instance takes to find the same.
        self.application("beside")
        other = self.daemon.launch_app("beside")
        self.inside(other, "kill $(cat /tmp/candy)")
        self.await_error(other)
        self.assertEqual(self.daemon.container(id)["status"], "running")

    def test_a_boot_command_that_fails_fails_the_launch(self):
        self.application("broken", "echo no such screen; exit 7")
        record = self.daemon.wait(self.daemon.api("POST", "/1.0/containers", {"app_id": "broken"}))
        self.assertIn("boot command 'echo no such screen; exit 7' failed: exit status 7: no such screen", record["err"])

    def test_commands_are_changed_by_a_patch(self):
        self.application("changed", "true")
        done = self.daemon.ctl("application", "set", "changed", "boot", "echo new >/tmp/features")
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.daemon.ctl("application", "set", "changed", "watchdog.command", "true")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.daemon.await_version("changed", 2)
        id = self.daemon.launch_app("changed", app_version=2)
        self.assertEqual(self.inside(id, "cat /tmp/features"), "new\n")
        shown = self.daemon.ctl("application", "show", "changed").stdout.decode()
        self.assertIn("boot: echo new >/tmp/features", shown)


if __name__ == "__main__":
    harness.cases.main()
