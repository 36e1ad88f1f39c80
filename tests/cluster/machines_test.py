#!/usr/bin/env python3
"""Real containers on three machines, by three managers: the everyday work. SVC_TEST_RUNTIME: lxc or lxd."""
import hashlib
import os
import pty
import subprocess
import tempfile

from on_machines import WEB, OnMachines, cases, harness, nodes_of

EXPOSED = {**WEB, "expose": True}
# Content that a plain copy would change.
MADE_IN_BASE = harness.hook("""
[ $INSTANCE_TYPE = base ] || exit 0
mkdir -p /srv/made/deep; cd /srv/made
dd if=/dev/urandom of=deep/random bs=65536 count=16 2>/dev/null
chown 5:6 deep/random; chmod 4750 deep/random; ln deep/random linked; ln -s nowhere broken; mkfifo pipe; rm /srv/index.html""")
SHOW_MADE = "cd /srv; find . -exec stat -c '%n %a %u:%g %F %h' {} \\; | sort; sha256sum made/linked; readlink made/broken"


class Machines(OnMachines):
    settings = {"metrics_listen": "0.0.0.0:20002", "hypervisor_listen": "0.0.0.0:20003"}

    def clean(self):
        for manager in self.managers:
            self.patch_node(manager, {"tags": [], "unscheduable": False})
        super().clean()
        for url in self.managers[0].api("GET", "/1.0/applications").metadata:
            self.managers[0].remove(url)

    def patch_node(self, manager, patch):
        manager.succeed(manager.api("PATCH", f"/1.0/nodes/{manager.name}", patch))

    def test_launches_through_any_manager_on_any_machine(self):
        ids = self.launch_on_each()
        self.assertEqual([self.init_of(id).machine for id in ids], [1, 2, 3])
        for manager in self.managers:
            self.check_truth(manager)

    def test_placed_where_the_node_has_the_tags(self):
        self.patch_node(self.managers[2], {"tags": ["fast"]})
        app = self.managers[0].create_app({"manifest.yaml": "name: picky\nimage: busybox\nnode-selector: [fast]\n"})
        for manager in self.managers:
            self.assertEqual(self.init_of(manager.launch_app(app)).machine, 3)

    def test_services_are_reached_from_outside_and_from_other_machines(self):
        ids = [self.launch(self.managers[0], node, services=[EXPOSED]) for node in self.managers[1:]]
        here, there = (self.managers[0].container(id) for id in ids)
        by_port = f"http://{there['public_address']}:{there['services'][0]['node_port']}/"
        own = f"http://{there['address']}/"
        self.assertEqual(there["public_address"], self.managers[2].address)
        self.assertEqual([self.fetched(machine, by_port) for machine in (None, *self.managers)], ["it works\n"] * 4)
        self.assertEqual([self.fetched(machine, own) for machine in self.managers], ["it works\n"] * 3)
        self.assertEqual(self.managers[0].execute(here["id"], "wget", "-q", "-O", "-", by_port), "it works\n")
        refused = self.managers[0].ctl("exec", here["id"], "--", "timeout", "2", "wget", "-q", "-O", "-", own)
        self.assertNotEqual(refused.returncode, 0, "isolated instances reach each other")

    def test_a_version_made_on_one_machine_is_the_same_on_all(self):
        app = self.managers[1].create_app({"manifest.yaml": "name: made\nimage: busybox\n", "hooks/pre-start": MADE_IN_BASE})
        ids = [manager.launch_app(app, node=node.name) for manager, node in zip(self.managers, self.managers[1:] + self.managers[:1])]
        self.assertEqual(sorted(self.init_of(id).machine for id in ids), [1, 2, 3])
        shown = [self.managers[2].execute(id, "sh", "-c", SHOW_MADE) for id in ids]
        self.assertIn("./made/deep/random 4750 5:6 regular file 2", shown[0])
        self.assertEqual(shown[1:], shown[:1] * 2)

    def test_two_managers_keep_a_package(self):
        package = harness.package({"manifest.yaml": "name: kept\n", "hooks/install": harness.hook(f"# {os.urandom(64).hex()}")})
        self.managers[2].succeed(self.managers[2].upload("POST", "/1.0/addons", package, name="kept"))
        self.addCleanup(lambda: self.managers[1].remove("/1.0/addons/kept"))
        digest = hashlib.sha256(package).hexdigest()
        holders = [m.name for m in self.managers if any(file.name.startswith(digest) for file in m.state.glob("blobs/**/*"))]
        self.assertGreaterEqual(len(holders), 2, holders)

    def in_terminal(self, manager, id, script):
        """What a command in a terminal of 33 lines and 99 columns printed, and its exit code."""
        outer, inner = pty.openpty()
        subprocess.run(["stty", "rows", "33", "cols", "99"], stdin=inner, check=True)
        with subprocess.Popen([harness.SVCCTL, "--socket", manager.socket, "exec", id, "--", "sh", "-c", script],
                              stdin=inner, stdout=inner, stderr=inner) as ctl:
            os.close(inner)
            text = b""
            try:
                while part := os.read(outer, 65536):
                    text += part
            except OSError:
                pass  # the terminal's other end is closed
            os.close(outer)
            return text, ctl.wait(harness.PATIENCE)

    def test_commands_through_a_manager_that_neither_leads_nor_has_the_instance(self):
        home, other = self.cluster.followers()
        id = self.launch(other, home)
        for script, code in (("exit 0", 0), ("exit 7", 7), ("kill -9 $$", 137)):
            self.assertEqual(other.ctl("exec", id, "--", "sh", "-c", script).returncode, code, script)
        self.assertEqual(other.ctl("exec", id, "--", "/no/such").returncode, 127)
        data = os.urandom(8 << 20)
        self.assertEqual(other.ctl("exec", id, "--", "cat", input=data).stdout, data)
        apart = other.ctl("exec", id, "--", "sh", "-c", "echo out; echo err >&2")
        self.assertEqual((apart.stdout, apart.stderr), (b"out\n", b"err\n"))
        self.assertEqual(len(other.ctl("exec", id, "--", "head", "-c", "67108864", "/dev/zero").stdout), 64 << 20)
        text, code = self.in_terminal(other, id, "stty size; seq 1 400; exit 5")
        self.assertEqual((text.split()[:2], text.split()[-1], code), ([b"33", b"99"], b"400", 5))

    def test_logs_of_a_failed_instance_are_the_same_at_every_manager(self):
        with tempfile.TemporaryDirectory() as folder:
            def end_at_once(rootfs):
                (rootfs / "sbin/init").unlink()
                (rootfs / "sbin/init").write_text("#!/bin/sh\necho no luck >/dev/console\nexit 3\n")
                (rootfs / "sbin/init").chmod(0o755)
            self.managers[0].add_image("ends", harness.changed_image(folder, end_at_once))
            self.addCleanup(self.managers[0].remove, "/1.0/images/ends")
        home, other = self.cluster.followers()
        reply = other.api("POST", "/1.0/containers", {"image_id": "ends", "instance_type": "a2.3", "node": home.name})
        self.assertEqual(other.wait(reply)["status_code"], 400)
        logs = reply.metadata["resources"]["containers"][0] + "/logs"
        names = [manager.api("GET", logs).metadata for manager in self.managers]
        self.assertTrue(names[0])
        self.assertEqual(names[1:], names[:1] * 2)
        for name in names[0]:
            texts = [manager.api("GET", name).raw for manager in self.managers]
            self.assertEqual(texts[1:], texts[:1] * 2)

    def test_each_machine_tells_the_usage_of_its_own_instances(self):
        ids = self.launch_on_each()
        certificate = self.certificate()
        for manager, id in zip(self.managers, ids):
            text = self.fetched(None, f"https://{manager.address}:20003/1.0/metrics", *certificate)
            self.assertEqual([other in text for other in ids], [other == id for other in ids], text)
            states = self.fetched(None, f"http://{manager.address}:20002/internal/1.0/metrics")
            self.assertTrue(all(f'"{each.name}"' in states for each in self.managers), states)

    def certificate(self):
        """curl's options for a client that the service trusts."""
        folder = self.managers[0].dir
        made = subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj",
                               "/CN=usage", "-keyout", folder / "usage.key", "-out", folder / "usage.crt"], capture_output=True, text=True)
        self.assertEqual(made.returncode, 0, made.stderr)
        reply = self.managers[1].api("POST", "/1.0/certificates", {"certificate": (folder / "usage.crt").read_text()})
        self.assertEqual(reply.status, 200, reply.raw)
        return ["-k", "--cert", folder / "usage.crt", "--key", folder / "usage.key"]

    def test_a_drained_machine_gets_nothing_and_keeps_what_it_has(self):
        drained = self.managers[1]
        id = self.launch(drained, drained)
        self.patch_node(drained, {"unscheduable": True})
        self.assertEqual({self.init_of(self.launch(drained)).machine for _ in range(3)} & {2}, set())
        self.assertEqual(self.init_of(id).machine, 2)

    def evacuate(self, manager, mode):
        reply = manager.api("POST", f"/1.0/nodes/{manager.name}/evacuate", {"mode": mode})
        return manager.succeed(reply)["metadata"]["instances"]

    def test_evacuation_stops_what_is_there(self):
        id = self.launch(self.managers[0], self.managers[2])
        self.managers[0].execute(id, "sh", "-c", "echo kept >/root/mark")
        self.assertEqual(list(self.evacuate(self.managers[2], "stop")), [id])
        self.assertEqual((self.managers[0].container(id)["status"], self.inits()), ("stopped", []))
        self.patch_node(self.managers[2], {"unscheduable": False})
        self.managers[0].succeed(self.managers[0].api("PATCH", f"/1.0/containers/{id}", {"desired_status": "running"}))
        self.assertEqual(self.managers[1].execute(id, "cat", "/root/mark"), "kept\n")

    def test_evacuation_launches_the_same_guests_elsewhere(self):
        old = self.launch(self.managers[0], self.managers[2], name="mover", user_data="mine")
        self.evacuate(self.managers[2], "relaunch")
        record, = self.managers[1].containers()
        self.assertEqual(record["name"], "mover")
        self.assertNotEqual((record["id"], record["node"]), (old, "m3"))
        self.assertEqual(self.managers[2].execute("mover", "cat", "/var/lib/svc-agent/userdata"), "mine")
        self.check_truth(self.managers[0])

    def test_a_node_is_removed_and_added_again(self):
        leader, gone, _ = [self.cluster.leader(), *self.cluster.followers()]
        id = self.launch(leader, gone)
        refused = leader.api("DELETE", f"/1.0/nodes/{gone.name}")
        self.assertEqual((refused.status, refused.error), (409, f"node {gone.name} is in use by instances {id}"))
        leader.remove(f"/1.0/containers/{id}")
        leader.succeed(gone.api("DELETE", f"/1.0/nodes/{gone.name}"))
        self.assertNotIn(gone.name, nodes_of(leader))
        self.assertNotEqual(leader.container(self.launch(gone))["node"], gone.name)
        leader.succeed(leader.api("POST", "/1.0/nodes", {"name": gone.name, "address": gone.address}))
        self.await_nodes()
        self.assertEqual(self.init_of(self.launch(gone, gone)).machine, gone.number)


if __name__ == "__main__":
    cases.main()
