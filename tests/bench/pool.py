#!/usr/bin/env python3
"""A launch that takes a pooled instance against one that boots its own, in turns in one run, of the same application.

usage: pool.py [--count N] [--image busybox|debian]     (build first; needs root)

Each counts from the request until the operation has ended. What was launched is removed, and the pool full again, before the next.
"""
import argparse
import statistics
import time

import results
from clients import Api, harness

IMAGES = {"busybox": harness.busybox_image, "debian": harness.debian_image}


class Turns:
    def __init__(self, image):
        self.daemon = harness.Daemon(cpu_allocation_rate=100).start()
        self.daemon.add_image("plain", IMAGES[image]())
        self.daemon.create_app({"manifest.yaml": "name: alpha\nimage: plain\n"})
        self.daemon.succeed(self.daemon.api("PATCH", "/1.0/applications/alpha", {"pool": {"min": 1, "max": 1}}))
        self.api = Api(self.daemon.socket)

    def is_full(self):
        return any(c.get("pooled") and c["status"] == "running" for c in self.daemon.containers() or [])

    def took(self, **fields):
        assert self.daemon.eventually(self.is_full)
        begin = time.monotonic()
        operation = self.api.call("POST", "/1.0/containers", {"app_id": "alpha", **fields})
        took = (time.monotonic() - begin) * 1000
        self.api.call("DELETE", operation["resources"]["containers"][0], {"force": True})
        return took

    def close(self):
        self.daemon.succeed(self.daemon.api("PATCH", "/1.0/applications/alpha", {"pool": {}}))
        self.daemon.remove_instances()
        left = self.daemon.close()
        assert not left, left


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--image", choices=IMAGES, default="busybox")
    options = parser.parse_args()
    turns = Turns(options.image)
    pooled, cold = [], []
    try:
        for _ in range(options.count):
            pooled.append(turns.took())
            cold.append(turns.took(user_data="x"))  # which the pool cannot meet
    finally:
        turns.close()
    results.report(f"Launch from a pool, {options.image} (median of {options.count})", statistics.median(pooled), statistics.median(cold),
                   unit="ms", peer="a launch that boots", mark="40 ms", met=statistics.median(pooled) <= 40, command="tests/bench/pool.py")


if __name__ == "__main__":
    main()
