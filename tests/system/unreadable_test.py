#!/usr/bin/env python3
"""What svcd knows of a container cannot be read when it starts: the container is left as it is, and its instance says so."""
import os

import harness

TEXT = "container cannot be read: spec.json is empty"


class Unreadable(harness.DaemonTest):
    def spec(self, id):
        return self.daemon.state / "lxc/containers" / id / "spec.json"

    def kept(self, id):
        return self.spec(id).with_name("spec.json.kept")

    def launched(self, stopped):
        id = self.daemon.launch(memory=64 << 20, cpu=1)
        self.daemon.execute(id, "sh", "-c", "echo precious > /root/data; sync")
        if stopped:
            self.daemon.succeed(self.daemon.api("PATCH", f"/1.0/containers/{id}", {"desired_status": "stopped"}))
        return id

    def empty_specs(self, *ids):
        self.daemon.kill()
        for id in ids:
            self.kept(id).write_bytes(self.spec(id).read_bytes())
            self.spec(id).write_bytes(b"")
        self.daemon.start()
        for id in ids:
            self.assertTrue(self.daemon.eventually(lambda: self.daemon.container(id)["status"] == "error"))
            self.assertEqual(self.daemon.container(id)["error_message"], TEXT)
            self.assertEqual((self.spec(id).parent / "upper/root/data").read_text(), "precious\n")

    def test_disk_and_guest_stay_and_come_back(self):
        down, up = self.launched(stopped=True), self.launched(stopped=False)
        address, init = self.daemon.container(up)["address"], harness.pids_of(up)[0]
        self.empty_specs(down, up)
        for id in (down, up):
            started = self.daemon.api("PATCH", f"/1.0/containers/{id}", {"desired_status": "running"})
            self.assertEqual((started.status, started.error), (500, TEXT))
            self.assertEqual(self.daemon.api("POST", f"/1.0/containers/{id}/exec", {"command": ["true"]}).status, 400)
        other = self.daemon.launch(memory=64 << 20, cpu=1)  # and its address is not given away
        self.assertNotEqual(self.daemon.container(other)["address"], address)
        self.assertEqual(harness.pids_of(up)[0], init)

        self.daemon.kill()
        for id in (down, up):
            os.replace(self.kept(id), self.spec(id))
        self.daemon.start()
        self.assertTrue(self.daemon.eventually(lambda: self.daemon.container(up)["status"] == "running"))
        self.assertTrue(self.daemon.eventually(lambda: self.daemon.container(down)["status"] == "stopped"))
        self.assertEqual(self.daemon.container(up)["address"], address)
        self.assertEqual(self.daemon.container(up).get("error_message", ""), "")
        self.assertEqual(harness.pids_of(up)[0], init)
        self.assertEqual(self.daemon.execute(up, "cat", "/root/data"), "precious\n")
        self.daemon.succeed(self.daemon.api("PATCH", f"/1.0/containers/{down}", {"desired_status": "running"}))
        self.assertEqual(self.daemon.execute(down, "cat", "/root/data"), "precious\n")
        for id in (down, up, other):
            self.daemon.succeed(self.daemon.api("DELETE", f"/1.0/containers/{id}"))

    def test_they_can_be_deleted(self):
        down, up = self.launched(stopped=True), self.launched(stopped=False)
        self.empty_specs(down, up)
        for id in (down, up):
            self.daemon.succeed(self.daemon.api("DELETE", f"/1.0/containers/{id}"))
            self.assertFalse(self.spec(id).parent.exists())
            self.assertEqual(harness.pids_of(id), [])


if __name__ == "__main__":
    harness.cases.main()
