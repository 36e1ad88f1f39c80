"""Networks and ports that nobody has, and that nobody gets meanwhile."""
import ipaddress
import json
import random
import shutil
import socket
import subprocess

UNCLAIMED_PORTS = range(20000, 32000)  # above the node ports, below those that connections get


def free_net():
    """The first three numbers of a network that this machine has no address in and no way to, like "10.77.3"."""
    routes = shutil.which("ip") and subprocess.run(["ip", "-json", "-4", "route", "show", "table", "all"],
                                                   capture_output=True, text=True).stdout
    known = [ipaddress.ip_network(route["dst"], strict=False) for route in json.loads(routes or "[]") if route["dst"] != "default"]
    known = [net for net in known if net.prefixlen >= 12]  # wider ones, as of a VPN, leave no choice
    while True:
        net = f"10.{random.randrange(16, 250)}.{random.randrange(1, 250)}"
        if not any(ipaddress.ip_network(net + ".0/24").overlaps(other) for other in known):
            return net


def free_port(host="127.0.0.1"):
    """For who must know its port before it listens, or keep it while it is away: the system gives it to no connection."""
    while True:
        with socket.socket() as probe:
            try:
                probe.bind((host, random.choice(UNCLAIMED_PORTS)))
            except OSError:
                continue
            return probe.getsockname()[1]
