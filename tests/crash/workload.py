"""What a client does to a service, step by step, and what it may rely on when the service dies on the way."""
import hashlib

from service import GONE, PATIENCE, Events, harness

SUCCESS = 200


def image(text):
    return harness.package({"metadata.yaml": "architecture: x86_64\ncreation_date: 1\n", "rootfs/etc/text": text}, "gz")


def addon(text):
    return harness.package({"manifest.yaml": "name: one\n", "hooks/install": harness.hook("echo " + text)})


def application(text):
    return harness.package({"manifest.yaml": "name: alpha\nimage: a\naddons: [one]\n", "text": text})


def digest(package):
    return hashlib.sha256(package).hexdigest()


# What a service is like that was never asked for anything.
FRESH = {"config": {"application.auto_publish": True, "images.update_interval": "5m"}, "certificates": 0, "node tags": []}


class Step:
    """`ask(client)` sends one request. `after`: what has another value once it is done; None: it is gone. `lasting`: the
    operation is finished by the next process when the service dies. `either`: it may end well or not."""

    def __init__(self, name, ask, after, lasting=True, either=False, fails=False):
        self.name, self.ask, self.after = name, ask, after
        self.lasting, self.either, self.fails = lasting, either, fails


def observe(service):
    """What a client sees of the objects that the workload makes: one value each."""
    seen = {}
    for record in service.api("GET", "/1.0/images?recursion=1").metadata or []:
        seen[f"image {record['name']}"] = (record["status"], [(v["version"], v["fingerprint"], v["status"])
                                                               for v in record["versions"]])
    for record in service.api("GET", "/1.0/addons?recursion=1").metadata or []:
        seen[f"addon {record['name']}"] = [v["fingerprint"] for v in record["versions"]]
    for record in service.api("GET", "/1.0/applications?recursion=1").metadata or []:
        seen[f"application {record['name']}"] = (record["status"], [v["status"] for v in record["versions"]])
        seen[f"tags {record['name']}"] = record["tags"] or []
    for record in service.api("GET", "/1.0/containers?recursion=1").metadata or []:
        if record["type"] == "regular":
            seen[f"instance {record['name']}"] = "paused" if record.get("paused") else record["status"]
            if "idle_after" in record:
                seen[f"limit {record['name']}"] = record["idle_after"]
            for snapshot in service.api("GET", f"/1.0/instances/{record['id']}/snapshots?recursion=1").metadata or []:
                seen[f"snapshot {record['name']}/{snapshot['name']}"] = snapshot["status"]
        else:
            seen[f"base {record['id']}"] = record["status"]
    config = service.api("GET", "/1.0/config").metadata["config"]
    seen["config"] = {name: config[name] for name in ("application.auto_publish", "images.update_interval")}
    seen["certificates"] = len(service.api("GET", "/1.0/certificates").metadata or [])
    for record in service.api("GET", "/1.0/nodes?recursion=1").metadata or []:
        seen["node tags"] = record["tags"] or []
    return seen


class Client:
    """Goes through the steps and keeps the history: `known` is what it was told, `step` and `reply` where it was when the
    service died. A tolerant one stops at the first failure, like a client that was told no."""

    def __init__(self, service, tolerant=False):
        self.service, self.tolerant, self.ids = service, tolerant, {}
        self.known, self.step, self.operation, self.told = FRESH, None, None, []
        self.events = None

    def run(self, steps):
        self.events = Events(self.service)
        try:
            for step in steps:
                self.take(step)
        except (AssertionError, *GONE):
            if not self.tolerant:
                raise

    def take(self, step):
        self.step, self.operation = step, None
        reply = step.ask(self)
        if reply.status == 202:
            self.operation = reply.metadata["id"]
            record = self.service.wait_operation(self.operation, PATIENCE)
            self.told.append((self.operation, record["status_code"]))
            self.check_end(step, record)
            if record["status_code"] != SUCCESS:
                self.step = None
                return
        else:
            assert reply.status in (200, 201), f"{step.name}: {reply.status} {reply.raw}"
        self.known = changed(self.known, step.after)
        self.settle_step(step)
        self.step = None

    def check_end(self, step, record):
        good = record["status_code"] == SUCCESS
        assert step.either or good != step.fails, f"{step.name}: {record['status']} {record['err']}"

    def settle_step(self, step):
        """What goes on by itself after the operation, until it is as the step says."""
        if step.after:
            self.service.until(f"{step.name}: {step.after}", lambda: self.reached(step))

    def reached(self, step):
        seen = observe(self.service)
        assert not self.tolerant or not any("error" in str(seen.get(key)) for key in step.after), step.name
        return all(seen.get(key) == value for key, value in step.after.items())

    def launch(self, name, body, query=""):
        reply = self.service.api("POST", "/1.0/containers" + query, {"name": name, **body})
        if reply.status == 202:
            self.ids[name] = reply.metadata["resources"]["containers"][0].rsplit("/", 1)[1]
        return reply

    def id(self, name):
        return self.ids[name]


def changed(known, after):
    result = dict(known)
    for key, value in after.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = value
    return result


A1, A2, O1, O2, P1 = image("1"), image("2"), addon("1"), addon("2"), application("1")
ACTIVE_1 = ("active", [(0, digest(A1), "active")])
ACTIVE_2 = ("active", [(0, digest(A1), "active"), (1, digest(A2), "active")])
RAW = {"image_id": "a", "instance_type": "a2.3"}
PORTS = [{"name": "web", "port": 80, "protocols": ["tcp"]}, {"name": "dns", "port": 53, "protocols": ["udp"], "expose": True}]


def status(name, value):
    return lambda c: c.service.api("PATCH", f"/1.0/containers/{c.id(name)}", {"desired_status": value})


def remove(name, force):
    return lambda c: c.service.api("DELETE", f"/1.0/containers/{c.id(name)}", {"force": force})


def cancelled_launch(c):
    reply = c.launch("fifth", RAW)
    if reply.status == 202:
        c.service.api("DELETE", f"/1.0/operations/{reply.metadata['id']}")
    return reply


def steps(certificate):
    return [
        Step("upload an image", lambda c: c.service.upload("POST", "/1.0/images", A1, name="a"), {"image a": ACTIVE_1}),
        Step("add an addon", lambda c: c.service.upload("POST", "/1.0/addons", O1, name="one"), {"addon one": [digest(O1)]}, False),
        Step("create an application", lambda c: c.service.upload("POST", "/1.0/applications", P1),
             {"application alpha": ("ready", ["active"]), "tags alpha": []}, False),
        Step("launch", lambda c: c.launch("first", {**RAW, "services": PORTS}), {"instance first": "running"}),
        Step("launch without waiting", lambda c: c.launch("second", {"app_id": "alpha"}, "?no_wait=true"), {"instance second": "running"}),
        Step("pause", status("first", "paused"), {"instance first": "paused"}),
        Step("resume", status("first", "running"), {"instance first": "running"}),
        Step("configure", lambda c: c.service.api("PATCH", "/1.0/config", {"name": "images.update_interval", "value": "10m"}),
             {"config": {"application.auto_publish": True, "images.update_interval": "10m"}}, False),
        Step("tag the node", lambda c: c.service.api("PATCH", "/1.0/nodes/" + c.service.node(), {"tags": ["big"]}),
             {"node tags": ["big"]}, False),
        Step("stop", status("first", "stopped"), {"instance first": "stopped"}),
        Step("take a snapshot", lambda c: c.service.api("POST", f"/1.0/instances/{c.id('first')}/snapshots", {"name": "kept"}),
             {"snapshot first/kept": "ready"}),
        Step("restore", lambda c: c.service.api("POST", f"/1.0/instances/{c.id('first')}/snapshots/kept/restore", {}), {}),
        Step("launch from the snapshot", lambda c: c.launch("third", {"snapshot": c.service.api(
            "GET", f"/1.0/instances/{c.id('first')}/snapshots/kept").metadata["id"]}), {"instance third": "running"}),
        Step("start", status("first", "running"), {"instance first": "running"}),
        Step("upload a newer image", lambda c: c.service.upload("PATCH", "/1.0/images/a", A2),
             {"image a": ACTIVE_2, "application alpha": ("ready", ["active", "active"])}),
        Step("upload a newer addon", lambda c: c.service.upload("PATCH", "/1.0/addons/one", O2),
             {"addon one": [digest(O1), digest(O2)], "application alpha": ("ready", ["active"] * 3)}, False),
        Step("tag the application", lambda c: c.service.api("PATCH", "/1.0/applications/alpha", {"tags": ["t"]}), {"tags alpha": ["t"]},
             False),
        Step("launch where there is no room", lambda c: c.launch("fourth", {**RAW, "memory": 1 << 60}), {}, fails=True),
        Step("launch and cancel", cancelled_launch, {}, either=True),
        Step("trust", lambda c: c.service.api("POST", "/1.0/certificates", {"certificate": certificate}), {"certificates": 1}),
        Step("distrust", lambda c: c.service.api("DELETE", c.service.api("GET", "/1.0/certificates").metadata[0]), {"certificates": 0},
             False),
        Step("limit", lambda c: c.service.api("PATCH", f"/1.0/instances/{c.id('second')}", {"idle_after": "4h"}), {"limit second": "4h"}),
        Step("delete by force", remove("third", True), {"instance third": None}),
        Step("delete the snapshot", lambda c: c.service.api("DELETE", f"/1.0/instances/{c.id('first')}/snapshots/kept"),
             {"snapshot first/kept": None}),
        Step("delete", remove("first", False), {"instance first": None}),
        Step("delete the other", remove("second", False), {"instance second": None, "limit second": None}),
        Step("delete the application", lambda c: c.service.api("DELETE", "/1.0/applications/alpha"),
             {"application alpha": None, "tags alpha": None}, False),
        Step("delete the addon", lambda c: c.service.api("DELETE", "/1.0/addons/one"), {"addon one": None}, False),
        Step("delete the image", lambda c: c.service.api("DELETE", "/1.0/images/a"), {"image a": None}, False),
    ]


def refusal(client, step):
    """What the client is told when the step fails; None: it is done."""
    try:
        client.take(step)
    except AssertionError as e:
        return str(e)
