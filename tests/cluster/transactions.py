"""What etcd has committed, transaction by transaction."""
import base64
import json
import os
import subprocess
import threading

import cluster


def revision(etcd):
    answer = etcd.control("get", "none", "--write-out", "json")
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout)["header"]["revision"]


def committed(etcd, after, until):
    """The keys that each transaction has changed, of the revisions from `after` + 1 to `until`."""
    found = {}
    if until == after:
        return []
    watch = subprocess.Popen([cluster.ETCDCTL, "--endpoints", etcd.endpoints, "watch", "--prefix", "/svc/", "--rev", str(after + 1), "--write-out",
                              "json"], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, env={**os.environ, "ETCDCTL_API": "3"})
    limit = threading.Timer(cluster.PATIENCE, watch.kill)
    limit.start()
    try:
        for line in watch.stdout:
            for event in json.loads(line)["Events"]:
                found.setdefault(event["kv"]["mod_revision"], []).append(base64.b64decode(event["kv"]["key"]).decode())
            if max(found) >= until:
                return [keys for number, keys in sorted(found.items()) if number <= until]
    finally:
        limit.cancel()
        watch.kill()
        watch.wait()
        watch.stdout.close()
    raise AssertionError(f"etcd does not tell revision {until}: {found}")
