#!/usr/bin/env python3
"""What programs inside an instance can do to it: nothing of it reaches the machine, and all of it ends."""
import json
import signal
import socket
import subprocess

import harness
from harness import hook

SECRET = "the secret of the machine"
LOGS = "/var/lib/svc-agent/logs"
IN_BASE = "[ $INSTANCE_TYPE = base ] || exit 0\n"


class BadGuests(harness.DaemonTest):
    @classmethod
    def prepare(cls):
        cls.daemon.add_image()
        cls.secret = cls.daemon.dir / "secret"
        cls.secret.write_text(SECRET)

    def setUp(self):
        self.addCleanup(self.clean)

    def clean(self):
        self.daemon.remove_instances()
        for url in self.daemon.api("GET", "/1.0/applications").metadata:
            self.daemon.wait(self.daemon.api("DELETE", url, {"force": True}))
        for url in self.daemon.api("GET", "/1.0/addons").metadata:
            self.daemon.succeed(self.daemon.api("DELETE", url))
        self.assertEqual(list((self.daemon.state / "lxc/containers").iterdir()), [])

    def launch_with(self, name="bad", timeout="60s", **hooks):
        """Launches with an addon of these hooks; answers the final operation and the instance's id."""
        self.daemon.add_addon(name, {"manifest.yaml": f"name: {name}\nhooks: {{timeout: {timeout}}}\n",
                                     **{f"hooks/{key.replace('_', '-')}": hook(script) for key,
                                         script in hooks.items()}})
        reply = self.daemon.api("POST", "/1.0/containers",
            {"image_id": "busybox", "instance_type": "a2.3", "addons": [name]})
        id = reply.metadata["resources"]["containers"][0].rsplit("/", 1)[1]
        return self.daemon.wait(reply), id

    def logs(self, id):
        names = self.daemon.container(id)["stored_logs"] or []
        return {name: self.daemon.api("GET", f"/1.0/containers/{id}/logs/{name}").raw for name in names}

    def fails(self, naming="", **hooks):
        record, id = self.launch_with(**hooks)
        self.assertEqual(record["status_code"], 400, record)
        self.assertIn(naming, record["err"])
        self.assertEqual(self.daemon.container(id)["status"], "error")
        self.assertEqual(harness.pids_of(id), [])
        return id, record["err"]

    def test_logs_that_are_links_to_the_machine(self):
        targets = [str(self.secret), "/etc/shadow", "/proc/1/environ", "../" * 20 + str(self.secret)[1:]]
        for number, target in enumerate(targets):
            with self.subTest(target=target):
                id, _ = self.fails(name=f"bad{number}",
                    pre_start=f"rm -rf {LOGS}/*; for f in agent hooks; do ln -s {target} {LOGS}/$f.log; done; "
                                   f"mkdir -p /var/lib/svc-agent/data/logs; ln -s {target} /var/lib/svc-agent/data/logs/android.log; exit 1")
                for text in self.logs(id).values():
                    self.assertNotIn(SECRET.encode(), text)
                    self.assertNotIn(b"root:", text)

    def test_folders_of_logs_that_are_links(self):
        self.secret.parent.joinpath("agent.log").write_text(SECRET)
        id, _ = self.fails(pre_start=f"rm -rf {LOGS}; ln -s {self.secret.parent} {LOGS}; exit 1")
        self.assertNotIn(SECRET.encode(), b"".join(self.logs(id).values()))

    def test_logs_that_change_all_the_time(self):
        swap = f"cd {LOGS}; (while :; do ln -sf {self.secret} l; mv l hooks.log; echo x >p; mv p hooks.log; done) & "
        id, _ = self.fails(pre_start=swap + "exit 1")
        self.assertNotIn(SECRET.encode(), b"".join(self.logs(id).values()))

    def test_pipes_folders_and_large_files_as_logs(self):
        id, _ = self.fails(pre_start=f"rm -f {LOGS}/*; mkfifo {LOGS}/agent.log; mkdir {LOGS}/hooks.log; mkdir -p /var/lib/svc-agent/data/logs; "
                           "truncate -s 100G /var/lib/svc-agent/data/logs/android.log; exit 1")
        self.assertTrue(all(len(text) <= 16 << 20 for text in self.logs(id).values()))

    def test_floods_of_output(self):
        record, id = self.launch_with(
            pre_start="head -c 500000000 /dev/zero | tr '\\0' x; yes 'too much' | head -c 300000000 >&2")
        self.assertEqual(record["status_code"], 200, record)
        written = (self.daemon.state / f"lxc/containers/{id}/upper/var").rglob("*")
        size = sum(path.lstat().st_size for path in written if path.is_file())
        self.assertLess(size, 64 << 20)

    def test_a_console_that_is_flooded(self):
        record, id = self.launch_with(
            pre_start="head -c 100000000 /dev/zero | tr '\\0' x >/dev/console || true")
        self.assertEqual(record["status_code"], 200, record)
        self.assertLess((self.daemon.state / f"lxc/containers/{id}/console.log").stat().st_size, 64 << 20)

    def test_a_fork_bomb_meets_its_limit_and_ends_with_the_hook(self):
        id, error = self.fails("timed out", timeout="2s", pre_start="b() { b | b & }; b; sleep 731556")
        self.assertEqual([p for p in harness.processes() if "731556" in p], [])

    def test_processes_that_stay_behind_end_with_the_instance(self):
        record, id = self.launch_with(pre_start="(setsid sleep 731557 >/dev/null 2>&1 &) ; trap '' TERM")
        self.daemon.wait(self.daemon.api("DELETE", f"/1.0/containers/{id}"))
        self.assertEqual([p for p in harness.processes() if "731557" in p], [])

    def test_hooks_that_remove_what_runs_them(self):
        for number, target in enumerate(("$ADDON_DIR", "/var/lib/svc-agent/*", "/var/lib/svc-agent/session.json", "$0",
            LOGS)):
            with self.subTest(target=target):
                record, id = self.launch_with(name=f"remover{number}", pre_start=f"rm -rf {target} || true")
                self.assertIn(record["status_code"], (200, 400))
                self.assertTrue(record["status_code"] == 200 or record["err"], record)

    def test_hooks_that_take_the_session_away(self):
        self.fails(naming="a hook has removed the session file", name="taker", pre_start="rm /var/lib/svc-agent/session.json")
        self.fails(naming="session file", name="breaker", pre_start="echo '{}' >/var/lib/svc-agent/session.json")

    def test_hooks_that_kill_the_agent(self):
        for number, script in enumerate(("kill -9 $PPID; sleep 1; exit 1", "kill -9 -1; exit 1")):
            with self.subTest(script=script):
                record, id = self.launch_with(name=f"killer{number}", pre_start=script, timeout="2s")
                self.assertEqual(record["status_code"], 400, record)

    def test_a_root_that_cannot_be_used(self):
        """What a guest left behind must not break the placing of files at its next start."""
        traps = {"session as folder": "rm -rf /var/lib/svc-agent/session.json; mkdir -p /var/lib/svc-agent/session.json/x",
                 "agent's folder as link": f"mv /var/lib/svc-agent /var/lib/moved; ln -s {self.daemon.dir} /var/lib/svc-agent",
                 "hostname as link": f"ln -sf {self.secret} /etc/hostname",
                 "etc as link": f"mv /etc /etc2; ln -s {self.daemon.dir} /etc",
                 "init as link": f"ln -sf {self.secret} /sbin/init", "init gone": "rm -f /sbin/init",
                 "var gone": "rm -rf /var"}
        for name, trap in traps.items():
            with self.subTest(trap=name):
                id = self.daemon.launch()
                self.daemon.ctl("exec", id, "--", "sh", "-c", trap)
                self.daemon.wait(self.daemon.api("PATCH", f"/1.0/containers/{id}", {"desired_status": "stopped"}))
                record = self.daemon.wait(self.daemon.api("PATCH", f"/1.0/containers/{id}",
                    {"desired_status": "running"}))
                self.assertTrue(record["status_code"] == 200 or record["err"], record)
                self.assertEqual(self.secret.read_text(), SECRET)
                for file in ("session.json", "hostname", "logs", "host", "bin"):
                    self.assertFalse((self.daemon.dir / file).exists(), file)
                self.assertNotIn(str(self.daemon.dir), record["err"])
                self.daemon.succeed(self.daemon.api("DELETE", f"/1.0/containers/{id}", {"force": True}))

    def inside(self, id, method, path, token=None, body=""):
        """A request over the socket that the daemon gives to instances."""
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(20)
        connection.connect(str(self.daemon.state / "agent/server.unix"))
        header = f"Authorization: bearer {token}\r\n" if token else ""
        header += f"Content-Length: {len(body)}\r\nConnection: close\r\n"
        connection.sendall(f"{method} {path} HTTP/1.1\r\nHost: x\r\n{header}\r\n{body}".encode())
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
        connection.close()
        return int(answer.split()[1])

    def test_reports_that_shall_fill_the_record(self):
        id = self.daemon.launch()
        token = json.loads(self.daemon.execute(id, "cat", "/var/lib/svc-agent/session.json"))["token"]
        report = lambda *notes: self.inside(id, "PATCH", f"/1.0/containers/{id}", token, json.dumps({"notes": notes}))
        answers = [report(*(f"{number} {other} " + "x" * 17000 for other in range(3))) for number in range(20)]
        answers += [report("y" * 2 ** power) for power in range(14, -1, -1)]  # to the last byte
        answers += [report("more") for _ in range(50)]
        self.assertEqual(answers[0], 200)
        self.assertEqual(answers[-1], 409)
        record = self.daemon.wait(self.daemon.api("PATCH", f"/1.0/containers/{id}", {"desired_status": "stopped"}))
        self.assertEqual((record["status_code"], self.daemon.container(id)["status"]), (200, "stopped"), record)
        self.daemon.succeed(self.daemon.api("DELETE", f"/1.0/containers/{id}"))

    def test_the_instances_socket_opens_what_the_token_opens(self):
        one, other = self.daemon.launch(), self.daemon.launch()
        token = json.loads(self.daemon.execute(one, "cat", "/var/lib/svc-agent/session.json"))["token"]
        self.assertEqual(self.inside(one, "GET", "/1.0/artifacts", token), 200)
        for method, path in (("GET", "/"), ("GET", "/1.0"), ("GET", "/1.0/version"), ("GET", "/1.0/containers"),
            ("GET", f"/1.0/containers/{one}"), ("DELETE", f"/1.0/containers/{one}"), ("GET", "/1.0/config"),
                             ("PATCH", "/1.0/config"), ("POST", "/1.0/certificates"), ("GET", "/1.0/certificates"),
                             ("GET", "/1.0/events"), ("GET", "/1.0/operations"), ("GET", "/1.0/metrics"),
                             ("POST", "/1.0/certificates/tokens"),
                             ("GET", "/1.0/openapi.json"), ("POST", f"/1.0/containers/{one}/exec"),
                             ("GET", f"/1.0/containers/{one}/logs"), ("GET", "/internal/1.0/metrics"),
                             ("GET", "/1.0/operations/x/websocket?secret=x")):
            for given in (None, token):
                with self.subTest(path=path, token=bool(given)):
                    self.assertEqual(self.inside(one, method, path, given), 404)
        report = json.dumps({"status": "error", "error_message": "fooled"})
        self.assertEqual(self.inside(one, "PATCH", f"/1.0/containers/{other}", token, report), 403)
        self.assertEqual(self.inside(one, "PATCH", f"/1.0/containers/{one}", None, report), 401)
        self.assertEqual(self.inside(one, "PATCH", f"/1.0/containers/{one}", None, '{"desired_status": "stopped"}'),
            401)
        self.inside(one, "PATCH", f"/1.0/containers/{one}", token,
            '{"desired_status": "stopped"}')  # a report that says nothing
        self.assertEqual([container["status"] for container in self.daemon.containers()], ["running", "running"])

    def test_reports_that_overdo_it(self):
        id = self.daemon.launch()
        token = json.loads(self.daemon.execute(id, "cat", "/var/lib/svc-agent/session.json"))["token"]
        for number in range(15):  # more at once are not taken
            self.inside(id, "PATCH", f"/1.0/containers/{id}", token,
                json.dumps({"notes": [f"{number} {other} " + "x" * 20000 for other in range(3)]}))
        self.assertLess(len(self.daemon.api("GET", f"/1.0/containers/{id}").raw), 1 << 20)
        self.inside(id, "PATCH", f"/1.0/containers/{id}", token,
            json.dumps({"status": "error", "error_message": "y" * 60000}))
        self.assertTrue(self.daemon.eventually(lambda: self.daemon.container(id)["status"] == "error"))
        self.assertLess(len(self.daemon.api("GET", f"/1.0/containers/{id}").raw), 1 << 20)

    def test_the_agents_own_socket(self):
        id = self.daemon.launch()
        for data in (b"\0" * 100000, b"GET / HTTP/1.1\r\n" * 100000,
            b"POST /1.0/location HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n"):
            subprocess.run([harness.SVCCTL, "--socket", self.daemon.socket, "exec", id, "--", "sh", "-c",
                "cat >/dev/null; ls /run/svc /var/lib/svc-agent"], input=data, capture_output=True, timeout=60)
        self.assertEqual(self.daemon.container(id)["status"], "running")

    def test_a_hook_that_fails_after_the_daemon_was_killed(self):
        self.daemon.add_addon("late",
            {"manifest.yaml": "name: late\n",
                "hooks/pre-start": hook("touch /srv/began; while [ ! -e /srv/go ]; do sleep 0.05; done; echo no luck; exit 7")})
        reply = self.daemon.api("POST", "/1.0/containers",
            {"image_id": "busybox", "instance_type": "a2.3", "addons": ["late"]})
        id = reply.metadata["resources"]["containers"][0].rsplit("/", 1)[1]
        began = self.daemon.state / f"lxc/containers/{id}/rootfs/srv"
        self.assertTrue(self.daemon.eventually(lambda: (began / "began").exists()))
        self.daemon.kill(signal.SIGKILL)
        (began / "go").touch()
        self.daemon.start()
        record = self.daemon.wait_operation(reply.metadata["id"])
        self.assertEqual(record["status_code"], 400, record)
        self.assertIn("pre-start", record["err"])
        self.assertIn("7", record["err"])
        self.assertIn(b"no luck", b"".join(self.logs(id).values()))

    def test_a_bootstrap_that_leaves_traps_in_its_layer(self):
        """Links, pipes, holes and odd names in a captured layer stay what they are, and are exported as such."""
        id = self.daemon.create_app({"manifest.yaml": "name: trap\n", "hooks/pre-start": hook(
            IN_BASE + f"ln -s {self.secret} /srv/link; mkfifo /srv/pipe; truncate -s 10G /srv/hole; mkdir /srv/dir; "
            "ln -s / /srv/dir/up; touch \"$(printf '/srv/odd\\n\\001name')\"; "
            "cp /bin/busybox /srv/suid; chmod 4755 /srv/suid; chmod 0 /srv/dir")})
        reply = self.daemon.api("GET", f"/1.0/applications/{id}/0/manifest")
        self.assertEqual(reply.status, 200)
        instance = self.daemon.launch_app(id)
        self.assertIn("link", self.daemon.execute(instance, "ls", "/srv"))
        self.assertEqual(self.secret.read_text(), SECRET)


if __name__ == "__main__":
    harness.cases.main()
