#!/usr/bin/env python3
"""Packages of 1 GiB: upload, import and export against sha256sum, tar and the decompressors of the command line, in turns.

usage: packages.py [gzip bzip2 xz zstd export] [--megabytes 1024] [--rounds 2]      (as root: the packages are unpacked for containers)
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "system"))
import harness
import results

COMMAND = "tests/bench/packages.py"
EXPORT_MARK = 0.8
# The suffix, how the package is made, and what unpacks it.
COMPRESSIONS = {
    "gzip": ("gz", ["gzip", "-1"], ["gzip", "-dc"]),
    "bzip2": ("bz2", ["bzip2", "-1"], ["bzip2", "-dc"]),
    "xz": ("xz", ["xz", "-0", "-T2"], ["xz", "-dc"]),
    "zstd": ("zst", ["zstd", "-q", "-1"], ["zstd", "-dc"]),
}


def seconds(work, *arguments):
    begin = time.monotonic()
    work(*arguments)
    return time.monotonic() - begin


def make_tree(folder, megabytes, kind):
    """A small guest and so much that cannot be compressed, or half of which can."""
    tree = folder / "tree"
    tree.mkdir()
    subprocess.run(["tar", "-C", tree, "-xf", harness.busybox_image()], check=True)
    with open(tree / "rootfs/srv/filler", "wb") as out:
        for _ in range(megabytes):
            out.write(os.urandom(1 << 20) if kind == "noise" else os.urandom(1 << 19).hex().encode())
    return tree


def pack(tree, package, compress):
    with open(package, "wb") as out:
        tar = subprocess.Popen(["tar", "-C", tree, "-c", "metadata.yaml", "rootfs"], stdout=subprocess.PIPE)
        subprocess.run(compress, stdin=tar.stdout, stdout=out, check=True)
        tar.stdout.close()
        assert tar.wait() == 0


def upload(daemon, package, name):
    """Until the 202. Returns the operation that goes on."""
    answer = subprocess.run(
        ["curl", "-sS", "--unix-socket", daemon.socket, "-X", "POST", "-T", package, "-H", "Content-Type: application/octet-stream",
         "-H", f'X-SVC-Request: {{"name":"{name}"}}', "http://svc/1.0/images"], capture_output=True, check=True)
    record = json.loads(answer.stdout)
    assert record["type"] == "async", record
    return record["metadata"]["id"]


def checked_copy(package, copy):
    """What an upload has to do: the digest, and the bytes on the disk."""
    subprocess.run(["sha256sum", package], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["dd", f"if={package}", f"of={copy}", "bs=1M", "conv=fdatasync", "status=none"], check=True)


def unpack(package, folder, decompress):
    """What an import has to do: the files in place and on the disk."""
    folder.mkdir()
    with open(package, "rb") as source:
        unpacker = subprocess.Popen(decompress, stdin=source, stdout=subprocess.PIPE)
        subprocess.run(["tar", "-C", folder, "-x"], stdin=unpacker.stdout, check=True)
        unpacker.stdout.close()
        assert unpacker.wait() == 0
    subprocess.run(["sync", "-f", folder], check=True)


def finish(daemon, operation):
    record = daemon.wait_operation(operation, timeout=600)
    assert record["status_code"] == 200, record


def bench_import(daemon, folder, tree, compression, options):
    suffix, compress, decompress = COMPRESSIONS[compression]
    package = folder / f"package.tar.{suffix}"
    pack(tree, package, compress)
    times = {key: [] for key in ("upload", "copy", "import", "unpack")}
    for number in range(options.rounds):
        begin = time.monotonic()
        operation = upload(daemon, package, f"big-{suffix}-{number}")
        times["upload"].append(time.monotonic() - begin)
        finish(daemon, operation)
        times["import"].append(time.monotonic() - begin - times["upload"][-1])
        daemon.remove(f"/1.0/images/big-{suffix}-{number}")
        daemon.eventually(lambda: not any(layer.stat().st_size for layer in (daemon.state / "lxc/layers").glob("*/rootfs/srv/filler")))
        times["copy"].append(seconds(checked_copy, package, folder / "copy"))
        os.unlink(folder / "copy")
        times["unpack"].append(seconds(unpack, package, folder / "unpacked", decompress))
        shutil.rmtree(folder / "unpacked")
    package.unlink()
    middle = {key: statistics.median(values) for key, values in times.items()}
    figure = f"{options.megabytes:,} MiB package, {compression}"
    report(f"{figure}: upload until the 202", middle["upload"], middle["copy"], "sha256sum and one synced write", 1.25, compression)
    report(f"{figure}: import", middle["import"], middle["unpack"], f"`{' '.join(decompress)} | tar -x`, synced", 1.25, compression)


def report(figure, ours, theirs, peer, most, argument):
    results.report(figure, ours, theirs, unit="s", peer=peer, mark=f"at most {most} x", met=ours <= theirs * most,
                   command=f"{COMMAND} {argument}")


def download(daemon, path, target):
    subprocess.run(["curl", "-sSf", "--unix-socket", daemon.socket, "-o", target, f"http://svc{path}"], check=True)


def bench_export(daemon, folder, tree, options):
    package = folder / "package.tar.gz"
    pack(tree, package, COMPRESSIONS["gzip"][1])
    finish(daemon, upload(daemon, package, "exported"))
    id = daemon.create_app({"manifest.yaml": "name: exported\nimage: exported\ninstance-type: a2.3\n"})
    version = max(v["number"] for v in daemon.application(id)["versions"])
    times = {(name, which): [] for name in ("gzip", "zstd") for which in ("first", "later")}
    theirs = []
    for round in range(options.rounds):
        finish(daemon, daemon.api("PATCH", f"/1.0/applications/{id}", {"tags": [f"round-{round}"]}).metadata["id"])  # another archive
        for (name, _), taken in times.items():
            taken.append(seconds(download, daemon, f"/1.0/applications/{id}/{version}?compression={name}", folder / "export"))
        theirs.append(seconds(pack, tree, folder / "copy", ["gzip", "-1"]))
    for (name, which), taken in times.items():
        note = ", the first time" if which == "first" else ""
        report(f"Export of an application of {options.megabytes:,} MiB, {options.kind}, by {name}{note}", statistics.median(taken),
               statistics.median(theirs), "`tar | gzip -1`", EXPORT_MARK, "export")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", choices=[*COMPRESSIONS, "export", []])
    parser.add_argument("--megabytes", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--kind", choices=["noise", "text"], default="noise", help="of the files: text becomes half as large")
    options = parser.parse_args()
    what = options.what or [*COMPRESSIONS, "export"]
    folder = pathlib.Path(tempfile.mkdtemp(prefix="svc-bench-", dir="/var/tmp"))
    daemon = harness.Daemon().start()
    try:
        tree = make_tree(folder, options.megabytes, options.kind)
        for name in what:
            if name == "export":
                bench_export(daemon, folder, tree, options)
            else:
                bench_import(daemon, folder, tree, name, options)
    finally:
        left = daemon.close()
        shutil.rmtree(folder, ignore_errors=True)
    assert not left, left


if __name__ == "__main__":
    main()
