#!/usr/bin/env python3
"""The main job on real containers: image, launch, reach, exec, logs, delete."""
import json
import os
import pathlib
import socket
import subprocess
import tempfile

import harness


class Launch(harness.DaemonTest):
    def test_instance_is_running_when_the_operation_ends(self):
        id = self.daemon.launch()
        record = self.daemon.container(id)
        self.assertEqual((record["status"], record["status_code"]), ("running", 4))
        self.assertEqual(record["name"], f"svc-{id}")
        self.assertEqual(self.daemon.ctl("exec", id, "--", "hostname").stdout.decode().strip(), f"svc-{id}")

    def test_root_inside_is_nobody_outside(self):
        id = self.daemon.launch()
        inside = self.daemon.ctl("exec", id, "--", "id", "-u").stdout.decode().strip()
        self.assertEqual(inside, "0")
        pids = harness.pids_of(id)
        self.assertTrue(pids)
        for pid in pids:
            status = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
            uid = int(next(line for line in status if line.startswith("Uid:")).split()[1])
            self.assertGreaterEqual(uid, 100000)

    def test_service_answers_at_its_address_and_at_the_node_port(self):
        id = self.daemon.launch(services=[{"name": "web", "port": 80, "protocols": ["tcp"], "expose": True}])
        record = self.daemon.container(id)
        service = record["services"][0]
        self.assertGreaterEqual(service["node_port"], 10000)
        for host, port in ((record["address"], 80), (record["public_address"], service["node_port"])):
            answer = subprocess.run(["curl", "-fsS", "--max-time", "60", f"http://{host}:{port}/"], capture_output=True)
            self.assertEqual(answer.stdout, b"it works\n", answer.stderr)

    def test_exposed_services_follow_the_public_address_of_their_node(self):
        second = harness.free_net() + ".1"
        device = f"svcd{os.getpid() % 100000}"
        subprocess.run(["ip", "link", "add", device, "type", "bridge"], check=True)
        self.addCleanup(subprocess.run, ["ip", "link", "delete", device], check=True)
        subprocess.run(["ip", "address", "add", second + "/32", "dev", device], check=True)
        subprocess.run(["ip", "link", "set", device, "up"], check=True)
        id = self.daemon.launch(services=[{"name": "web", "port": 80, "protocols": ["tcp"], "expose": True}])
        port = self.daemon.container(id)["services"][0]["node_port"]
        node = self.daemon.container(id)["node"]
        first = self.daemon.container(id)["public_address"]

        def answers(host):
            return subprocess.run(["curl", "-fsS", "--max-time", "60", f"http://{host}:{port}/"], capture_output=True).stdout

        self.assertEqual((answers(first), answers(second)), (b"it works\n", b""))
        self.daemon.succeed(self.daemon.api("PATCH", f"/1.0/nodes/{node}", {"public_address": second}))
        self.daemon.eventually(lambda: answers(second) == b"it works\n")
        self.assertEqual(answers(first), b"")
        self.daemon.eventually(lambda: self.daemon.container(id)["public_address"] == second)
        self.daemon.succeed(self.daemon.api("PATCH", f"/1.0/nodes/{node}", {"public_address": ""}))
        self.daemon.eventually(lambda: answers(first) == b"it works\n")

    def test_user_data_arrives_byte_for_byte(self):
        data = "line one\nzwei \u20ac\n"
        id = self.daemon.launch(user_data=data)
        self.assertEqual(self.daemon.ctl("exec", id, "--", "cat", "/var/lib/svc-agent/userdata").stdout.decode(), data)

    def test_limits_are_set(self):
        id = self.daemon.launch(cpu=1, memory=256 << 20)
        pid = harness.pids_of(id)[0]
        self.assertEqual(int(harness.cgroup_value(pid, "memory", "memory.limit_in_bytes", "memory.max")), 256 << 20)
        self.assertGreater(int(harness.cgroup_value(pid, "pids", "pids.max")), 0)
        quota = harness.cgroup_value(pid, "cpu", "cpu.cfs_quota_us", "cpu.max").split()[0]
        self.assertEqual(int(quota), 100000)

    def test_memory_hog_is_killed_not_the_machine(self):
        id = self.daemon.launch(memory=64 << 20)
        result = self.daemon.ctl("exec", id, "--", "sh", "-c", "head -c 300000000 /dev/zero | tail >/dev/null; exit 0")
        self.assertIn(result.returncode, (0, 129, 137), result.stderr)

    def test_a_stopped_instance_starts_again_with_its_files_and_another_address(self):
        first = self.daemon.launch(services=[{"port": 80, "protocols": ["tcp"]}])
        self.daemon.ctl("exec", first, "--", "sh", "-c", "echo kept >/root/mark")
        self.assertEqual(self.daemon.ctl("stop", first).returncode, 0)
        second = self.daemon.launch(services=[{"port": 80, "protocols": ["tcp"]}])
        started = self.daemon.ctl("start", first)
        self.assertEqual(started.returncode, 0, started.stderr)
        self.assertNotEqual(self.daemon.container(first)["address"], self.daemon.container(second)["address"])
        self.assertEqual(self.daemon.ctl("exec", first, "--", "cat", "/root/mark").stdout, b"kept\n")
        address = self.daemon.container(first)["address"]
        answer = subprocess.run(["curl", "-fsS", "--max-time", "60", f"http://{address}/"], capture_output=True)
        self.assertEqual(answer.stdout, b"it works\n", answer.stderr)

    def test_the_session_file_is_roots_alone(self):
        id = self.daemon.launch()
        mode = self.daemon.ctl("exec", id, "--", "stat", "-c", "%a %u", "/var/lib/svc-agent/session.json").stdout.split()
        self.assertEqual(mode, [b"600", b"0"])

    def test_management_socket_is_not_reachable_from_inside(self):
        id = self.daemon.launch()
        look = "ls /var/lib/svc-agent/host 2>/dev/null; test -S /var/lib/svc-agent/host/server.unix && echo socket"
        self.assertEqual(self.daemon.ctl("exec", id, "--", "sh", "-c", look).stdout, b"socket\n")
        path = self.daemon.state / "agent/server.unix"
        connection = harness.UnixConnection(path)
        connection.request("GET", "/1.0/containers")
        self.assertEqual(connection.getresponse().status, 404)
        connection.close()

    def test_parallel_launches_get_their_own_addresses(self):
        replies = [self.daemon.api("POST", "/1.0/instances", {"image_id": "busybox", "instance_type": "a2.3", "cpu": 1,
                                                              "memory": 32 << 20, "disk_size": 64 << 20}) for _ in range(6)]
        for reply in replies:
            self.daemon.succeed(reply)
        ids = [r.metadata["resources"]["instances"][0].rsplit("/", 1)[1] for r in replies]
        addresses = {self.daemon.container(id)["address"] for id in ids}
        self.assertEqual(len(addresses), 6)

    def tearDown(self):
        for record in self.daemon.containers():
            self.daemon.succeed(self.daemon.api("DELETE", f"/1.0/containers/{record['id']}", {"force": True}))
        left = [x for x in self.daemon.leftovers() if x.startswith(("mount", "file"))]
        self.assertEqual(left, [])


class Exec(harness.DaemonTest):
    @classmethod
    def prepare(cls):
        super().prepare()
        cls.id = cls.daemon.launch()

    def run_inside(self, script, **options):
        return self.daemon.ctl("exec", self.id, "--", "sh", "-c", script, **options)

    def test_exit_codes_are_exact(self):
        for script, code in (("exit 0", 0), ("exit 7", 7), ("kill -9 $$", 137), ("kill -15 $$", 143)):
            self.assertEqual(self.run_inside(script).returncode, code, script)
        self.assertEqual(self.daemon.ctl("exec", self.id, "--", "/no/such/program").returncode, 127)
        self.assertEqual(self.daemon.ctl("exec", self.id, "--", "/etc/passwd").returncode, 126)

    def test_streams_are_kept_apart_and_complete(self):
        result = self.run_inside("echo out; echo err >&2")
        self.assertEqual((result.stdout, result.stderr), (b"out\n", b"err\n"))
        for _ in range(20):
            self.assertEqual(len(self.run_inside("head -c 200000 /dev/zero").stdout), 200000)

    def test_input_reaches_the_command(self):
        data = os.urandom(8 << 20)
        result = self.run_inside("sha256sum", input=data)
        import hashlib
        self.assertEqual(result.stdout.split()[0].decode(), hashlib.sha256(data).hexdigest())

    def test_much_each_way_at_once(self):
        size = int(os.environ.get("SVC_TEST_EXEC_MEGABYTES", "64")) << 20
        script = f"head -c {size} /dev/zero | {harness.SVCCTL} --socket {self.daemon.socket} exec {self.id} -- cat | wc -c"
        counted = subprocess.run(["sh", "-c", script], capture_output=True, timeout=300)
        self.assertEqual(int(counted.stdout), size, counted.stderr)

    def test_closed_client_kills_the_command(self):
        client = subprocess.Popen([harness.SVCCTL, "--socket", self.daemon.socket, "exec", self.id, "--", "sh", "-c",
                                   "echo started; exec sleep 987654"], stdout=subprocess.PIPE, stdin=subprocess.PIPE)
        self.assertEqual(client.stdout.readline(), b"started\n")
        operation = self.running_execs()[0]
        client.kill()
        client.communicate()
        self.daemon.wait_operation(operation)
        self.assertNotIn(b"987654", self.run_inside("ps").stdout)

    def running_execs(self):
        running = self.daemon.api("GET", "/1.0/operations?recursion=1").metadata.get("running", [])
        return [o["id"] for o in running if o["class"] == "websocket"]

    def test_environment_and_defaults(self):
        result = self.run_inside("echo $HOME:$USER:$LANG:$PWD")
        self.assertEqual(result.stdout, b"/root:root:C.UTF-8:/root\n")

    def test_the_service_keeps_its_own_umask_to_itself(self):
        umasks = "umask; for pid in 1 $(pidof svc-agent); do grep -h Umask /proc/$pid/status; done"
        lines = self.daemon.execute(self.id, "sh", "-c", umasks).splitlines()
        self.assertGreaterEqual(len(lines), 3)
        self.assertEqual({line.split()[-1] for line in lines}, {"0022"})
        modes = self.daemon.execute(self.id, "stat", "-c", "%a", "/var/lib/svc-agent", "/var/lib/svc-agent/bin",
                                    "/var/lib/svc-agent/session.json")
        self.assertEqual(modes.split(), ["755", "755", "600"])

    def test_exec_in_an_unknown_instance_is_refused(self):
        result = self.daemon.ctl("exec", "nosuchinstance", "--", "true")
        self.assertEqual(result.returncode, 125)
        self.assertIn(b"not found", result.stderr)


class Formats(harness.DaemonTest):
    @classmethod
    def prepare(cls):
        pass

    def test_each_compression_is_taken(self):
        for suffix in ("tar.gz", "tar.bz2", "tar.xz"):
            name = "image-" + suffix.replace(".", "-")
            self.daemon.add_image(name, harness.busybox_image(suffix))
            self.assertEqual(self.daemon.api("GET", f"/1.0/images/{name}").metadata["status"], "active")

    def test_a_new_version_is_used_by_the_next_launch(self):
        self.daemon.add_image("growing")
        with tempfile.TemporaryDirectory() as folder:
            package = harness.changed_image(folder, lambda rootfs: (rootfs / "srv/index.html").write_text("newer\n"))
            self.daemon.succeed(self.daemon.api("PATCH", "/1.0/images/growing", package.read_bytes(),
                                                {"Content-Type": "application/octet-stream", "X-SVC-Request": "{}"}))
        id = self.daemon.launch("growing")
        self.assertEqual(self.daemon.container(id)["image_version"], 1)
        self.assertEqual(self.daemon.ctl("exec", id, "--", "cat", "/srv/index.html").stdout, b"newer\n")


if __name__ == "__main__":
    harness.cases.main()
