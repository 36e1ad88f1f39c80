#!/usr/bin/env python3
"""Tells the story of docs/api.yaml to a fresh svcd with the simulated runtime: executes every example in the order of
the document, holds each answer to its schema, and asks at the end whether every documented object was seen.

    openapi_test.py SVCD DOCUMENT_JSON
"""
import base64
import bz2
import hashlib
import hmac
import http.client
import io
import json
import os
import re
import socket
import ssl
import subprocess
import sys
import tarfile
import tempfile
import time

METHODS = ("get", "post", "put", "patch", "delete")
PATIENCE = 60


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=PATIENCE)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(PATIENCE)
        self.sock.connect(self.path)


def tarball(files, mode):
    """Deterministic bytes of {name: (text, mode)}."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as archive:
        for name, (text, bits) in files.items():
            entry = tarfile.TarInfo(name)
            if text is None:
                entry.type, entry.mode = tarfile.DIRTYPE, bits
                archive.addfile(entry)
                continue
            data = text.encode()
            entry.size, entry.mode = len(data), bits
            archive.addfile(entry, io.BytesIO(data))
    return bz2.compress(plain.getvalue()) if mode == "bz2" else plain.getvalue()


def image(motd):
    metadata = "architecture: x86_64\ncreation_date: 1700000000\nproperties: {name: base}\n"
    return tarball({"metadata.yaml": (metadata, 0o644), "rootfs": (None, 0o755), "rootfs/etc": (None, 0o755),
                    "rootfs/etc/motd": (motd, 0o644)}, "bz2")


def addon(text):
    return tarball({"manifest.yaml": ("name: ssh\ndescription: remote shell\n", 0o644), "hooks": (None, 0o755),
                    "hooks/install": ("#!/bin/sh\n# " + text + "\n", 0o755)}, "bz2")


def application(name, version):
    manifest = (f"name: {name}\nversion: '{version}'\nimage: base\ninstance-type: a2.3\ntags: [game]\naddons: [ssh]\n"
                f"extra-data:\n  com.foo.obb: {{target: /sdcard/Android/obb/com.foo.{name}}}\n"
                f"boot-package: com.foo.{name}\n")
    return tarball({"manifest.yaml": (manifest, 0o644), "extra-data": (None, 0o755),
                    "extra-data/com.foo.obb": ("levels", 0o644)}, "bz2")


PACKAGES = {
    "image": image("one"), "image2": image("two"), "image3": image("three"),
    "addon": addon("one"), "addon2": addon("two"),
    "application": application("candy", "1.0"), "application2": application("soda", "1.0"),
    "application3": application("tea", "1.0"), "application4": application("candy", "2.0"),
    "nonsense": b"this is no archive",
}


class Fault(Exception):
    pass


class Schemas:
    """The part of JSON schema that the document uses."""

    def __init__(self, document):
        self.document = document
        self.seen = set()

    def resolve(self, schema, name):
        while "$ref" in schema:
            name = schema["$ref"].rsplit("/", 1)[1]
            node = self.document
            for part in schema["$ref"][2:].split("/"):
                node = node[part]
            schema = node
        return schema, name

    def merged(self, schema, name):
        """allOf as one schema; the later part wins."""
        schema, name = self.resolve(schema, name)
        if "allOf" not in schema:
            return schema, name
        result = {"type": "object", "properties": {}, "required": []}
        for part in schema["allOf"]:
            part, _ = self.merged(part, name)
            result["properties"].update(part.get("properties", {}))
            result["required"] += part.get("required", [])
        return result, name

    def objects(self, schema, name, found):
        """Names of all objects with properties that an answer can hold."""
        schema, name = self.merged(schema, name)
        if name in found:
            return
        if schema.get("properties"):
            found.add(name)
        for key, value in schema.get("properties", {}).items():
            self.objects(value, f"{name}.{key}", found)
        for key in ("items", "additionalProperties"):
            if isinstance(schema.get(key), dict):
                self.objects(schema[key], name + "[]", found)
        for option in schema.get("oneOf", []):
            self.objects(option, name + "|", found)

    def check(self, value, schema, name, path):
        schema, name = self.merged(schema, name)
        if "oneOf" in schema:
            return self.check_one_of(value, schema, name, path)
        if value is None:
            if not schema.get("nullable"):
                raise Fault(f"{path} is null")
            return None
        self.check_plain(value, schema, path)
        if isinstance(value, dict) and ("properties" in schema or "additionalProperties" in schema):
            self.check_object(value, schema, name, path)
        if isinstance(value, list):
            for i, item in enumerate(value):
                self.check(item, schema.get("items", {}), name + "[]", f"{path}[{i}]")
        return None

    def check_one_of(self, value, schema, name, path):
        faults = []
        for option in schema["oneOf"]:
            try:
                return self.check(value, option, name + "|", path)
            except Fault as fault:
                faults.append(str(fault))
        raise Fault(f"{path} is none of: " + "; ".join(faults))

    @staticmethod
    def check_plain(value, schema, path):
        kinds = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float)}
        kind = schema.get("type")
        if kind and (not isinstance(value, kinds[kind]) or (kind in ("integer", "number") and isinstance(value, bool))):
            raise Fault(f"{path} is no {kind}: {value!r}")
        if "enum" in schema and value not in schema["enum"]:
            raise Fault(f"{path} is {value!r}, not one of {schema['enum']}")
        if "pattern" in schema and not re.search(schema["pattern"], value):
            raise Fault(f"{path} is {value!r}, which does not match {schema['pattern']}")

    def check_object(self, value, schema, name, path):
        self.seen.add(name)
        properties = schema.get("properties", {})
        for key in schema.get("required", []):
            if key not in value:
                raise Fault(f"{path}.{key} is documented and not there")
        others = schema.get("additionalProperties", False)
        for key, member in value.items():
            if key in properties:
                self.check(member, properties[key], f"{name}.{key}", f"{path}.{key}")
            elif others is False:
                raise Fault(f"{path}.{key} is there and not documented")
            elif isinstance(others, dict):
                self.check(member, others, name + "[]", f"{path}.{key}")


class Daemon:
    def __init__(self, program, directory):
        self.directory = directory
        self.socket = os.path.join(directory, "svc.socket")
        config = os.path.join(directory, "svcd.yaml")
        with open(config, "w", encoding="utf-8") as file:
            file.write(f"state_dir: {directory}/state\nsocket: {self.socket}\nlisten: '127.0.0.1:0'\n"
                       "metrics_listen: none\nhypervisor_listen: none\nruntime: simulated\nnode_name: node0\nlog_level: warning\n")
        self.process = subprocess.Popen([program, "--config", config], stderr=subprocess.PIPE, text=True)
        self.tls_port = self.wait_until_ready()

    def wait_until_ready(self):
        for line in self.process.stderr:
            if line.startswith("svcd: ready"):
                return int(re.search(r"https://127\.0\.0\.1:(\d+)", line).group(1))
        raise Fault("svcd did not start")

    def call(self, method, url, headers, body, guest=False):
        if guest:
            context = ssl.create_default_context()
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
            connection = http.client.HTTPSConnection("127.0.0.1", self.tls_port, timeout=PATIENCE, context=context)
        else:
            connection = UnixConnection(self.socket)
        try:
            connection.request(method, url, body=body, headers=headers)
        except (BrokenPipeError, ConnectionResetError):
            pass  # refused before the body was sent; the answer lies there
        answer = connection.getresponse()
        content = b"" if answer.status == 101 else answer.read()
        connection.close()
        return answer.status, answer.headers, content

    def json(self, url):
        return json.loads(self.call("GET", url, {}, None)[2])["metadata"]

    def token(self, instance):
        with open(os.path.join(self.directory, "state", "tokens.key"), "rb") as file:
            secret = file.read()
        def part(data):
            return base64.urlsafe_b64encode(data).rstrip(b"=")
        now = int(time.time())
        text = part(b'{"alg":"HS256","typ":"JWT"}') + b"." + part(json.dumps(
            {"sub": instance, "scope": ["artifacts", "status"], "iat": now, "exp": now + 3600}).encode())
        return (text + b"." + part(hmac.new(secret, text, hashlib.sha256).digest())).decode()

    def stop(self):
        self.process.terminate()
        self.process.wait(PATIENCE)


class Story:
    def __init__(self, document, daemon, directory):
        self.document = document
        self.daemon = daemon
        self.schemas = Schemas(document)
        self.bound = {"/srv/registry": os.path.join(directory, "registry"),
                      "/srv/images": os.path.join(directory, "images")}
        self.executed = 0

    def substitute(self, text):
        for example, real in self.bound.items():
            text = text.replace(example, real)
        return re.sub(r"eyJhbGciOiJIUzI1NiJ9\.token\.of\.(\w+)", lambda m: self.daemon.token(m.group(1)), text)

    def bind(self, example, answer):
        for sample, pointer in example.get("binds", {}).items():
            value = answer
            for part in pointer.split("."):
                value = value[int(part)] if isinstance(value, list) else value[part]
            self.bound[sample] = value.rsplit("/", 1)[-1]

    def bind_headers(self, example, headers):
        """Of a cookie its name and value alone."""
        for sample, name in example.get("binds_headers", {}).items():
            self.bound[sample] = headers[name].split(";")[0]

    def find_operation(self, method, url):
        """The documented operation of a request: written segments win over parameters."""
        parts = url.split("?")[0].split("/")
        found = []
        for path, item in self.document["paths"].items():
            pattern = path.split("/")
            if method in item and len(pattern) == len(parts) and all(
                    p.startswith("{") or p == q for p, q in zip(pattern, parts)):
                found.append(([p.startswith("{") for p in pattern], item[method]))
        if not found:
            raise Fault(f"no operation is documented for {method} {url}")
        return min(found, key=lambda candidate: candidate[0])[1]

    def send(self, example):
        method, url = self.substitute(example["request"]).split(" ", 1)
        headers = {name: self.substitute(value) for name, value in example.get("headers", {}).items()}
        body = None
        if "body" in example:
            body = self.substitute(json.dumps(example["body"])).encode()
        if "uploads" in example:
            body = PACKAGES[example["uploads"]]
            headers.setdefault("Content-Type", "application/octet-stream")
            headers.setdefault("X-SVC-Fingerprint", hashlib.sha256(body).hexdigest())
        if example.get("websocket"):
            headers.update({"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
                            "Sec-WebSocket-Key": base64.b64encode(b"0123456789abcdef").decode()})
        return self.daemon.call(method, url, headers, body, example.get("guest", False))

    def check_answer(self, example, status, headers, content):
        method = example["request"].split(" ")[0].lower()
        operation = self.find_operation(method, example["request"].split(" ", 1)[1])
        if str(status) not in operation["responses"]:
            raise Fault(f"status {status} is not documented: {content[:300]!r}")
        wanted = example.get("status", 101 if example.get("websocket") else None)
        if status != wanted and (wanted is not None or status >= 300):
            raise Fault(f"status {status}: {content[:300]!r}")
        response, _ = self.schemas.resolve(operation["responses"][str(status)], "")
        for name in response.get("headers", {}):
            if not headers.get(name):
                raise Fault(f"header {name} is documented and not there")
        media = (headers.get("Content-Type") or "").split(";")[0]
        if response.get("content") and media not in response["content"]:
            raise Fault(f"content type {media} is not documented")
        if media != "application/json":
            return None
        answer = json.loads(content)
        self.schemas.check(answer, response["content"][media]["schema"], operation["operationId"], "answer")
        return answer

    def settle(self, example, answer):
        """Waits for the operation and for all that it has started."""
        if example.get("unfinished") or example["request"].startswith("GET "):
            return
        if answer["type"] == "async":
            ended = self.daemon.json(f"/{answer['operation']}/wait?timeout={PATIENCE}")
            if ended["status_code"] != 200:
                raise Fault(f"operation ended with {ended['status']}: {ended['err']}")
        for _ in range(100):
            by_status = self.daemon.json("/1.0/operations?recursion=1")
            busy = [o for key in ("pending", "running", "cancelling") for o in by_status.get(key, [])
                    if o["class"] == "task"]
            if not busy:
                return
            self.daemon.json(f"/1.0/operations/{busy[0]['id']}/wait?timeout={PATIENCE}")
        raise Fault("the service does not come to rest")

    def execute(self, example):
        self.executed += 1
        try:
            status, headers, content = self.send(example)
            answer = self.check_answer(example, status, headers, content)
            if answer is not None:
                self.bind(example, answer)
                self.bind_headers(example, headers)
                self.settle(example, answer)
        except (Fault, KeyError, IndexError, ValueError) as fault:
            raise Fault(f"{example['request']} ({example.get('name', '')}): {fault!r}") from fault

    def tell(self):
        faults = []
        for path, item in self.document["paths"].items():
            for method in METHODS:
                if method not in item:
                    continue
                if not item[method].get("x-examples"):
                    faults.append(f"{method.upper()} {path} has no example")
                for example in item[method].get("x-examples", []):
                    try:
                        self.execute(example)
                    except Fault as fault:
                        faults.append(str(fault))
        return faults

    def unseen(self):
        found = set()
        for item in self.document["paths"].values():
            for method in METHODS:
                for response in item.get(method, {}).get("responses", {}).values():
                    response, _ = self.schemas.resolve(response, "")
                    for content in response.get("content", {}).values():
                        self.schemas.objects(content["schema"], item[method]["operationId"], found)
        return sorted(name for name in found if name not in self.schemas.seen)


def offer_images(directory):
    """An image server: a folder with a simplestreams index."""
    package = image("from the server")
    digest = hashlib.sha256(package).hexdigest()
    streams = os.path.join(directory, "images", "streams", "v1")
    os.makedirs(streams)
    with open(os.path.join(directory, "images", "jammy.tar.bz2"), "wb") as file:
        file.write(package)
    product = {"aliases": "jammy:amd64", "arch": "amd64", "release": "jammy", "release_version": "",
               "versions": {"1": {"items": {"image": {"ftype": "svc.tar.bz2", "path": "jammy.tar.bz2",
                                                      "sha256": digest, "size": len(package)}}}}}
    with open(os.path.join(streams, "index.json"), "w", encoding="utf-8") as file:
        json.dump({"format": "index:1.0", "index": {"images": {"datatype": "image-downloads", "format": "products:1.0",
                                                               "path": "streams/v1/images.json",
                                                               "products": ["jammy:amd64"]}}}, file)
    with open(os.path.join(streams, "images.json"), "w", encoding="utf-8") as file:
        json.dump({"format": "products:1.0", "datatype": "image-downloads", "products": {"jammy:amd64": product}}, file)


def main():
    with open(sys.argv[2], encoding="utf-8") as file:
        document = json.load(file)
    with tempfile.TemporaryDirectory(prefix="svc-openapi-") as directory:
        os.mkdir(os.path.join(directory, "registry"))
        offer_images(directory)
        daemon = Daemon(sys.argv[1], directory)
        try:
            story = Story(document, daemon, directory)
            faults = story.tell()
            faults += [f"{name} is documented and was never seen" for name in story.unseen()]
            if len(json.loads(daemon.call("GET", "/1.0/openapi.json", {}, None)[2])["paths"]) != len(document["paths"]):
                faults.append("the served document is another one")
        finally:
            daemon.stop()
    print("\n".join(faults) or f"{story.executed} examples were executed")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
