#!/usr/bin/env python3
"""Several gateways on one etcd, and a region with several managers: real processes that are killed. Only the instances are played."""
import pathlib
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402
import cluster  # noqa: E402
from cluster import harness, until  # noqa: E402
from gateways import Gateway, Gateways, Instance  # noqa: E402
from websocket import WebSocket  # noqa: E402

IMAGE = harness.package({"metadata.yaml": "architecture: x86_64\ncreation_date: 1\n", "rootfs/etc/text": "1"}, "gz")
APP = {"manifest.yaml": "name: desktop\ninstance-type: a2.3\nimage: base\n"}
SOON = 1  # seconds until every gateway knows an account, on a machine that is not busy


def prepared(managers):
    manager = managers[0]
    manager.succeed(manager.upload("POST", "/1.0/images", IMAGE, name="base"))
    id = manager.create_app(APP)
    manager.succeed(manager.api("PATCH", f"/1.0/applications/{id}/0", {"published": True}))


class Session:
    """One that was made at `gateway`, and its instance."""

    def __init__(self, etcd, gateway, token):
        self.gateway, self.token = gateway, token
        reply = until("a session is made", lambda: self.make(gateway, token))
        self.id = reply.metadata["id"]
        self.instance = Instance(etcd, self.id)

    @staticmethod
    def make(gateway, token):
        reply = gateway.api(token, "POST", "/1.0/sessions", {"app": "desktop", "joinable": True})
        if reply.status == 400 and "is unknown" in reply.error:  # the region is asked every few seconds
            return None
        assert reply.status == 201, reply.raw
        return reply

    def join(self, gateway):
        """A client by that gateway; returns its socket once both ends have heard of each other."""
        reply = gateway.api(self.token, "POST", f"/1.0/sessions/{self.id}/join", {})
        assert reply.status == 200, reply.raw
        url = reply.metadata["url"]
        assert f":{gateway.port}/" in url, url
        client = WebSocket(url)
        joined = self.instance.await_message("ctl:client-joined")
        client.send(type="discover")
        assert self.instance.await_message("discover")["client_id"] == joined["client_id"]
        self.instance.socket.send(type="resp:discover", client_id=joined["client_id"], max_api_version=2)
        assert client.receive() == {"type": "resp:discover", "max_api_version": 2}
        return client


@unittest.skipUnless(cluster.available(), "needs etcd")
class SeveralGateways(unittest.TestCase):
    def test_sessions_outlive_the_gateway_that_works_for_them(self):
        with cluster.Cluster(1) as managers, Gateways(managers.etcd, managers.managers) as gateways:
            prepared(managers.managers)
            leader, (first, second) = gateways.leader(), gateways.followers()
            self.assertEqual(1, len({gateway.certificate() for gateway in gateways.gateways}))
            token = self.account_is_known_everywhere(first, gateways)
            session = Session(managers.etcd, first, token)
            session.instance.connect()
            second.await_status(token, session.id, "active")
            session.join(second).close()

            leader.kill()
            begin = time.monotonic()
            next_leader = gateways.leader()
            print(f"another gateway leads after {time.monotonic() - begin:.1f} s")
            for gateway in (first, second):
                self.assertEqual("active", gateway.session(token, session.id)["status"])
            session.instance.connect()
            for gateway in (first, second):
                session.join(gateway).close()
            later = Session(managers.etcd, next(g for g in (first, second) if g is not next_leader), token)
            later.instance.connect()
            next_leader.await_status(token, later.id, "active")

            leader.start()
            self.assertEqual("active", leader.session(token, later.id)["status"])
            self.assertEqual(200, leader.api(token, "DELETE", f"/1.0/sessions/{later.id}?sync=true").status)

    def account_is_known_everywhere(self, gateway, gateways):
        token = gateway.local("POST", "/1.0/accounts", {"name": "alice"}).metadata["token"]
        for other in gateways.gateways:
            until(f"{other.name} knows the account", lambda g=other: g.api(token, "GET", "/1.0/sessions").status == 200, 60)
        passing = gateways.leader().local("POST", "/1.0/accounts", {"name": "bob"}).metadata["token"]
        begin = time.monotonic()
        until("followers know it", lambda: all(g.api(passing, "GET", "/1.0/sessions").status == 200 for g in gateways.followers()))
        print(f"an account is known after {time.monotonic() - begin:.2f} s; goal: {SOON} s")
        self.assertEqual(200, gateway.local("DELETE", "/1.0/accounts/bob").status)
        until("nobody knows it", lambda: all(g.api(passing, "GET", "/1.0/sessions").status == 401 for g in gateways.gateways))
        return token


@unittest.skipUnless(cluster.available(), "needs etcd")
class Start(unittest.TestCase):
    def test_a_gateway_waits_for_etcd(self):
        etcd = cluster.Etcd()
        self.addCleanup(etcd.close)
        gateway = Gateway("g1", etcd, [], regions=[])
        self.addCleanup(gateway.close)
        gateway.begin()
        gateway.await_word("waiting for etcd")
        etcd.start()
        gateway.await_word("ready")
        gateway.process.terminate()
        self.assertEqual(0, gateway.process.wait(timeout=cluster.PATIENCE), gateway.log())


@unittest.skipUnless(cluster.available(), "needs etcd")
class RegionWithSeveralManagers(unittest.TestCase):
    def test_sessions_go_on_when_the_manager_that_is_asked_dies(self):
        with cluster.Cluster(3) as managers, Gateways(managers.etcd, managers.managers, size=1) as gateways:
            gateway, asked = gateways.gateways[0], managers.managers[0]
            prepared(managers.managers)
            # Instances of a machine whose manager is dead cannot be read: all are elsewhere.
            asked.succeed(asked.api("PATCH", f"/1.0/nodes/{asked.name}", {"unscheduable": True}))
            token = gateway.local("POST", "/1.0/accounts", {"name": "alice"}).metadata["token"]
            before = Session(managers.etcd, gateway, token)
            before.instance.connect()
            gateway.await_status(token, before.id, "active")

            asked.kill()
            during = Session(managers.etcd, gateway, token)
            during.instance.connect()
            gateway.await_status(token, during.id, "active")
            for session in (before, during):
                self.instance_is_deleted(managers.living()[0], session)
                until("the session has ended", lambda s=session: gateway.api(token, "GET", f"/1.0/sessions/{s.id}").status == 404)

    def instance_is_deleted(self, manager, session):
        """At the management service: the gateway hears of it by the events that it follows."""
        tagged = lambda: [r for r in manager.api("GET", "/1.0/instances?recursion=1").metadata or []  # noqa: E731
                          if f"session={session.id}" in r["tags"]]
        id = until("the instance is known", tagged)[0]["id"]
        until("its deletion is asked for",
              lambda: manager.api("DELETE", f"/1.0/instances/{id}", {"force": True}).status == 202)


if __name__ == "__main__":
    cases.main()
