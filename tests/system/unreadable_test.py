#!/usr/bin/env python3
"""What svcd knows of a container cannot be read when it starts: the container is left as it is, and its instance says so."""
import contextlib
import os
import sqlite3

import harness

NEWER = "container cannot be read: spec.json: it has schema 99, this version of the program knows 1"
DAMAGE = {"empty": b"", "zeros": b"\0" * 300, "half": b'{"schema":1,"id":"x","na', "absent": None}


class Unreadable(harness.DaemonTest):
    def spec(self, id):
        return self.daemon.state / "lxc/containers" / id / "spec.json"

    def kept(self, id):
        return self.spec(id).with_name("spec.json.kept")

    def status(self, id):
        return self.daemon.container(id)["status"]

    def launched(self, stopped):
        id = self.daemon.launch(memory=64 << 20, cpu=1)
        self.daemon.execute(id, "sh", "-c", "echo precious > /root/data; sync")
        if stopped:
            self.daemon.succeed(self.daemon.api("PATCH", f"/1.0/containers/{id}", {"desired_status": "stopped"}))
        return id

    def restart_with(self, content, *ids):
        """The daemon is killed; meanwhile the specifications are replaced."""
        self.daemon.kill()
        for id in ids:
            self.kept(id).write_bytes(self.spec(id).read_bytes())
            if content is None:
                self.spec(id).unlink()
            else:
                self.spec(id).write_bytes(content)
        self.daemon.start()

    def check_data(self, *ids):
        for id in ids:
            self.assertEqual((self.spec(id).parent / "upper/root/data").read_text(), "precious\n")

    def delete(self, *ids):
        for id in ids:
            self.daemon.succeed(self.daemon.api("DELETE", f"/1.0/containers/{id}"))
            self.assertFalse(self.spec(id).parent.exists())
            self.assertEqual(harness.pids_of(id), [])

    def test_a_lost_specification_is_made_anew_and_nothing_of_the_instance_is_lost(self):
        down, up = self.launched(stopped=True), self.launched(stopped=False)
        address, init = self.daemon.container(up)["address"], harness.pids_of(up)[0]
        for what, content in DAMAGE.items():
            with self.subTest(what):
                self.restart_with(content, down, up)
                self.assertTrue(self.daemon.eventually(lambda: self.status(up) == "running" and self.status(down) == "stopped"))
                self.assertTrue(self.daemon.eventually(lambda: self.spec(up).exists() and self.spec(down).exists()))
                self.check_data(down, up)
                self.assertEqual(harness.pids_of(up)[0], init)
                self.assertTrue(self.daemon.eventually(lambda: self.daemon.execute(up, "cat", "/root/data") == "precious\n"))
                if content is not None:
                    self.assertEqual(self.spec(up).with_name("spec.json.damaged").read_bytes(), content)
        other = self.daemon.launch(memory=64 << 20, cpu=1)
        self.assertNotEqual(self.daemon.container(other)["address"], address)
        self.daemon.succeed(self.daemon.api("PATCH", f"/1.0/containers/{down}", {"desired_status": "running"}))
        self.assertEqual(self.daemon.execute(down, "cat", "/root/data"), "precious\n")
        self.daemon.succeed(self.daemon.api("PATCH", f"/1.0/containers/{up}", {"desired_status": "stopped"}))
        self.daemon.succeed(self.daemon.api("PATCH", f"/1.0/containers/{up}", {"desired_status": "running"}))
        self.assertEqual(self.daemon.execute(up, "cat", "/root/data"), "precious\n")
        self.delete(down, up, other)

    def test_a_specification_that_is_lost_while_the_daemon_runs_costs_no_data(self):
        id = self.launched(stopped=False)
        self.spec(id).write_bytes(b"")
        self.daemon.succeed(self.daemon.api("PATCH", f"/1.0/containers/{id}", {"desired_status": "stopped"}))
        self.check_data(id)
        self.daemon.succeed(self.daemon.api("PATCH", f"/1.0/containers/{id}", {"desired_status": "running"}))
        self.assertEqual(self.daemon.execute(id, "cat", "/root/data"), "precious\n")
        self.restart_with(None, id)
        self.assertTrue(self.daemon.eventually(lambda: self.status(id) == "running"))
        self.assertEqual(self.daemon.execute(id, "cat", "/root/data"), "precious\n")
        self.delete(id)

    def test_what_cannot_be_made_anew_stays_and_comes_back(self):
        down, up = self.launched(stopped=True), self.launched(stopped=False)
        address, init = self.daemon.container(up)["address"], harness.pids_of(up)[0]
        self.restart_with(b'{"schema":99}', down, up)
        for id in (down, up):
            self.assertTrue(self.daemon.eventually(lambda: self.status(id) == "error"))
            self.assertEqual(self.daemon.container(id)["error_message"], NEWER)
            started = self.daemon.api("PATCH", f"/1.0/containers/{id}", {"desired_status": "running"})
            self.assertEqual((started.status, started.error), (500, NEWER))
            self.assertEqual(self.daemon.api("POST", f"/1.0/containers/{id}/exec", {"command": ["true"]}).status, 400)
            self.assertEqual(self.spec(id).read_bytes(), b'{"schema":99}')
        self.check_data(down, up)
        other = self.daemon.launch(memory=64 << 20, cpu=1)  # and its address is not given away
        self.assertNotEqual(self.daemon.container(other)["address"], address)
        self.assertEqual(harness.pids_of(up)[0], init)

        self.daemon.kill()
        for id in (down, up):
            os.replace(self.kept(id), self.spec(id))
        self.daemon.start()
        self.assertTrue(self.daemon.eventually(lambda: self.status(up) == "running" and self.status(down) == "stopped"))
        self.assertEqual(self.daemon.container(up)["address"], address)
        self.assertEqual(self.daemon.container(up).get("error_message", ""), "")
        self.assertEqual(harness.pids_of(up)[0], init)
        self.assertEqual(self.daemon.execute(up, "cat", "/root/data"), "precious\n")
        self.daemon.succeed(self.daemon.api("PATCH", f"/1.0/containers/{down}", {"desired_status": "running"}))
        self.assertEqual(self.daemon.execute(down, "cat", "/root/data"), "precious\n")
        self.delete(down, up, other)

    def test_they_can_be_deleted(self):
        down, up = self.launched(stopped=True), self.launched(stopped=False)
        self.restart_with(b'{"schema":99}', down, up)
        for id in (down, up):
            self.assertTrue(self.daemon.eventually(lambda: self.status(id) == "error"))
        self.delete(down, up)

    def test_a_container_whose_record_cannot_be_read_lives_on_and_keeps_its_address(self):
        id = self.launched(stopped=False)
        address, init = self.daemon.container(id)["address"], harness.pids_of(id)[0]
        self.daemon.kill()
        with contextlib.closing(sqlite3.connect(self.daemon.state / "svc.db")) as database, database:
            database.execute("UPDATE entries SET value = x'7b' WHERE key = ?", [f"instances/{id}"])
        for remove_spec in (False, True):
            if remove_spec:
                self.daemon.kill()
                self.spec(id).unlink()
            self.daemon.start()
            answer = self.daemon.api("GET", f"/1.0/instances/{id}")
            self.assertEqual(answer.status, 500)
            self.assertIn("cannot be read", answer.error)
            other = self.daemon.launch(memory=64 << 20, cpu=1)
            if not remove_spec:
                self.assertNotEqual(self.daemon.container(other)["address"], address)
            self.assertEqual(harness.pids_of(id)[0], init)
            self.check_data(id)
            self.delete(other)
        self.delete(id)
        self.assertEqual(self.daemon.api("GET", f"/1.0/instances/{id}").status, 404)


if __name__ == "__main__":
    harness.cases.main()
