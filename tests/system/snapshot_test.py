#!/usr/bin/env python3
"""Snapshots of real containers: what was written comes back, also in another instance, also after kill -9."""
import harness


class Snapshots(harness.DaemonTest):
    def snapshots(self, id):
        return f"/1.0/instances/{id}/snapshots"

    def stopped(self, script, **fields):
        id = self.daemon.launch(**fields)
        self.write(id, script)
        self.assertEqual(self.daemon.ctl("stop", id).returncode, 0)
        return id

    def write(self, id, script):
        done = self.daemon.ctl("exec", id, "--", "sh", "-ec", script)
        self.assertEqual(done.returncode, 0, done.stderr)

    def read(self, id, script):
        return self.daemon.ctl("exec", id, "--", "sh", "-c", script).stdout.decode()

    def take(self, id, name):
        self.daemon.succeed(self.daemon.api("POST", self.snapshots(id), {"name": name}))

    def test_a_restored_instance_has_the_files_of_the_snapshot(self):
        id = self.stopped("echo one >/root/mark; mkdir /root/folder; echo two >/root/folder/file; rm -f /etc/motd")
        self.take(id, "before")
        self.assertEqual(self.daemon.ctl("start", id).returncode, 0)
        self.write(id, "echo lost >/root/mark; rm -r /root/folder; echo new >/root/new")
        self.assertEqual(self.daemon.ctl("stop", id).returncode, 0)
        done = self.daemon.ctl("snapshot", "restore", id, "before", "-y")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.daemon.ctl("start", id).returncode, 0)
        self.assertEqual(self.read(id, "cat /root/mark /root/folder/file; ls /root"), "one\ntwo\nfolder\nmark\n")

    def test_an_instance_launched_from_a_snapshot_outlives_both(self):
        id = self.stopped("echo one >/root/mark; chown 33:44 /root/mark")
        self.take(id, "before")
        body = {"snapshot": self.daemon.api("GET", self.snapshots(id) + "/before").metadata["id"]}
        second = self.daemon.launch_any(body)
        self.daemon.succeed(self.daemon.api("DELETE", self.snapshots(id) + "/before"))
        self.daemon.remove(f"/1.0/instances/{id}")
        self.assertEqual(self.read(second, "cat /root/mark; stat -c '%u %g' /root/mark"), "one\n33 44\n")
        self.assertEqual(self.read(second, "hostname"), f"svc-{second}\n")
        self.assertEqual(self.daemon.ctl("stop", second).returncode, 0)
        self.assertEqual(self.daemon.ctl("start", second).returncode, 0)
        self.assertEqual(self.read(second, "cat /root/mark"), "one\n")

    def test_copies_have_the_files_of_the_original_and_addresses_of_their_own(self):
        id = self.stopped("echo one >/root/mark", cpu=0.1, memory=128 << 20)
        done = self.daemon.ctl("copy", id, "--name", "copy", "--count", "2")
        self.assertEqual(done.returncode, 0, done.stderr)
        copies = done.stdout.decode().split()
        self.assertEqual(len(copies), 2)
        for copy in copies:
            self.assertEqual(self.read(copy, "cat /root/mark"), "one\n")
        self.write(copies[0], "echo two >/root/mark")
        self.assertEqual(self.read(copies[1], "cat /root/mark /etc/hostname"), "one\ncopy-2\n")
        records = [self.daemon.api("GET", f"/1.0/instances/{copy}").metadata for copy in copies]
        self.assertEqual(len({record["address"] for record in records} | {""}), 3, records)
        self.assertEqual(self.daemon.api("GET", self.snapshots(id)).metadata, [])

    def test_an_instance_becomes_an_image(self):
        id = self.stopped("echo one >/root/mark; chown 33:44 /root/mark; rm -f /etc/motd", cpu=0.1, memory=128 << 20)
        done = self.daemon.ctl("publish", id, "--name", "golden")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.addCleanup(lambda: self.daemon.remove("/1.0/images/golden"))
        self.assertEqual(self.daemon.api("GET", self.snapshots(id)).metadata, [])
        second = self.daemon.launch("golden", cpu=0.1, memory=128 << 20)
        self.assertEqual(self.read(second, "cat /root/mark; stat -c '%u %g' /root/mark; ls /etc/motd"), "one\n33 44\n")
        self.assertEqual(self.read(second, "hostname"), f"svc-{second}\n")

    def test_a_snapshot_that_kill_9_cuts_off_is_finished_or_gone(self):
        id = self.stopped("dd if=/dev/urandom of=/root/large bs=1M count=64 2>/dev/null; sha256sum /root/large >/root/sum")
        reply = self.daemon.api("POST", self.snapshots(id), {"name": "cut"})
        self.assertEqual(reply.status, 202, reply.body)
        self.daemon.kill()
        self.daemon.start()
        operation = self.daemon.wait(reply)
        self.assertEqual(operation["status"], "Success", operation)
        self.write_after_restore(id)

    def write_after_restore(self, id):
        reply = self.daemon.api("POST", self.snapshots(id) + "/cut/restore")
        self.assertEqual(reply.status, 202, reply.body)
        self.daemon.kill()
        self.daemon.start()
        self.assertEqual(self.daemon.wait(reply)["status"], "Success")
        self.assertEqual(self.daemon.ctl("start", id).returncode, 0)
        self.assertEqual(self.read(id, "sha256sum -c /root/sum"), "/root/large: OK\n")


if __name__ == "__main__":
    harness.cases.main()
