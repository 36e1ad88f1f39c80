"""Many clients that do not behave, and what a server holds meanwhile."""
import json
import pathlib
import shutil
import socket
import ssl
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "system"))
import harness  # noqa: E402, F401, others take it from here

GATEWAY = harness.BUILD / "server/gateway/svc-gateway"
SHORT = 2  # seconds; who is not served within them was turned away


def memory(pid):
    """What is resident, in bytes."""
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) << 10
    raise AssertionError("no VmRSS")


def address(url):
    host, port = url.split("//", 1)[1].split("/", 1)[0].rsplit(":", 1)
    return host, int(port)


def over_unix(path):
    def connect(_):
        client = socket.socket(socket.AF_UNIX)
        client.settimeout(SHORT)
        client.connect(str(path))
        return client
    return connect


def over_tcp(url, addresses=("127.0.0.2",)):
    """The clients have the addresses in turns."""
    def connect(number):
        return socket.create_connection(address(url), SHORT, (addresses[number % len(addresses)], 0))
    return connect


def over_tls(url, addresses=("127.0.0.2",), certificate=None):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if certificate:
        context.load_cert_chain(*certificate)
    plain = over_tcp(url, addresses)
    return lambda number: context.wrap_socket(plain(number))


def head(line, *fields):
    return "\r\n".join([f"{line} HTTP/1.1", "Host: x", *fields, "", ""]).encode()


def half_of_a_handshake():
    """The first bytes of a ClientHello that is 512 bytes long."""
    return struct.pack(">BHH", 22, 0x0301, 512) + b"\x01\x00\x01\xfc\x03\x03" + b"x" * 100


class Crowd:
    """So many clients that say something and read nothing. Those that the server turns away stay away."""

    def __init__(self, connect, text=b"", count=300):
        self.clients = []
        for number in range(count):
            try:
                client = connect(number)
                self.clients.append(client)
                client.sendall(text)
            except OSError:
                pass  # turned away, or the server reads no more of it

    def still_open(self):
        """How many of them the server has not closed. They read what it has said."""
        count = 0
        for client in self.clients:
            client.setblocking(False)
            try:
                while client.recv(1 << 16):
                    pass
            except (BlockingIOError, ssl.SSLWantReadError):
                count += 1
            except OSError:
                pass
        return count

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for client in self.clients:
            client.close()


class Gateway:
    """svc-gateway with metrics and no regions."""

    def __init__(self, files=None, **settings):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="svc-hostile-"))
        self.socket = self.folder / "socket"
        config = self.folder / "gateway.yaml"
        metrics = {"listen": "127.0.0.1:0", "user": "u", "password": "p"}
        config.write_text(json.dumps({"state_dir": str(self.folder / "state"), "socket": str(self.socket), "listen": "127.0.0.1:0",
                                      "metrics": metrics, "log_level": "error", **settings}))
        limit = ["prlimit", f"--nofile={files}"] if files else []
        self.process = subprocess.Popen([*limit, GATEWAY, "--config", config], stderr=subprocess.PIPE, text=True)
        ready = next((line for line in self.process.stderr if "ready" in line), "")
        self.listeners = [word for word in ready.split() if word.startswith("https://")]

    def ask(self, path):
        client = harness.UnixConnection(self.socket, harness.PATIENCE)
        client.request("GET", path)
        status = client.getresponse().status
        client.close()
        return status

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()
        shutil.rmtree(self.folder)
