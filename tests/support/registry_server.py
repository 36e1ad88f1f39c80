#!/usr/bin/env python3
"""A small application registry: the protocol of docs/registry.md over HTTPS, certificates on both sides, a directory
behind it. For tests and for trying things out; prints "ready PORT FINGERPRINT" when it serves, ends with its input."""
import argparse
import hashlib
import http.server
import json
import os
import pathlib
import re
import shutil
import socketserver
import ssl
import subprocess
import sys
import tempfile
import threading

NAME = re.compile(r"^(?!\.)[A-Za-z0-9_.-]{1,128}$")
NUMBER = re.compile(r"^(0|[1-9][0-9]{0,8})$")
ARCHITECTURE = re.compile(r"^[a-z0-9_]{1,32}$")
DIGEST = re.compile(r"^[0-9a-f]{64}$")
PIECE = 1 << 20


def make_certificate(folder, name):
    """(certificate, key): a self-signed pair for 127.0.0.1, made once."""
    certificate, key = pathlib.Path(folder) / f"{name}.crt", pathlib.Path(folder) / f"{name}.key"
    if not certificate.exists():
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days",
                        "30", "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out",
                        certificate], check=True, capture_output=True)
    return certificate, key


def fingerprint(certificate):
    return hashlib.sha256(ssl.PEM_cert_to_DER_cert(pathlib.Path(certificate).read_text())).hexdigest()


class Shelf:
    """The directory: <name>/<version>/<architecture>/{archive.tar.gz,manifest.yaml,details.json}."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.root.mkdir(parents=True, exist_ok=True)

    def place(self, name, version, architecture):
        return self.root / name / version / architecture

    def applications(self):
        found = {}
        for details in sorted(self.root.glob("[!.]*/*/*/details.json"), key=lambda p: (p.parts[-4], int(p.parts[-3]))):
            one = json.loads(details.read_text())
            all_versions = found.get(one["name"], {}).get("versions", {})
            architectures = found.get(one["name"], {}).get("architectures", [])
            known = {key: value for key, value in one.items() if key not in ("fingerprint", "size")}
            known["versions"] = {**all_versions, **one["versions"]}
            known["architectures"] = architectures + [a for a in one["architectures"] if a not in architectures]
            found[one["name"]] = known
        return list(found.values())

    def pending_manifest(self, digest):
        """Where a manifest waits for its archive: by its content, so that two senders of one version do not meet."""
        return self.root / f".manifest-{digest}"

    def add(self, key, folder, digest):
        """False when another archive has that version."""
        target = self.place(*key)
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.rename(folder, target)
            return True
        except OSError:  # it is there: a directory that is not empty
            return json.loads((target / "details.json").read_text())["fingerprint"] == digest

    def remove(self, name):
        target = self.root / name
        if not target.is_dir():
            return False
        away = tempfile.mkdtemp(prefix=".removed-", dir=self.root)
        os.rename(target, pathlib.Path(away) / name)
        shutil.rmtree(away)
        return True


class Refusal(Exception):
    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def setup(self):
        super().setup()
        self.connection.settimeout(30)

    @property
    def shelf(self):
        return self.server.shelf

    def answer(self, status, metadata=None, error=""):
        body = json.dumps({"type": "error" if error else "sync", "status": "" if error else "Success",
                           "status_code": 0 if error else status, "error": error, "error_code": status if error else 0,
                           "operation": "", "metadata": metadata if metadata is not None else {}}).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def handle_with(self, method):
        self.server.requests.append(f"{self.command} {self.path}")
        try:
            parts = self.path.strip("/").split("/")
            if parts[:2] != ["1.0", "applications"] or len(parts) > 6:
                raise Refusal(404, "not found")
            parts = parts[2:]
            for part, pattern in zip(parts, (NAME, NUMBER, ARCHITECTURE, re.compile("^manifest$"))):
                if not pattern.match(part):
                    raise Refusal(400, f"{part} is invalid")
            method(parts)
        except Refusal as refusal:
            self.close_connection = True  # a body may not have been read
            self.answer(refusal.status, error=str(refusal))

    def do_GET(self):
        self.handle_with(self.get)

    def do_PUT(self):
        self.handle_with(self.put)

    def do_DELETE(self):
        self.handle_with(self.delete)

    def get(self, parts):
        if not parts:
            return self.answer(200, self.shelf.applications())
        if len(parts) < 3:
            raise Refusal(404, "not found")
        place = self.shelf.place(*parts[:3])
        if not place.is_dir():
            raise Refusal(404, "application version not found")
        details = json.loads((place / "details.json").read_text())
        file = place / ("manifest.yaml" if len(parts) == 4 else "archive.tar.gz")
        self.send_response(200)
        self.send_header("Content-Type", "application/yaml" if len(parts) == 4 else "application/octet-stream")
        self.send_header("Content-Length", str(file.stat().st_size))
        self.send_header("X-SVC-Fingerprint", details["fingerprint"])
        self.send_header("X-SVC-ManifestSha256", hashlib.sha256((place / "manifest.yaml").read_bytes()).hexdigest())
        self.end_headers()
        with open(file, "rb") as content:
            shutil.copyfileobj(content, self.wfile, PIECE)

    def pieces(self):
        left = int(self.headers.get("Content-Length", "-1"))
        if left < 0:
            raise Refusal(400, "Content-Length is required")
        while left:
            piece = self.rfile.read(min(left, PIECE))
            if not piece:
                raise Refusal(400, "body is cut short")
            left -= len(piece)
            yield piece

    def put(self, parts):
        if len(parts) < 3:
            raise Refusal(404, "not found")
        if len(parts) == 4:
            manifest = b"".join(self.pieces())
            self.shelf.pending_manifest(hashlib.sha256(manifest).hexdigest()).write_bytes(manifest)
            return self.answer(200)
        folder = pathlib.Path(tempfile.mkdtemp(prefix=".unfinished-", dir=self.shelf.root))
        try:
            self.put_archive(parts, folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def put_archive(self, key, folder):
        record = json.loads(self.headers["X-SVC-Request"])
        digest, size = hashlib.sha256(), 0
        with open(folder / "archive.tar.gz", "wb") as archive:
            for piece in self.pieces():
                archive.write(piece)
                digest.update(piece)
                size += len(piece)
        if digest.hexdigest() != self.headers["X-SVC-Fingerprint"]:
            raise Refusal(400, "fingerprint don't match")
        if not DIGEST.match(self.headers["X-SVC-ManifestSha256"]):
            raise Refusal(400, "X-SVC-ManifestSha256 is invalid")
        manifest = self.shelf.pending_manifest(self.headers["X-SVC-ManifestSha256"])
        if not manifest.exists():
            raise Refusal(400, "the manifest was not sent before")
        shutil.copyfile(manifest, folder / "manifest.yaml")
        (folder / "details.json").write_text(json.dumps({**record, "fingerprint": digest.hexdigest(), "size": size}))
        folder.chmod(0o755)
        if not self.shelf.add(key, folder, digest.hexdigest()):
            raise Refusal(409, "application version already exists")
        self.answer(200)

    def delete(self, parts):
        if len(parts) != 1:
            raise Refusal(404, "not found")
        if not self.shelf.remove(parts[0]):
            raise Refusal(404, "application not found")
        self.answer(200)


class RegistryServer(socketserver.ThreadingMixIn, http.server.HTTPServer):
    """Serves at once, on threads of its own, until close(). `trust`: PEM files of clients, looked at anew for each
    connection, so that a certificate may be made after the server."""
    daemon_threads = True

    def __init__(self, folder, keys, trust=(), port=0):
        super().__init__(("127.0.0.1", port), Handler)
        self.shelf, self.trust, self.requests = Shelf(folder), list(trust), []
        self.certificate, self.key = make_certificate(keys, "registry")
        self.thread = threading.Thread(target=self.serve_forever, daemon=True)
        self.thread.start()

    @property
    def port(self):
        return self.server_address[1]

    @property
    def fingerprint(self):
        return fingerprint(self.certificate)

    def finish_request(self, request, client_address):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, self.key)
        context.verify_mode = ssl.CERT_REQUIRED
        for file in self.trust:
            if os.path.exists(file):
                context.load_verify_locations(file)
        request.settimeout(30)
        try:
            with context.wrap_socket(request, server_side=True) as secure:
                super().finish_request(secure, client_address)
        except OSError:
            pass  # a client without the right certificate, or one that went away

    def close(self):
        self.shutdown()
        self.server_close()
        self.thread.join()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory")
    parser.add_argument("--keys", required=True, help="where registry.crt and registry.key are, or are made")
    parser.add_argument("--trust", action="append", default=[], help="PEM certificate of a client; repeatable")
    parser.add_argument("--port", type=int, default=0)
    arguments = parser.parse_args()
    server = RegistryServer(arguments.directory, arguments.keys, arguments.trust, arguments.port)
    print("ready", server.port, server.fingerprint, flush=True)
    sys.stdin.read()
    server.close()


if __name__ == "__main__":
    main()
