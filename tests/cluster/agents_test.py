#!/usr/bin/env python3
"""Agents of real containers when the manager of their machine has died: they report to another one."""
import json
import pathlib
import re
import urllib.request

from on_machines import OnMachines, cases, harness, until

WAIT = harness.hook("[ $INSTANCE_TYPE = base ] && exit 0; touch /waiting; while [ ! -e /go ]; do sleep 0.1; done")


class Agents(OnMachines):
    settings = {"metrics_listen": "0.0.0.0:20002"}

    def clean(self):
        super().clean()
        for url in self.managers[0].api("GET", "/1.0/applications").metadata:
            self.managers[0].remove(url)

    def reports(self, manager):
        """How many have come to it by TLS."""
        with urllib.request.urlopen(f"http://{manager.address}:20002/internal/1.0/metrics", timeout=harness.PATIENCE) as scrape:
            text = scrape.read().decode()
        found = re.search(r'^svc_http_requests_total{handler="https_internal_containers_PATCH",[^}]*} (\d+)$', text, re.M)
        return int(found[1])

    def test_a_report_goes_to_another_manager_when_the_own_one_has_died(self):
        leader = self.cluster.leader()
        home, other = self.cluster.followers()
        app = leader.create_app({"manifest.yaml": "name: waits\nimage: busybox\n", "hooks/post-start": WAIT})
        started = other.api("POST", "/1.0/containers", {"app_id": app, "node": home.name})
        id = started.metadata["resources"]["containers"][0].rsplit("/", 1)[1]
        guest = until("the guest runs", lambda: next((init for init in self.inits() if init.id == id), None))
        root = pathlib.Path(f"/proc/{guest.pid}/root")
        until("the agent's hook runs", (root / "waiting").exists)
        session = json.loads((root / "var/lib/svc-agent/session.json").read_text())
        self.assertEqual(session["service_urls"], [f"https://{m.address}:8444" for m in self.managers])
        before = self.reports(leader) + self.reports(other)
        home.kill()
        self.addCleanup(home.start)
        (root / "go").touch()
        self.assertEqual(leader.wait(started)["status_code"], 200)
        self.assertGreater(self.reports(leader) + self.reports(other), before)


if __name__ == "__main__":
    cases.main()
