"""Clients that ask random managers for changes of their own objects, one after the other, and write down what they are told."""
import hashlib
import http.client
import json
import pathlib
import random
import sys
import threading
import time

from history import ABSENT

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from cluster import harness  # noqa: E402

SUCCESS = 200
LOST = (ConnectionError, OSError, EOFError, json.JSONDecodeError, http.client.HTTPException)
NOT_KNOWN = (500, 503)  # the change may have been made, or may still be
DONE, FAILED, REFUSED, UNKNOWN = "done", "failed", "refused", "unknown"
ATTEMPTS = 200  # to learn how an operation has ended
WAIT = 20  # seconds, of one attempt
PATIENCE = 45  # seconds, with a manager that does not answer: a stopped one never does
NOT_STARTED = ("error", "running")  # one that has failed since its node was away goes on when that is back
SHARED = 20  # names that all clients want


def addon(text):
    return harness.package({"manifest.yaml": "name: one\n", "hooks/install": harness.hook("echo " + text)})


class Client(threading.Thread):
    """`managers()`: those that may be asked now, dead ones as well. Ends when `enough` is set, between two changes."""

    def __init__(self, number, seed, managers, history, enough):
        super().__init__()
        self.number, self.managers, self.history, self.enough = number, managers, history, enough
        self.random, self.made, self.unknown, self.failure = random.Random(f"{seed}-{number}"), 0, 0, None

    def run(self):
        try:
            while not self.enough.is_set():
                self.random.choice([self.launch, self.launch, self.stop, self.start_again, self.delete, self.addon, self.addon_version,
                                    self.remove_addon, self.shared_addon])()
        except Exception as e:  # an answer that nobody expects: told at the end, by the test
            self.failure = e
            raise

    # What is asked for

    def launch(self):
        thing = self.new("instance")
        body = {"name": name_of(thing), "image_id": "base", "instance_type": "a2.3", "cpu": 1, "memory": 1 << 20, "disk_size": 1 << 20,
                "services": [{"name": "web", "port": 80, "protocols": ["tcp"]}]}
        self.change(thing, "running", "POST", "/1.0/containers", body, failed=NOT_STARTED)

    def stop(self):
        self.set_status("running", "stopped")

    def start_again(self):
        self.set_status("stopped", "running", failed=NOT_STARTED)

    def set_status(self, before, after, failed=()):
        thing = self.one_that_is("instance", before)
        if thing:
            self.change(thing, after, "PATCH", f"/1.0/containers/{name_of(thing)}", {"desired_status": after}, failed)

    def delete(self):
        thing = self.one_that_is("instance", "running", "stopped", "error")
        if thing:
            self.change(thing, ABSENT, "DELETE", f"/1.0/containers/{name_of(thing)}", {"force": True}, failed=("error",))

    def addon(self):
        self.upload(self.new("addon"), "POST", "/1.0/addons", ())

    def addon_version(self):
        thing = self.one_of("addon")
        if thing:
            self.upload(thing, "PATCH", f"/1.0/addons/{name_of(thing)}", next(iter(self.history.states(thing))))

    def remove_addon(self):
        thing = self.one_of("addon")
        if thing:
            self.change(thing, ABSENT, "DELETE", f"/1.0/addons/{name_of(thing)}")

    def upload(self, thing, method, path, before):
        data = addon(f"{thing} {self.random.random()}")
        after = (*before, hashlib.sha256(data).hexdigest())
        self.change(thing, after, method, path, data, headers=self.upload_headers(thing, data))

    def upload_headers(self, thing, data):
        return {"Content-Type": "application/octet-stream", "X-SVC-Request": json.dumps({"name": name_of(thing)}),
                "X-SVC-Fingerprint": hashlib.sha256(data).hexdigest()}

    def shared_addon(self):
        """One of all clients gets the name; each has the same package."""
        thing = f"addon shared-{self.random.randrange(SHARED)}"
        data = addon(thing)
        after = (hashlib.sha256(data).hexdigest(),)
        if self.history.states(thing) != {after}:
            self.history.unsure(thing, after)
        manager = self.manager()
        answer = self.ask(manager, "POST", "/1.0/addons", data, self.upload_headers(thing, data))
        if self.outcome(manager, answer)[0] == DONE:
            self.history.wins(thing, f"client {self.number}")
            self.history.done(thing, after)

    # What is answered

    def change(self, thing, after, method, path, body=None, failed=(), headers=None):
        """Asks once. `failed`: states that it may also have when the operation has failed."""
        manager, before = self.manager(), self.history.states(thing)
        self.history.unsure(thing, after, *failed)
        answer = self.ask(manager, method, path, body, headers)
        if thing.startswith("instance") and method == "POST" and answer is not None and answer.status == 202:
            self.history.told_id(thing, answer.metadata["resources"]["containers"][0].rsplit("/", 1)[1])
        outcome, teller = self.outcome(manager, answer)
        if outcome == DONE:
            self.history.done(thing, after)
            self.read(teller, thing)
        elif outcome == REFUSED:
            self.history.refused(thing, before)
        elif outcome == FAILED:
            self.history.refused(thing, {*before, *failed})

    def outcome(self, manager, answer):
        """What has become of it, and the manager that told."""
        if answer is None or answer.status in NOT_KNOWN:
            self.unknown += 1
            return UNKNOWN, manager
        if answer.status == 202:
            return self.end_of(answer.metadata["id"])
        assert answer.status in (200, 400, 404, 409), f"{answer.status}: {answer.raw}"
        return DONE if answer.status == 200 else REFUSED, manager

    def end_of(self, operation):
        """Asks any manager, and another when that one does not answer."""
        self.history.accepted(operation)
        for _ in range(ATTEMPTS):
            manager = self.manager()
            reply = self.ask(manager, "GET", f"/1.0/operations/{operation}/wait?timeout={WAIT}")
            if reply is None or reply.status in NOT_KNOWN:
                time.sleep(0.05)  # it is being started again
            elif reply.status != 200:
                self.history.wrong.append(f"{manager.name}: accepted operation {operation}: {reply.status}")
                return UNKNOWN, manager
            elif reply.metadata["status_code"] >= SUCCESS:
                self.history.ended(operation, reply.metadata["status_code"], manager.name)
                return DONE if reply.metadata["status_code"] == SUCCESS else FAILED, manager
        return UNKNOWN, manager

    def read(self, manager, thing):
        """Who was told of a change sees it at the manager that told."""
        kind, name = thing.split(" ")
        path = f"/1.0/{'containers' if kind == 'instance' else 'addons'}/{name}"
        answer = self.ask(manager, "GET", path)
        there = ABSENT not in self.history.states(thing)
        if answer is not None and answer.status in (200, 404) and (answer.status == 200) != there:
            self.history.wrong.append(f"{manager.name}: {thing} is {'there' if answer.status == 200 else 'absent'} after the change")

    def ask(self, manager, method, path, body=None, headers=None):
        """None: nobody knows what has become of the request."""
        try:
            return manager.api(method, path, body, headers, timeout=PATIENCE)
        except LOST:
            return None

    # Whom, and what

    def manager(self):
        return self.random.choice(self.managers())

    def new(self, kind):
        self.made += 1
        return f"{kind} c{self.number}-{self.made}"

    def mine(self, kind):
        return sorted(thing for thing in list(self.history.may) if thing.startswith(f"{kind} c{self.number}-"))

    def one_that_is(self, kind, *states):
        """One of my objects whose state is known, and one of these."""
        fitting = [t for t in self.mine(kind) if len(self.history.states(t)) == 1 and self.history.states(t) <= set(states)]
        return self.random.choice(fitting) if fitting else None

    def one_of(self, kind):
        there = [t for t in self.mine(kind) if len(self.history.states(t)) == 1 and ABSENT not in self.history.states(t)]
        return self.random.choice(there) if there else None


def name_of(thing):
    return thing.split(" ", 1)[1]
