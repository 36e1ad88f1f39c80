"""A network of its own on this machine, for a program that shall not reach everything, or not always."""
import os
import subprocess

import harness

TIMED_OUT = 124  # of timeout(1)
PATIENCE = 60  # seconds


def run(*command):
    subprocess.run(list(map(str, command)), check=True, capture_output=True, timeout=PATIENCE)


class Corner:
    """Who is in it reaches this machine, and nothing beyond."""

    def __init__(self):
        number = os.getpid() % 100000
        self.name, self.outside, self.inside = f"svct{number}", f"svct{number}o", f"svct{number}i"
        net = harness.free_net()
        self.host, self.client = net + ".1", net + ".2"

    def open(self):
        run("ip", "netns", "add", self.name)
        run("ip", "link", "add", self.outside, "type", "veth", "peer", "name", self.inside, "netns", self.name)
        run("ip", "address", "add", self.host + "/30", "dev", self.outside)
        run("ip", "link", "set", self.outside, "up")
        self.enter("ip", "address", "add", self.client + "/30", "dev", self.inside)
        self.enter("ip", "link", "set", self.inside, "up")
        self.enter("ip", "route", "add", "default", "via", self.host)
        rules = f"""table inet {self.name} {{
            chain forward {{
                type filter hook forward priority -200
                iifname {self.outside} drop
                oifname {self.outside} drop
            }}
            chain input {{
                type filter hook input priority -200
                iifname {self.outside} ip daddr != {self.host} drop
            }}
        }}"""
        subprocess.run(["nft", "-f", "-"], input=rules, text=True, check=True, timeout=PATIENCE)

    def enter(self, *command):
        run("ip", "netns", "exec", self.name, *command)

    @property
    def prefix(self):
        return ("ip", "netns", "exec", self.name)

    def cut(self, *ports):
        """Nothing gets in or out from now on, but TCP to these ports of this machine."""
        kept = "{ " + ", ".join(map(str, ports)) + " }"
        rules = f"""table inet cut {{
            chain output {{
                type filter hook output priority 0
                oifname lo accept
                ip daddr {self.host} tcp dport {kept} accept
                drop
            }}
            chain input {{
                type filter hook input priority 0
                iifname lo accept
                ip saddr {self.host} tcp sport {kept} accept
                drop
            }}
        }}"""
        subprocess.run([*self.prefix, "nft", "-f", "-"], input=rules, text=True, check=True, timeout=PATIENCE)

    def heal(self):
        self.enter("nft", "delete", "table", "inet", "cut")

    def reaches(self, address):
        """Whoever is there accepts the connection or refuses it; beyond a wall nobody answers."""
        knock = ["ip", "netns", "exec", self.name, "timeout", "2", "bash", "-c", f": </dev/tcp/{address}/1"]
        return subprocess.run(knock, capture_output=True).returncode != TIMED_OUT

    def close(self):
        for command in (["nft", "delete", "table", "inet", self.name], ["ip", "netns", "delete", self.name]):
            subprocess.run(command, capture_output=True, timeout=PATIENCE)
        subprocess.run(["ip", "link", "delete", self.outside], capture_output=True, timeout=PATIENCE)
