#!/usr/bin/env python3
"""svcd check, export, import and recover with real containers: a backup while others launch, restored into another range of ids."""
import json
import os
import sqlite3
import subprocess
import threading

import harness


class Backup(harness.DaemonTest):
    def tool(self, *words, state=None):
        return subprocess.run([harness.SVCD, *words, "--state-dir", state or self.daemon.state], capture_output=True, text=True,
                              timeout=harness.PATIENCE, stdin=subprocess.DEVNULL)

    def findings(self, state=None):
        done = self.tool("check", "--format", "json", state=state)
        return [f"{each['object']}: {each['problem']}" for each in json.loads(done.stdout) if each["severity"] != "note"]

    def stopped(self, script):
        id = self.daemon.launch(memory=64 << 20, cpu=1)
        self.daemon.execute(id, "sh", "-ec", script)
        self.daemon.succeed(self.daemon.api("PATCH", f"/1.0/containers/{id}", {"desired_status": "stopped"}))
        return id

    def launches(self, stop, failures):
        try:
            while not stop.is_set():
                self.daemon.remove(f"/1.0/instances/{self.daemon.launch(memory=64 << 20, cpu=1)}")
        except Exception as e:  # told by the test
            failures.append(e)

    def test_a_backup_under_load_is_restored_with_other_owners(self):
        down = self.stopped("echo precious >/root/data; chown 33:44 /root/data; rm -rf /etc/motd /root/none; mkdir -p /root/d; sync")
        self.daemon.succeed(self.daemon.api("POST", f"/1.0/instances/{down}/snapshots", {"name": "before"}))
        up = self.daemon.launch(memory=64 << 20, cpu=1)
        self.assertEqual(self.findings(), [])
        stop, failures = threading.Event(), []
        load = threading.Thread(target=self.launches, args=(stop, failures))
        load.start()
        backup = self.daemon.dir / "backup.tar.gz"
        try:
            done = self.tool("export", "--disks", backup)
        finally:
            stop.set()
            load.join()
        self.assertEqual((done.returncode, failures), (0, []), done.stderr)

        # Another machine: another range of ids, another name.
        other = harness.Daemon(id_base=3000000, node_name="elsewhere")
        self.addCleanup(lambda: self.assertFalse(other.close()))
        config = other.command()[2]
        done = subprocess.run([harness.SVCD, "import", "--config", config, "--state-dir", other.state, backup],
                              capture_output=True, text=True, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done.stderr)
        other.start()
        self.assertEqual(other.container(up)["status"], "error")
        self.assertIn("not in the backup", other.container(up)["error_message"])
        self.assertTrue(other.eventually(lambda: other.container(down)["status"] == "stopped"))
        self.assertTrue(other.eventually(lambda: (other.state / "lxc/containers" / down / "spec.json").exists()))
        # Not while the daemon makes the container's specification anew.
        self.assertTrue(other.eventually(lambda: other.api("PATCH", f"/1.0/containers/{down}", {"desired_status": "running"}).status == 202))
        self.assertTrue(other.eventually(lambda: other.container(down)["status"] == "running"))
        self.assertEqual(other.execute(down, "sh", "-c", "cat /root/data; stat -c '%u %g' /root/data; ls /root"), "precious\n33 44\nd\ndata\n")
        owner = os.stat(other.state / "lxc/containers" / down / "upper/root/data")
        self.assertEqual((owner.st_uid, owner.st_gid), (3000033, 3000044))
        other.succeed(other.api("PATCH", f"/1.0/containers/{up}", {"desired_status": "running"}))
        fresh = other.launch(memory=64 << 20, cpu=1)
        snapshot = other.api("GET", f"/1.0/instances/{down}/snapshots/before").metadata["id"]
        copy = other.launch_any({"snapshot": snapshot})
        self.assertEqual(other.execute(copy, "cat", "/root/data"), "precious\n")
        for id in (down, up, fresh, copy):
            other.remove(f"/1.0/instances/{id}")
        other.kill()
        for id in (down, up):
            self.daemon.remove(f"/1.0/instances/{id}")

    def test_an_instance_whose_record_is_lost_keeps_its_disk_through_recover(self):
        id = self.stopped("echo precious >/root/data; sync")
        self.daemon.kill()
        with sqlite3.connect(self.daemon.state / "svc.db") as database:
            database.execute("DELETE FROM entries WHERE key = ?", [f"instances/{id}"])
            database.execute("UPDATE entries SET value = x'7b' WHERE key LIKE 'operations/%'")
        database.close()
        self.assertIn(f"container {id}: there is no record of its instance", self.findings())
        done = self.tool("recover")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"instance {id}: its record is lost; its container stays", done.stdout)
        self.daemon.start()
        self.assertEqual(self.daemon.api("GET", f"/1.0/instances/{id}").status, 500)
        upper = self.daemon.state / "lxc/containers" / id / "upper"
        self.daemon.restart()
        self.assertEqual((upper / "root/data").read_text(), "precious\n")
        self.daemon.remove(f"/1.0/instances/{id}")
        self.assertFalse(upper.exists())


if __name__ == "__main__":
    harness.cases.main()
