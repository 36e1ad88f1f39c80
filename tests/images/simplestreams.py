#!/usr/bin/env python3
"""Makes a directory that is an image server: image packages and their simplestreams index (docs/image-server.md).
usage: simplestreams.py DIRECTORY NAME[@RELEASE]=VERSION=PACKAGE...   e.g. jammy:amd64=20240101=image.tar.xz"""
import hashlib
import json
import pathlib
import shutil
import sys

ARCHITECTURES = ("amd64", "arm64")


def architecture_of(name):
    last = name.rsplit(":", 1)[-1]
    return last if last in ARCHITECTURES else "amd64"


def package_suffix(package):
    with open(package, "rb") as file:
        start = file.read(6)
    return "gz" if start[:2] == b"\x1f\x8b" else "bz2" if start[:3] == b"BZh" else "xz"


def version_record(root, name, version, package, fingerprint=None):
    """Copies the package beneath `root` and describes it."""
    suffix = package_suffix(package)
    path = f"images/{name.replace(':', '/')}/{version}/svc.tar.{suffix}"
    target = pathlib.Path(root) / path
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(package, target)
    digest = fingerprint or hashlib.sha256(target.read_bytes()).hexdigest()
    return {"items": {f"svc.tar.{suffix}": {"ftype": f"svc.tar.{suffix}", "path": path, "sha256": digest,
                                            "size": target.stat().st_size}}}


def write_index(root, products):
    streams = pathlib.Path(root) / "streams/v1"
    streams.mkdir(parents=True, exist_ok=True)
    (streams / "images.json").write_text(json.dumps({
        "format": "products:1.0", "content_id": "images", "datatype": "image-downloads", "products": products}, indent=2))
    (streams / "index.json").write_text(json.dumps({
        "format": "index:1.0", "index": {"images": {"format": "products:1.0", "datatype": "image-downloads",
                                                    "path": "streams/v1/images.json", "products": sorted(products)}}}, indent=2))


def make_server(root, images):
    """`images`: (name, version, package, release or "") each."""
    products = {}
    for name, version, package, release in images:
        product = products.setdefault(name, {"aliases": name, "arch": architecture_of(name), "versions": {}})
        if release:
            product["release_version"] = release
        product["versions"][version] = version_record(root, name, version, package)
    write_index(root, products)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    images = []
    for argument in sys.argv[2:]:
        name, version, package = argument.split("=", 2)
        name, _, release = name.partition("@")
        images.append((name, version, package, release))
    make_server(sys.argv[1], images)


if __name__ == "__main__":
    main()
