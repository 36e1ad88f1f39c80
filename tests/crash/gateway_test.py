#!/usr/bin/env python3
"""Kills svc-gateway at the failpoints that sessions and accounts come to (a sample of them; all with SVC_TEST_LONG=1), starts it
again and asks: what was acknowledged is there, each session has one instance, and of a deleted one nothing is left."""
import concurrent.futures
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import lives
import streaming
import workload
from service import CRASH, ENDING, GONE, PATIENCE, Died, harness

SAMPLE = 6  # as many at a time
ACCOUNTS = ("first", "second")


class Gateway(streaming.Gateway):
    """start() and whatever asks may raise Died; then start() again."""
    program = CRASH / "svc-gateway"

    def __init__(self, daemon, folder):
        super().__init__(daemon)
        self.dir = pathlib.Path(folder)
        self.settings.update(state_dir=f"{folder}/state", socket=f"{folder}/socket", listen=f"127.0.0.1:{self.port}",
                             instance_url=f"https://127.0.0.1:{self.port}")
        self.token = ""

    def start(self, **environment):
        (self.dir / "gateway.yaml").write_text(harness.json.dumps(self.settings))
        log = self.dir / "gateway.log"
        self.log_file = open(log, "ab")
        before = self.log_file.tell()
        self.process = subprocess.Popen([self.program, "--config", self.dir / "gateway.yaml"], stdin=subprocess.DEVNULL,
                                        stderr=self.log_file, env=dict(os.environ, **environment))
        self.until("it is ready", lambda: b"ready" in log.read_bytes()[before:] or self.process.poll() is not None)
        if self.process.poll() is not None:
            raise Died(self.log())
        return self

    def end(self, number):
        if self.process.poll() is None:
            self.process.send_signal(number)
        self.log_file.close()
        return self.process.wait(PATIENCE)

    def call(self, ask, *arguments):
        try:
            return ask(*arguments)
        except GONE as e:
            if not self.ends_within(ENDING):
                raise
            raise Died(str(e)) from e

    def ends_within(self, seconds):
        try:
            self.process.wait(seconds)
            return True
        except subprocess.TimeoutExpired:
            return False

    def api(self, *arguments):
        return self.call(super().api, *arguments)

    def local(self, *arguments):
        return self.call(super().local, *arguments)

    def until(self, what, condition, limit=PATIENCE):
        end = time.monotonic() + limit
        while not condition():
            assert time.monotonic() < end, f"not within {limit} s: {what}; {self.log()}"
            self.ends_within(0.05)

    def sessions(self):
        """{id: the instance's id}"""
        return {s["id"]: s.get("container_id") for s in self.api("GET", "/1.0/sessions?recursion=1").metadata or []}

    def accounts(self):
        return {a if isinstance(a, str) else a["name"] for a in self.local("GET", "/1.0/accounts")}


class Client:
    """Keeps what it was told: accounts and sessions that are there, and `asked`, whose deletion it has asked for."""

    def __init__(self, gateway):
        self.gateway, self.accounts, self.sessions = gateway, set(), set()
        self.asked, self.gone = set(), set()

    def account(self, name):
        token = self.gateway.local("POST", "/1.0/accounts", {"name": name})["token"]
        self.gateway.token = self.gateway.token or token
        self.accounts.add(name)

    def session(self):
        id = self.gateway.create("alpha")["id"]
        self.sessions.add(id)
        self.gateway.until("the session has an instance", lambda: self.gateway.sessions()[id])
        return id

    def delete_session(self, id):
        self.asked.add(id)
        self.sessions.discard(id)
        # Without sync the answer says that the deletion has begun: the session is there until its instance is gone.
        reply = self.gateway.api("DELETE", f"/1.0/sessions/{id}?sync=true")
        assert reply.status == 200, reply.raw
        self.gone.add(id)

    def delete_account(self, name):
        self.asked.add(name)
        self.accounts.discard(name)
        self.gateway.local("DELETE", f"/1.0/accounts/{name}")
        self.gone.add(name)

    def run(self):
        self.account(ACCOUNTS[0])
        self.gateway.until("the region answers", lambda: self.gateway.api("GET", "/1.0/regions").metadata)
        first = self.session()
        self.account(ACCOUNTS[1])
        self.session()
        self.delete_session(first)
        self.delete_account(ACCOUNTS[1])


class World:
    """A daemon with an application that streams, and a gateway of it."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="svc-test-", dir="/dev/shm")
        self.daemon = harness.Daemon("simulated", "/dev/shm")
        self.gateway = Gateway(self.daemon, self.folder)
        self.client = Client(self.gateway)

    def __enter__(self):
        self.daemon.start()
        self.daemon.succeed(self.daemon.upload("POST", "/1.0/images", workload.A1, name="a"))
        self.daemon.add_addon("svc-streamer", {"manifest.yaml": "name: svc-streamer\n", "hooks/install": harness.hook("true")})
        self.daemon.create_app({"manifest.yaml": "name: alpha\nimage: a\naddons: [svc-streamer]\n"})
        return self

    def __exit__(self, *_):
        self.gateway.end(9)
        self.daemon.close()
        shutil.rmtree(self.folder)

    def instances(self):
        return sorted(record["id"] for record in self.daemon.containers() or [] if record["type"] == "regular")

    def each_has_one(self):
        held = self.gateway.sessions()
        return sorted(filter(None, held.values())) == self.instances() and all(held.values())

    def wrong(self):
        """Leaves a gateway without sessions."""
        gateway, client = self.gateway, self.client
        found = self.accounts_differ()
        gateway.until("the region answers", lambda: gateway.api("GET", "/1.0/regions").metadata)
        found += [f"session {id} is lost" for id in client.sessions - set(gateway.sessions())]
        found += [f"session {id} is there again" for id in client.gone & set(gateway.sessions())]
        gateway.until("each session has one instance", self.each_has_one)
        for id in gateway.sessions():
            gateway.api("DELETE", f"/1.0/sessions/{id}")
        gateway.until("no instance is left", lambda: not gateway.sessions() and not self.instances())
        return found

    def accounts_differ(self):
        """Of those that nobody was told of, any may be there. The first is made anew when its token is not known: to ask with."""
        there = self.gateway.accounts()
        found = [f"account {name} is lost" for name in self.client.accounts - there]
        found += [f"account {name} is there again" for name in self.client.gone & there]
        if not self.gateway.token:
            self.gateway.local("DELETE", f"/1.0/accounts/{ACCOUNTS[0]}")
            self.gateway.token = self.gateway.local("POST", "/1.0/accounts", {"name": ACCOUNTS[0]})["token"]
        return found


def recorded():
    """The names that a life in which nothing happens comes to."""
    with World() as world:
        record = pathlib.Path(world.folder, "record")
        world.gateway.start(SVC_FAILPOINT_RECORD=str(record))
        world.client.run()
        assert world.wrong() == []
        return sorted(set(record.read_text().split()))


def after(point):
    """What is wrong after a death at this point; None: the gateway did not come there."""
    with World() as world:
        try:
            try:
                world.gateway.start(SVC_FAILPOINT=point)
                world.client.run()
                died = False
            except Died:
                died = True
            died = world.gateway.end(15) != 0 or died
            world.gateway.start()
            found = world.wrong()
            return found if died or found else None
        except (Died, AssertionError) as e:
            return [f"{type(e).__name__}: {e}"]


class Walk(unittest.TestCase):
    def test_each_session_has_one_instance_wherever_the_gateway_dies(self):
        chosen = random.Random(seed := lives.seed())
        points = [f"{name}:{number}" for name in recorded() for number in range(1, 9 if lives.LONG else 3)]
        chosen.shuffle(points)
        tried = points if lives.LONG else points[:SAMPLE]
        # They wait for leases most of the time.
        with concurrent.futures.ThreadPoolExecutor(SAMPLE) as together:
            found = dict(zip(tried, together.map(after, tried)))
        missed = [point for point, wrong in found.items() if wrong is None]
        print(f"SVC_TEST_SEED={seed}: {len(tried)} of {len(points)} deaths, points not reached: {missed}", file=sys.stderr)
        self.assertEqual({point: wrong for point, wrong in found.items() if wrong}, {})


if __name__ == "__main__":
    harness.cases.main()
