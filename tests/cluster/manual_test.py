#!/usr/bin/env python3
"""The manual of clusters (docs/cluster.md) is followed, command by command, from fresh machines on; and what it promises is looked at."""
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import unittest

import manual

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402
from cluster import until  # noqa: E402
from machines import harness  # noqa: E402

MANUAL = (harness.ROOT / "docs/cluster.md").read_text()
BLOCKS = manual.blocks(MANUAL)
TITLES = list(dict.fromkeys(block.chapter for block in BLOCKS))
FROM_ONE = "From one machine to many"
NODES = ["m1", "m2", "m3"]


def chapter(title):
    found = [block for block in BLOCKS if block.chapter == title]
    assert found, f"no commands below {title}"
    return found


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def packages_of(program):
    """Those that have the libraries that it is linked with."""
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-dW", program))
    found = dict(re.findall(r"^\s*(\S+) .* => (\S+)$", output("/sbin/ldconfig", "-p"), re.MULTILINE)[::-1])
    files = [os.path.realpath(found[name]) for name in needed if name in found]
    owners = subprocess.run(["dpkg-query", "-S", *files], capture_output=True, text=True).stdout
    return {line.split(":")[0] for line in owners.splitlines()}


class Form(unittest.TestCase):
    def test_every_block_but_the_one_that_copies_programs_is_executed(self):
        self.assertEqual(["Packages"], [block.chapter for block in BLOCKS if not block.places])

    @unittest.skipUnless(shutil.which("dpkg-query") and shutil.which("readelf"), "needs dpkg-query and readelf")
    def test_the_packages_have_all_libraries_of_the_programs(self):
        listed = chapter("Packages")[0].text.split()
        depends = subprocess.run(["dpkg-query", "-W", "-f", "${Depends} ", *(word for word in listed if word[0].isalpha())],
                                 capture_output=True, text=True).stdout
        there = {*listed, *re.findall(r"[a-z0-9.+-]+", depends), "libc6", "libgcc-s1", "libstdc++6", "libsystemd0"}
        for program in (harness.SVCD, harness.SVCCTL, harness.BUILD / "libsvc/runtime/lxc/helper/svc-lxc"):
            self.assertEqual(set(), packages_of(program) - there, program.name)


class ManualTest(unittest.TestCase):
    def ctl(self, *words):
        return json.loads(self.machines.type("client", f"svcctl {' '.join(words)} --format json"))

    def nodes(self):
        return {node["name"]: node["status"] for node in self.ctl("node", "list")}

    def instances(self):
        """name -> (status, node)"""
        return {record["name"]: (record["status"], record["node"]) for record in self.ctl("list")}

    def page_of(self, instance):
        return self.machines.type("client", f"svcctl exec {instance} -- cat /srv/index.html")

    def reaches(self, number, port):
        """Whether the client, which is none of the machines, gets a connection."""
        try:
            socket.create_connection((f"{self.machines.rig.net}.0.{10 + number}", port), timeout=0.3).close()
            return True
        except TimeoutError:
            return False

    def launches_everywhere(self, mark):
        for node in NODES:
            self.machines.type("client", f"svcctl launch greeter --node {node} --name {mark}-{node}")
            self.assertIn("hello", self.page_of(f"{mark}-{node}"))


@unittest.skipIf(manual.missing(), manual.missing())
class FromFreshMachines(ManualTest):
    def test_to_a_cluster_that_is_saved_grows_and_shrinks(self):
        with manual.FreshMachines(4) as self.machines:
            for title in TITLES:
                if title != FROM_ONE:
                    self.machines.follow(chapter(title))
                    getattr(self, "after_" + title.lower().replace(" ", "_"), lambda: None)()
            self.after_what_breaks_when()

    def after_the_first_instances(self):
        instances = self.instances()
        self.assertEqual(4, len(instances))
        for node in NODES:
            self.assertEqual(("running", node), instances[f"on-{node}"])
        self.assertEqual([], [(number, port) for number in (1, 2, 3) for port in (2379, 2380, 8443, 8445) if self.reaches(number, port)])
        self.assertTrue(self.reaches(1, 8444), "nor is the API, so the others prove nothing")

    def after_backup(self):
        """Much happens before it is needed: other managers lead, and instances come."""
        self.before = self.instances()
        for node in NODES:
            self.machines.type(node, "systemctl restart svcd")
        until("nodes are there", lambda: self.nodes() == {node: "online" for node in NODES})
        self.machines.type("client", "svcctl launch greeter --node m3 --name lost")

    def after_restore(self):
        until("nodes are there", lambda: self.nodes() == {node: "online" for node in NODES})
        self.assertEqual(self.before, self.instances())
        self.launches_everywhere("restored")
        wanted = {"restored-m3", "on-m3"}
        kept = {record["id"] for record in self.ctl("list") if record["name"] in wanted}
        until("the container without a record is gone", lambda: self.containers_of("m3") == {f"svc-{id}" for id in kept})

    def containers_of(self, machine):
        return {name for name, location in (line.split(",") for line in self.machines.type(machine, "lxc list -c nL -f csv").split())
                if location == machine}

    def after_an_etcd_that_has_lost_its_disk(self):
        self.assertEqual(3, self.machines.type("m1", ". /etc/svc/etcdctl.env; etcdctl member list").count("started"))

    def after_one_more_machine(self):
        self.assertEqual(("running", "m4"), self.instances()["on-m4"])

    def after_one_machine_less(self):
        status, node = self.instances()["on-m4"]
        self.assertEqual("running", status)
        self.assertIn(node, NODES)
        self.assertEqual(NODES, sorted(self.nodes()))
        self.assertNotIn("m4", self.machines.type("m1", "lxc cluster list -f csv"))
        self.assertEqual(["table inet cluster-closed"], self.machines.type("m4", "nft list tables").splitlines())

    def after_upgrade(self):
        self.assertEqual({"running"}, {status for status, _ in self.instances().values()})
        self.assertIn("hello", self.page_of("on-m1"))
        watched = set(re.findall(r"`(svc_\w+)", MANUAL[MANUAL.index("## What to watch"):MANUAL.index("## What breaks when")]))
        told = "".join(self.machines.type(node, "curl -fsS http://$address:20002/internal/1.0/metrics") for node in NODES)
        self.assertEqual(set(), {name for name in watched if f"\n{name}" not in told})

    def after_what_breaks_when(self):
        """All machines lose power: everything but the instances comes back by itself."""
        before = self.instances()
        self.machines.power_fails([1, 2, 3])
        until("the API answers", lambda: self.machines.try_to("client", "svcctl node list"))
        until("nodes are there", lambda: self.nodes() == {node: "online" for node in NODES})
        until("it is known that instances stopped", lambda: {status for status, _ in self.instances().values()} == {"error"})
        self.assertEqual(list(before), list(self.instances()))
        self.machines.type("client", "svcctl start --yes on-m1")
        self.assertIn("hello", self.page_of("on-m1"))


@unittest.skipIf(manual.missing(), manual.missing())
class FromOneMachine(ManualTest):
    def test_to_many_with_everything(self):
        with manual.FreshMachines(3) as self.machines:
            for title in ("Packages", "Certificates", "What is closed", "etcd"):
                self.machines.follow(chapter(title))
            self.begin_with_one()
            leave, *rest = chapter(FROM_ONE)
            self.machines.follow([leave])
            self.configure()
            self.machines.follow(rest)
            self.machines.follow(chapter("Clients") + chapter("Backup"))
            self.machines.type("client", "svcctl start old")
            self.assertEqual("kept", self.machines.type("client", "svcctl exec old -- cat /kept").strip())
            until("nodes are there", lambda: self.nodes() == {node: "online" for node in NODES})
            self.launches_everywhere("new")

    def begin_with_one(self):
        self.machines.type("m1", "echo 'runtime: lxc' >/etc/svc/svcd.yaml; systemctl start svcd")
        root = harness.ROOT
        self.machines.type("m1", f"{root}/tests/images/busybox.sh busybox.tar.gz; svcctl image add busybox busybox.tar.gz; "
                                 f"svcctl application create {root}/tests/samples/greeter; svcctl wait greeter; "
                                 "svcctl launch greeter --name old; svcctl exec old -- sh -c 'echo kept >/kept; sync'")

    def configure(self):
        written = chapter("svcd")[0]
        written.text = re.sub(r"runtime: lxd\n(lxd_cluster: join\n)?", "runtime: lxc\n", written.text)
        self.machines.follow([written])


if __name__ == "__main__":
    cases.main()
