"""Compares what a service that was started again has with what clients of the earlier one were told."""
import hashlib
import json
import os
import re
import sqlite3

import names
import workload
from service import Events, harness

# What lies in the state directory of a service that holds nothing.
KEPT = re.compile(r"""audit\.log|svc\.db(-wal|-shm|\.lock|\.reserve)?|lock|tokens\.key|(audit-)?events/(numbers|complete|\d{20}\.events)|server/.*|agent/server\.unix|
                      agent-[0-9a-f]{32}/server\.unix|simulated/(containers\.log|boot_id)|lxc/(id_base|svc-agent|seccomp)""", re.X)
EMPTY_RECORDS = re.compile(r"config/.*|nodes/.*|operations/.*")


def problems(service, client):
    """After a restart: texts, none when all is well. Leaves a service without objects, which has ended."""
    found = []
    service.settle()
    found += compare(service, client)
    found += operations_differ(service, client)
    found += packages_differ(service)
    found += shared_by_two(service)
    delete_everything(service)
    found += events_differ(service, client)
    found += left_in_store(service)
    service.kill(15)
    found += left_on_disk(service)
    return found


def compare(service, client):
    wanted = [client.known]
    if client.step is not None:
        wanted = outcomes(service, client)
    loose = {"instance fifth"}

    def fits(seen):
        unsure = loose | failed(service, client, seen)
        return any(comparable(service, seen, unsure) == comparable(service, each, unsure) for each in wanted)
    try:
        service.until("the records are what was told", lambda: fits(workload.observe(service)))
        return []
    except AssertionError:
        seen = workload.observe(service)
        return [f"in step '{client.step.name if client.step else 'none'}': " + "; or ".join(
            ", ".join(f"{key} is {seen.get(key)} instead of {each.get(key)}" for key in sorted({*seen, *each} - loose)
                      if seen.get(key) != each.get(key)) for each in wanted)]


def failed(service, client, seen):
    """Keys of what may have failed in the step that was under way, and has: a client that saw a failure does not know more; no
    bootstrap goes on whose guest went with the power."""
    if not client.step or not client.tolerant and service.keeps_guests:
        return set()
    kinds = ("base ", "application ") if not client.tolerant else ("",)
    mine = {key for key in seen if key in client.step.after or key.startswith("base ")}
    return {key for key in mine if key.startswith(kinds) and "error" in str(seen[key])}


def outcomes(service, client):
    """How the step that was under way may have ended."""
    before, after = client.known, workload.changed(client.known, client.step.after)
    if client.operation is None:
        return [before, after]
    reply = service.api("GET", f"/1.0/operations/{client.operation}")
    if reply.status != 200:
        return [{"accepted operation": "is unknown"}]
    ended = reply.metadata["status_code"] == workload.SUCCESS
    if not ended and client.step.lasting and not client.step.either and not client.step.fails and not client.tolerant:
        return [{"accepted operation": f"{client.step.name} failed: {reply.metadata['err']}"}]
    if not ended and client.tolerant:
        return [before, after]  # what the request stored with its operation stays
    return [after if ended else before]


def without(seen, keys):
    return {key: value for key, value in seen.items() if key not in keys}


def comparable(service, seen, keys):
    """No guest outlives a power failure: then an instance is there, in whatever status."""
    return {key: "there" if key.startswith("instance ") and not service.keeps_guests else value
            for key, value in without(seen, keys).items()}


def operations_differ(service, client):
    found = []
    for operation, code in client.told:
        reply = service.api("GET", f"/1.0/operations/{operation}")
        now = reply.metadata["status_code"] if reply.status == 200 else reply.status
        if now != code:
            found.append(f"operation {operation} had ended with {code} and has {now} now")
    return found


def packages_differ(service):
    """What can be seen was verified."""
    wanted, found = set(), []
    for kind in ("images", "addons"):
        for record in service.api("GET", f"/1.0/{kind}?recursion=1").metadata or []:
            wanted |= {v["fingerprint"] for v in record["versions"] if v.get("status", "active") == "active"}
    for fingerprint in wanted:
        path = service.state / "blobs" / fingerprint[:2] / fingerprint
        if not path.exists():
            found.append(f"package {fingerprint} is not there")
        elif hashlib.sha256(path.read_bytes()).hexdigest() != fingerprint:
            found.append(f"package {fingerprint} has other bytes")
    return found


def shared_by_two(service):
    found, taken = [], {}
    for record in service.containers() or []:
        held = [f"address {record['address']}"] if record.get("address") else []
        held += [f"port {port}" for s in record.get("services") or [] for port in [s.get("node_port")] if port]
        held += [f"name {record['name']}", f"id {record['id']}"]
        for thing in held:
            if taken.setdefault(thing, record["id"]) != record["id"]:
                found.append(f"{thing} belongs to {taken[thing]} and {record['id']}")
    return found


def names_in(folders):
    """Names of the failpoints of some folders."""
    return {name for name, places in names.names().items() if places[0].startswith(tuple(f"{folder}/" for folder in folders))}


def delete_everything(service, keep=()):
    for record in service.containers() or []:
        snapshots = f"/1.0/instances/{record['id']}/snapshots"
        for snapshot in service.api("GET", snapshots + "?recursion=1").metadata or []:
            service.remove(f"{snapshots}/{snapshot['id']}")
    for certificate in service.api("GET", "/1.0/certificates").metadata or []:
        service.remove(certificate)
    for kind in ("containers", "applications", "addons", "images"):
        if kind not in keep:
            service.until(f"no {kind} are left", lambda: none_left(service, kind))
    service.settle()


def none_left(service, kind):
    """Asks for the deletion of what is there: a service that goes on with something refuses until that is done."""
    left = service.api("GET", f"/1.0/{kind}").metadata or []
    for url in left:
        service.remove(url)
    return not left


def events_differ(service, client):
    """Whoever asks again gets what was sent before under the same numbers, and no number is left out or used twice."""
    last = Events(service)
    service.api("PATCH", "/1.0/config", {"name": "images.update_interval", "value": "7m"})
    with last.changed:
        last.changed.wait_for(lambda: any("7m" in json.dumps(e) or e["type"] == "operation" and e["metadata"]["status"] == "Success"
                                          and e["metadata"]["description"] == "Applying configuration" for e in last.received[-3:]), 10)
    now = last.stop()
    # Nobody has seen an event before the first gap: the first start did not get as far as to keep one.
    found = [f"gap in the events: {event['metadata']}" for event in now[1:] if event["type"] == "gap" and service.keeps_events]
    numbers = [event["sequence"] for event in now if "sequence" in event]
    found += [f"after event {a} comes {b}" for a, b in zip(numbers, numbers[1:])
              if b <= a or service.keeps_events and b != a + 1]
    kept = {event["sequence"]: event for event in now if "sequence" in event}
    for event in client.events.received if client.events else []:
        if kept.get(event["sequence"], None if service.keeps_events else event) != event:
            found.append(f"event {event['sequence']} was {event} and is {kept.get(event['sequence'])}")
            break
    return found + (untold(now) if service.keeps_events else [])


def untold(events):
    """The end of each instance that was announced is announced."""
    actions = {}
    for event in events:
        if event["type"] == "lifecycle":
            actions.setdefault(event["metadata"]["source"], []).append(event["metadata"]["action"])
    return [f"{source} is gone, and its events are {told}" for source, told in actions.items()
            if "container-created" in told and told[-1] != "container-removed"]


def left_in_store(service):
    with sqlite3.connect(f"file:{service.state}/svc.db?mode=ro", uri=True) as store:
        found = [f"store: {text}" for (text,) in store.execute("PRAGMA integrity_check") if text != "ok"]
        found += [f"record {key} is left" for (key,) in store.execute("SELECT key FROM entries") if not EMPTY_RECORDS.fullmatch(key)]
    store.close()
    return found


def left_on_disk(service):
    found = []
    for folder, folders, names in os.walk(service.state):
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), service.state)
            if not KEPT.fullmatch(path):
                found.append(f"file {path} is left")
    sockets = [name for name in os.listdir(service.state) if name.startswith("agent-")]
    return found + ([f"folders {sockets} are left"] if len(sockets) > 1 else [])
