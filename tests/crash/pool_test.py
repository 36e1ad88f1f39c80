#!/usr/bin/env python3
"""Kills svcd at every failpoint that a pool and its claims come to, starts it again and looks: each accepted launch has an instance of
its own that runs, no instance was handed out twice, and the pool is filled again."""
import concurrent.futures
import sys

import check
import lives
import workload
from service import Died, harness

PLACES = ("pool.", "launch.", "delete.", "engine.accepted", "engine.worked", "engine.finished")
POOL, CLIENTS, SECONDS = 2, 3, 40


class Pools(lives.SimulatedTest):
    def pooled(self, service):
        return [c for c in service.containers() or [] if c.get("pooled")]

    def is_full(self, service):
        return [c["status"] for c in self.pooled(service)] == ["running"] * POOL

    def prepare(self, service):
        service.start()
        service.add_image("a", self.image())
        service.create_app({"manifest.yaml": b"name: alpha\nimage: a\n"}, wait=None)
        service.until("it is made", lambda: service.api("GET", "/1.0/applications/alpha").metadata["status"] == "ready")
        service.settle()
        service.kill(15)

    def image(self):
        path = self.folder / "image.tar.gz"
        path.write_bytes(workload.A1)
        return path

    def launch(self, service):
        """The reply; None: the service has died."""
        try:
            return service.api("POST", "/1.0/containers", {"app_id": "alpha", "tags": ["mine"]})
        except Died:
            return None

    def live(self, service):
        """Fills the pool, and launches more at once than it has. What was accepted."""
        accepted = []
        try:
            service.succeed(service.api("PATCH", "/1.0/applications/alpha", {"pool": {"min": POOL, "max": POOL}}))
            service.until("the pool is full", lambda: self.is_full(service))
            with concurrent.futures.ThreadPoolExecutor(CLIENTS) as clients:
                replies = list(clients.map(lambda _: self.launch(service), range(CLIENTS)))
            accepted = [reply.metadata for reply in replies if reply]
            for operation in accepted:
                service.wait_operation(operation["id"])
            service.until("the pool is full again", lambda: self.is_full(service))
            service.settle()
        except Died:
            pass
        return accepted

    def wrong(self, service, accepted):
        ids = [operation["resources"]["containers"][0].rsplit("/", 1)[1] for operation in accepted]
        found = [f"handed out twice: {sorted(ids)}"] if len(set(ids)) < len(ids) else []
        for operation, id in zip(accepted, ids):
            ended = service.api("GET", f"/1.0/operations/{operation['id']}").metadata
            record = service.container(id)
            if ended["status"] != "Success" or record["status"] != "running" or record.get("pooled") or record["tags"] != ["mine"]:
                found.append(f"launch {ended['status']} {ended['err']}: {record}")
        users = [c["id"] for c in service.containers() or [] if not c.get("pooled")]
        if len(users) > CLIENTS or set(ids) - set(users):
            found.append(f"{users} instead of {ids}")
        return found + check.shared_by_two(service)

    def after(self, point):
        """What is wrong after a death at this point; None: the service did not come there."""
        with lives.Simulated() as service:
            self.prepare(service)
            service.start(SVC_FAILPOINT=point)
            accepted = self.live(service)
            died = service.process is None or service.died()
            service.kill()
            service.start()
            service.settle()
            service.succeed(service.api("PATCH", "/1.0/applications/alpha", {"pool": {"min": POOL, "max": POOL}}))
            service.until("the pool is full", lambda: self.is_full(service))
            service.settle()
            found = self.wrong(service, accepted)
            return found if died or found else None

    def test_nothing_is_lost_or_handed_out_twice_wherever_it_dies(self):
        with lives.Simulated() as service:
            self.prepare(service)
            service.start(SVC_FAILPOINT_RECORD=self.record())
            accepted = self.live(service)
            self.assertEqual(len(accepted), CLIENTS)
            self.assertEqual(self.wrong(service, accepted), [])
        times = self.recorded()
        self.assertIn("pool.claimed", times)
        points = [(f"{name}:{number}",) for name, count in sorted(times.items(), key=lambda each: (not each[0].startswith("pool."), each))
                  if name.startswith(PLACES) for number in range(1, min(count, 8) + 1)]
        found = lives.results(points, self.after, SECONDS)
        print(f"{len(found)} of {len(points)} deaths", file=sys.stderr)
        self.assertEqual(lives.wrong(found), {})


if __name__ == "__main__":
    harness.cases.main()
