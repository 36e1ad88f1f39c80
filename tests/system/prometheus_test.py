#!/usr/bin/env python3
"""Debian's Prometheus scrapes all there is; its own tools judge names, rules and configuration."""
import http.client
import json
import pathlib
import re
import shutil
import signal
import ssl
import subprocess
import sys
import time
import unittest
import urllib.parse

import harness

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cluster  # noqa: E402

MONITORING = harness.ROOT / "docs/monitoring"
SVC_METRICS = harness.BUILD / "server/metrics-agent/svc-metrics"
FRAMES = "frames_encoded=900i,key_frames_encoded=30i,total_encode_time=4.5,target_bitrate=3000000i"
TRAFFIC = ("bytes_sent=1000i,retransmitted_bytes_sent=10i,retransmitted_packets_sent=1i,total_packet_send_delay=0.5,"
           "packets_sent=100i,nack_count=1i,fir_count=0i,pli_count=0i,sli_count=0i,relay_in_use=false")


def fetch(address, path, context=None):
    connection = (http.client.HTTPSConnection(address, context=context, timeout=60) if context else
                  http.client.HTTPConnection(address, timeout=60))
    connection.request("GET", path)
    response = connection.getresponse()
    body = response.read().decode()
    connection.close()
    return response.status, body


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **options)


class Program:
    """A program that says on stderr when it is ready; its log stays in a file."""

    def __init__(self, command, log, ready):
        self.log = open(log, "wb")
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        with open(log, "rb") as written:
            text = b""
            while ready not in text:
                assert self.process.poll() is None, text
                text += written.read()
        self.line = next(line for line in text.decode().splitlines() if ready.decode() in line)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=60)
        self.log.close()


@unittest.skipUnless(shutil.which("prometheus") and shutil.which("promtool"), "needs the package prometheus")
@unittest.skipUnless(cluster.available(), "needs the packages etcd-server and etcd-client")
class Prometheus(harness.DaemonTest):
    settings = {"metrics_listen": "127.0.0.1:0", "hypervisor_listen": "127.0.0.1:0"}

    @classmethod
    def prepare(cls):
        daemon = cls.daemon
        cls.programs = []
        cls.managers = cluster.Cluster(2, metrics_listen="127.0.0.1:0")
        cls.addClassCleanup(cls.managers.close)
        cls.managers.__enter__()
        daemon.add_image()
        daemon.create_app({"manifest.yaml": "name: greeter\ninstance-type: a2.3\nimage: busybox\n"})
        cls.management = next(a for a in daemon.addresses if a.startswith("http://"))[len("http://"):]
        cls.hypervisor = next(a for a in daemon.addresses if a.endswith("/1.0/metrics"))[len("https://"):].split("/")[0]
        cls.make_certificate()
        # On the bridge: where instances reach it.
        bridge = daemon.subnet.split("/")[0]
        agent = cls.start([SVC_METRICS, "--listen", f"{bridge}:0", "--metrics-listen", "127.0.0.1:0"], "agent", b"ready")
        cls.write_address = re.search(r"udp://(\S+)", agent.line).group(1)
        cls.streaming = re.search(r"http://(\S+)/metrics", agent.line).group(1)
        cls.id = daemon.launch(memory=128 << 20, config={"metrics_server": f"influxdb:{cls.write_address},raw"})
        cls.send_samples()
        cls.write_configuration()
        cls.port = harness.free_port()
        cls.start(["prometheus", f"--config.file={cls.dir}/prometheus.yml", f"--storage.tsdb.path={cls.dir}/data",
                   f"--web.listen-address=127.0.0.1:{cls.port}"], "prometheus", b"Server is ready")

    @classmethod
    def start(cls, command, name, ready):
        cls.programs.append(Program(command, cls.dir / f"{name}.log", ready))
        return cls.programs[-1]

    @classmethod
    def make_certificate(cls):
        cls.dir = cls.daemon.dir / "prometheus"
        cls.dir.mkdir()
        made = run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days",
                   "2", "-subj", "/CN=prometheus", "-keyout", cls.dir / "client.key", "-out", cls.dir / "client.crt")
        assert made.returncode == 0, made.stderr
        shutil.copy(cls.daemon.state / "server/server.crt", cls.dir)
        reply = cls.daemon.api("POST", "/1.0/certificates", {"certificate": (cls.dir / "client.crt").read_text()})
        assert reply.status == 200, reply.raw

    @classmethod
    def send_samples(cls):
        """From within the instance's network, as what streams there would: a datagram, and a batch over HTTP."""
        pid = harness.pids_of(cls.id)[0]
        host, port = cls.write_address.rsplit(":", 1)
        labels = f"webrtc,instance={cls.id},app=none,region=here,session=s1"
        script = (f"import socket, urllib.request\n"
                  f"s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
                  f"s.sendto(b'{labels},kind=video,ssrc=1 {FRAMES},{TRAFFIC} 1', ('{host}', {port}))\n"
                  f"batch = b'{labels},kind=audio,ssrc=2 {TRAFFIC} 1\\n'\n"
                  f"print(urllib.request.urlopen('http://{host}:{port}/write?db=streaming&precision=ns', batch).status)\n")
        sent = run("nsenter", "-t", str(pid), "-n", "python3", "-c", script)
        assert sent.stdout == "204\n", sent

    @classmethod
    def write_configuration(cls):
        """The sample of the documentation, with the addresses of this test."""
        text = (MONITORING / "prometheus.yml").read_text()
        for sample, address in (("127.0.0.1:20002", cls.management), ("127.0.0.1:8443", cls.hypervisor),
                                ("127.0.0.1:9273", cls.streaming), ("scrape_interval: 15s", "scrape_interval: 250ms")):
            assert sample in text, sample
            text = text.replace(sample, address)
        (cls.dir / "prometheus.yml").write_text(text)
        shutil.copy(MONITORING / "alerts.yml", cls.dir)

    @classmethod
    def tearDownClass(cls):
        for program in reversed(cls.programs):
            program.stop()
        super().tearDownClass()

    def query(self, expression):
        path = "/api/v1/query?query=" + urllib.parse.quote(expression)
        status, body = fetch(f"127.0.0.1:{self.port}", path)
        self.assertEqual(status, 200, body)
        return json.loads(body)["data"]["result"]

    def eventually_query(self, expression, accept):
        end = time.monotonic() + harness.PATIENCE
        while time.monotonic() < end:
            result = self.query(expression)
            if accept(result):
                return result
        self.fail(f"{expression}: {result} {(self.dir / 'prometheus.log').read_text()[-2000:]}")

    def scrape_leader(self):
        """Of a cluster, which has figures that a single service does not have."""
        address = next(a for a in self.managers.leader().addresses if a.startswith("http://"))[len("http://"):]
        scrape = fetch(address, "/internal/1.0/metrics")
        return scrape if "svc_node_calls_total{" in scrape[1] else None

    def scrapes(self):
        context = ssl.create_default_context(cafile=self.dir / "server.crt")
        context.load_cert_chain(self.dir / "client.crt", self.dir / "client.key")
        scrapes = {"management": fetch(self.management, "/internal/1.0/metrics"),
                   "hypervisor": fetch(self.hypervisor, "/1.0/metrics", context),
                   "streaming": fetch(self.streaming, "/metrics"),
                   "managers": cluster.until("the leader has called the other node", self.scrape_leader)}
        for name, (status, _) in scrapes.items():
            self.assertEqual(status, 200, name)
        return {name: body for name, (_, body) in scrapes.items()}

    def test_every_target_is_up(self):
        result = self.eventually_query("up", lambda r: len(r) == 3 and all(s["value"][1] == "1" for s in r))
        self.assertEqual({s["metric"]["job"] for s in result}, {"svc-management", "svc-hypervisor", "svc-streaming"})

    def test_values_arrive_under_their_labels(self):
        running = self.eventually_query('svc_cluster_containers_per_status_total{status="running"}', len)
        self.assertGreater(int(running[0]["value"][1]), 0)
        limit = self.eventually_query(f'svc_instance_memory_limit_bytes{{id="{self.id}"}}', len)
        self.assertEqual(limit[0]["value"][1], str(128 << 20))
        frames = self.eventually_query(f'webrtc_frames_encoded{{instance="{self.id}",kind="video",ssrc="1"}}', len)
        self.assertEqual(frames[0]["value"][1], "900")
        audio = self.eventually_query(f'webrtc_bytes_sent{{instance="{self.id}",kind="audio"}}', len)
        self.assertEqual(audio[0]["value"][1], "1000")
        boots = self.eventually_query("svc_cluster_container_boot_time_seconds_count", len)
        self.assertGreater(int(boots[0]["value"][1]), 0)

    def test_what_an_instance_does_is_counted(self):
        def value(metric, more=""):
            text = self.scrapes()["hypervisor"]
            found = re.search(rf'^{metric}{{id="{self.id}"[^}}]*{more}[^}}]*}} (\S+)$', text, re.M)
            self.assertIsNotNone(found, (metric, text))
            return float(found.group(1))

        cpu = value("svc_instance_cpu_seconds_total", 'mode="user"')
        received = value("svc_instance_network_receive_bytes_total")
        sent = value("svc_instance_network_transmit_packets_total")
        disk = value("svc_instance_filesystem_usage_bytes")
        self.assertGreater(disk, 0)
        self.daemon.execute(self.id, "sh", "-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done")
        address = self.daemon.container(self.id)["address"]
        self.assertEqual(run("curl", "-fsS", f"http://{address}/").returncode, 0)
        self.assertGreater(value("svc_instance_cpu_seconds_total", 'mode="user"'), cpu)
        self.assertGreater(value("svc_instance_network_receive_bytes_total"), received)
        self.assertGreater(value("svc_instance_network_transmit_packets_total"), sent)
        self.assertGreater(value("svc_instance_processes"), 0)
        used, peak = value("svc_instance_memory_usage_bytes"), value("svc_instance_memory_peak_bytes")
        self.assertGreater(used, 0)
        self.assertLessEqual(peak, 128 << 20)

    def test_processes_killed_for_lack_of_memory_are_counted(self):
        id = self.daemon.launch(memory=64 << 20)
        self.daemon.ctl("exec", id, "--", "sh", "-c", "head -c 300000000 /dev/zero | tail >/dev/null; exit 0")
        found = re.search(rf'^svc_instance_memory_oom_kills_total{{id="{id}"[^}}]*}} (\d+)$',
                          self.scrapes()["hypervisor"], re.M)
        if found:  # else the guest's init was chosen, and the instance is gone
            self.assertGreater(int(found.group(1)), 0)
        self.daemon.remove(f"/1.0/containers/{id}")

    def test_the_metrics_server_reaches_the_instance(self):
        session = json.loads(self.daemon.execute(self.id, "cat", "/var/lib/svc-agent/session.json"))
        self.assertIn(f"influxdb:{self.write_address},raw", json.dumps(session))

    def test_hypervisor_metrics_need_a_trusted_certificate(self):
        context = ssl.create_default_context(cafile=self.dir / "server.crt")
        self.assertEqual(fetch(self.hypervisor, "/1.0/metrics", context)[0], 403)
        self.assertEqual(self.daemon.api("GET", "/1.0/metrics").status, 200)

    def test_the_linter_complains_of_the_names_that_are_documented_and_no_others(self):
        complaints = set()
        for name, text in self.scrapes().items():
            checked = run("promtool", "check", "metrics", input=text)
            self.assertIn(checked.returncode, (0, 3), (name, checked.stderr))
            complaints |= set(filter(None, (checked.stdout + checked.stderr).splitlines()))
        block = re.search(r"<!-- promtool -->\n```\n(.*?)```", (MONITORING / "README.md").read_text(), re.S)
        self.assertEqual(complaints, set(block.group(1).splitlines()))

    def test_rules_and_sample_configuration_are_valid(self):
        for what, file in (("rules", MONITORING / "alerts.yml"), ("config", self.dir / "prometheus.yml")):
            checked = run("promtool", "check", what, str(file))
            self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)

    def test_rules_fire_when_they_should_and_else_not(self):
        shutil.copy(pathlib.Path(__file__).with_name("alerts_test.yml"), self.dir)
        tested = run("promtool", "test", "rules", "alerts_test.yml", cwd=self.dir)
        self.assertEqual(tested.returncode, 0, tested.stdout + tested.stderr)

    def test_dashboard_and_alerts_ask_for_what_there_is(self):
        known = set()
        for text in self.scrapes().values():
            known |= set(re.findall(r"^# TYPE (\S+)", text, re.M))
        dashboard = json.loads((MONITORING / "grafana-dashboard.json").read_text())
        expressions = [t["expr"] for panel in dashboard["panels"] for t in panel.get("targets", [])]
        expressions += re.findall(r"expr: (.*)", (MONITORING / "alerts.yml").read_text())
        self.assertGreater(len(expressions), 30)
        for expression in expressions:
            for name in re.findall(r"\b(?:svc|webrtc)_[a-z_]+", expression):
                self.assertIn(re.sub(r"_(bucket|sum|count)$", "", name) if name not in known else name, known)
            plain = expression.replace("$__rate_interval", "1m").replace("$application", ".*")
            self.query(plain)


if __name__ == "__main__":
    harness.cases.main()
