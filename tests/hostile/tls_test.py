#!/usr/bin/env python3
"""What the TLS listeners of svcd and svc-gateway offer, as sslscan sees it."""
import shutil
import subprocess
import unittest
import xml.etree.ElementTree

from crowd import Gateway, harness

GROUPS = {"x25519", "secp256r1 (NIST P-256)", "secp384r1 (NIST P-384)"}


class Scan:
    def __init__(self, url):
        address = url.split("//", 1)[1].split("/", 1)[0]
        text = subprocess.run(["sslscan", "--no-colour", "--xml=-", address], capture_output=True, text=True, timeout=300).stdout
        self.found = xml.etree.ElementTree.fromstring(text).find("ssltest")
        self.protocols = {f"{p.get('type')} {p.get('version')}" for p in self.found.iter("protocol") if p.get("enabled") == "1"}
        self.ciphers = {c.get("cipher") for c in self.found.iter("cipher")}
        self.groups = {g.get("name") for g in self.found.iter("group")}


@unittest.skipUnless(shutil.which("sslscan"), "needs sslscan")
class Tls(unittest.TestCase):
    def check(self, url, protocols):
        with self.subTest(url):
            scan = Scan(url)
            self.assertEqual(scan.protocols, protocols)
            for cipher in scan.ciphers:
                self.assertRegex(cipher, r"^(TLS_|ECDHE-).*(GCM|CHACHA20)")
            self.assertGreaterEqual(len(scan.ciphers), 3)
            self.assertLessEqual(scan.groups, GROUPS)
            self.assertTrue(scan.groups)
            for renegotiation in scan.found.iter("renegotiation"):
                self.assertEqual(renegotiation.get("supported"), "0")
            for compression in scan.found.iter("compression"):
                self.assertEqual(compression.get("supported"), "0")
            for heartbleed in scan.found.iter("heartbleed"):
                self.assertEqual(heartbleed.get("vulnerable"), "0")

    def test_svcd(self):
        daemon = harness.Daemon("simulated", hypervisor_listen="127.0.0.1:0").start()
        self.addCleanup(lambda: self.assertEqual(daemon.close(), []))
        listeners = [url for url in daemon.addresses if url.startswith("https://")]
        self.assertEqual(len(listeners), 2)
        for url in listeners:
            self.check(url, {"tls 1.2", "tls 1.3"})

    def scan_gateway(self, protocols, **settings):
        with Gateway(**settings) as gateway:
            self.assertEqual(len(gateway.listeners), 2)
            for url in gateway.listeners:
                self.check(url, protocols)

    def test_svc_gateway(self):
        self.scan_gateway({"tls 1.3"})

    def test_svc_gateway_with_tls_1_2(self):
        self.scan_gateway({"tls 1.2", "tls 1.3"}, tls12=True)


if __name__ == "__main__":
    harness.cases.main()
