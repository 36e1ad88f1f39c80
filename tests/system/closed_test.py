#!/usr/bin/env python3
"""What another user of the host finds in a state directory while instances run: nothing but names it was told."""
import json
import os
import pathlib
import socket

import harness

STRANGER = 65534
SECRET = "the user data of somebody"


def as_user(user, work):
    """The result of work() in a process of this user without groups."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
            os.write(theirs, json.dumps(work()).encode())
        finally:
            os._exit(0)
    os.close(theirs)
    with os.fdopen(ours, "rb") as answers:
        answer = answers.read()
    os.waitpid(child, 0)
    return json.loads(answer)


def can_open(path):
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY))
        return True
    except OSError:
        return os.access(path, os.W_OK)


def can_connect(path):
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.connect(str(path))
            return True
        except OSError:
            return False


class Closed(harness.DaemonTest):
    @classmethod
    def prepare(cls):
        super().prepare()
        cls.ids = [cls.daemon.launch(user_data=SECRET) for _ in range(2)]
        cls.daemon.ctl("exec", cls.ids[0], "--", "sh", "-c", "cp /bin/busybox /shell; chmod 6755 /shell; chmod -R a+rwX /var /root")

    def paths(self):
        """All below the state directory. The secret folder of the instances' socket is for who can find it."""
        state = self.daemon.state
        found = [str(state)]
        for folder, folders, files in os.walk(state):
            folders[:] = [name for name in folders if not name.startswith("agent-")]
            found += [os.path.join(folder, name) for name in folders + files]
        return found

    def test_a_stranger_opens_and_lists_nothing_but_the_agent_program(self):
        paths = self.paths()
        for name in ("userdata", "session.json", "shell", "svc.db", "tokens.key", "server.key", "console.log", "spec.json"):
            self.assertTrue(any(path.endswith("/" + name) for path in paths), name)
        opened = as_user(STRANGER, lambda: [path for path in paths if can_open(path)])
        self.assertEqual(opened, [str(self.daemon.state / "lxc/svc-agent")])

    def test_a_stranger_does_not_see_whether_a_file_of_an_instance_exists(self):
        path = str(self.daemon.state / "lxc/containers" / self.ids[0] / "rootfs/shell")
        self.assertTrue(os.path.exists(path))
        self.assertFalse(as_user(STRANGER, lambda: os.path.exists(path) or os.access(path, os.X_OK)))

    def test_a_stranger_finds_no_socket_of_the_service(self):
        shown = pathlib.Path("/proc/net/unix").read_text()
        secret = next(self.daemon.state.glob("agent-*")).name
        self.assertNotIn(secret, shown)
        sockets = [str(self.daemon.socket), str(self.daemon.state / "agent/server.unix")]
        self.assertTrue(all(map(can_connect, sockets)))
        sockets += [word for word in shown.split() if str(self.daemon.dir) in word]
        self.assertEqual(as_user(STRANGER, lambda: [path for path in sockets if can_connect(path)]), [])

    def test_the_processes_of_instances_are_closed_to_strangers_and_to_other_instances(self):
        pid = harness.pids_of(self.ids[0])[0]
        other = os.stat(f"/proc/{harness.pids_of(self.ids[1])[0]}").st_uid
        paths = [f"/proc/{pid}/{name}" for name in ("root/", "root/etc/hostname", "cwd/", "environ", "mem", "maps", "fd")]
        self.assertNotEqual(other, os.stat(f"/proc/{pid}").st_uid)
        for user in (STRANGER, other):
            self.assertEqual(as_user(user, lambda: [path for path in paths if can_open(path)]), [], user)

    def test_the_record_of_the_node_says_that_instances_have_their_own_ids(self):
        nodes = self.daemon.api("GET", "/1.0/nodes?recursion=1")
        self.assertIn('"id_ranges": "own"', json.dumps(nodes.body))

    def test_instances_reach_the_service_by_the_secret_name(self):
        connect = self.daemon.ctl("exec", self.ids[0], "--", "sh", "-c", "test -S /var/lib/svc-agent/host/server.unix && echo there")
        self.assertEqual(connect.stdout, b"there\n")
        self.daemon.restart()
        socket_file = next(self.daemon.state.glob("agent-*/server.unix"))
        inside = self.daemon.ctl("exec", self.ids[0], "--", "stat", "-c", "%i", "/var/lib/svc-agent/host/server.unix")
        self.assertEqual(int(inside.stdout), socket_file.stat().st_ino)


if __name__ == "__main__":
    harness.cases.main()
