#!/usr/bin/env python3
"""What a hostile or broken package can hold: each is refused by name and leaves no file, record or mount."""
import bz2
import gzip
import io
import lzma
import os
import tarfile
import zipfile

import harness
from harness import hook, package

MIB = 1 << 20
GOOD = {"manifest.yaml": "name: bad\n", "hooks/install": hook("true")}
METADATA = "architecture: x86_64\ncreation_date: 1\n"


def entry(name, content=b"", **attributes):
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(content), 0o755
    for key, value in attributes.items():
        setattr(info, key, value)
    return info, content


def tarball(entries, files=None):
    """Plain tar of ordinary files, then of odd entries."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, content in (GOOD if files is None else files).items():
            info, content = entry(name, content.encode() if isinstance(content, str) else content)
            tar.addfile(info, io.BytesIO(content))
        for info, content in entries:
            tar.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def link(name, target, hard=False):
    return entry(name, type=tarfile.LNKTYPE if hard else tarfile.SYMTYPE, linkname=target)


def device(name, type=tarfile.CHRTYPE):
    return entry(name, type=type, devmajor=1, devminor=3)


ESCAPES = {
    "absolute": [entry("/etc/cron.d/evil", b"x")], "above": [entry("../evil", b"x")],
    "above inside": [entry("hooks/../../evil", b"x")],
    "link out": [link("out", "/etc")], "link above": [link("out", "../../..")],
    "through a link": [link("out", "hooks"), entry("out/x", b"x")],
    "hard link out": [link("out", "/etc/shadow", True)], "hard link above": [link("out", "../../etc/shadow", True)],
    "hard link to nothing": [link("out", "nothing", True)], "device": [device("null")],
    "block device": [device("disk", tarfile.BLKTYPE)],
    "pipe": [entry("pipe", type=tarfile.FIFOTYPE)], "twice": [entry("x", b"1"), entry("x", b"2")],
    "manifest twice": [entry("manifest.yaml", b"name: other")],
    "file as folder": [entry("x", b"1"), entry("x/y", b"2")], "no name": [entry("", b"x")], "top": [entry(".", b"x")],
    "empty": [entry("./", b"x")],
    "long name": [entry("/".join(["d" * 200] * 30), b"x")], "deep": [entry("/".join(["d"] * 200), b"x")],
}


def bomb(files, size, compress):
    """A member of `size` zeros that compresses to next to nothing, made of one compressed piece again and again."""
    piece = 64 * MIB
    head = entry("zeros", size=size)[0].tobuf(tarfile.PAX_FORMAT)
    start = tarball([], files)
    start = start[:(len(start.rstrip(b"\0")) + 511) // 512 * 512]  # without its end
    zeros = compress(bytes(piece))
    return compress(start + head) + zeros * (size // piece) + compress(bytes(1024))


class BadPackages(harness.DaemonTest):
    @classmethod
    def prepare(cls):
        cls.daemon.add_image()
        cls.daemon.add_addon("addon", GOOD)
        cls.files = cls.tree()

    @classmethod
    def tree(cls):
        """What the state holds besides the database and logs, to the depth of a layer's root."""
        found = {str(path.relative_to(cls.daemon.state)) for pattern in ("*", "*/*", "*/*/*",
            "*/*/*/*") for path in cls.daemon.state.glob(pattern)
                 if not path.is_dir() or "lxc/" in str(path)}
        return {path for path in found if ".db" not in path and "log" not in path}

    def snapshot(self):
        return {path: self.daemon.api("GET", f"/1.0/{path}?recursion=1").metadata for path in ("addons",
            "applications", "images", "containers")}

    def setUp(self):
        self.before = self.snapshot()

    def tearDown(self):
        self.assertEqual(self.snapshot(), self.before)
        self.assertEqual(sorted(self.tree() ^ self.files)[:5], [])

    def refused(self, path, data, naming="", **request):
        """By the answer, or by the operation that follows."""
        method = "PATCH" if path.count("/") > 2 else "POST"
        reply = self.daemon.upload(method, path, data, **request)
        error = reply.error
        self.assertIn(reply.status, (202, 400, 404, 409), f"{path} {reply.raw[:300]}")
        if reply.status == 202:
            record = self.daemon.wait(reply)
            if record["status_code"] == 200:
                self.undo(reply, method)
            self.assertEqual(record["status_code"], 400, f"{path} was accepted: {record}")
            error = record["err"]
        self.assertTrue(0 < len(error) < 1000, error)
        self.assertIn(naming, error)
        for secret in (str(self.daemon.dir), "/proc/self"):
            self.assertNotIn(secret, error)
        return error

    def undo(self, reply, method):
        url = next(iter(reply.metadata["resources"].values()))[0]
        if method == "PATCH":
            url += f"/{self.daemon.api('GET', url).metadata['versions'][-1]['version']}"
        self.daemon.succeed(self.daemon.api("DELETE", url, {"force": True}))

    def each_kind(self, tar, naming="", **expected):
        """The same entries as addon, update of an addon and application."""
        data = bz2.compress(tar)
        for path, request in (("/1.0/addons", {"name": "bad"}), ("/1.0/addons/addon", {}), ("/1.0/applications", {})):
            with self.subTest(path=path):
                self.refused(path, data, naming, **request)

    def test_what_is_no_archive(self):
        good = package(GOOD)
        for name, data in {"text": b"hello", "zeros": bytes(100000), "gzip": gzip.compress(tarball([])),
            "xz": lzma.compress(tarball([])), "plain": tarball([]),
                           "cut": good[:-20], "half": good[:len(good) // 2], "head": b"BZh9",
                           "flipped": good[:60] + bytes([good[60] ^ 255]) + good[61:],
                           "no tar": bz2.compress(b"x" * 10000), "empty tar": bz2.compress(b""),
                           "ends": bz2.compress(bytes(10240)), "zip head": b"PK\3\4", "zip end": b"PK\5\6" + bytes(18),
                           "zip": b"PK\3\4" + os.urandom(500), "elf": b"\x7fELF" + bytes(range(256)) * 20}.items():
            with self.subTest(data=name):
                for path, request in (("/1.0/addons", {"name": "bad"}), ("/1.0/addons/addon", {}),
                    ("/1.0/applications", {})):
                    self.refused(path, data, **request)
                if name not in ("gzip", "xz"):
                    self.refused("/1.0/images", data, name="bad")

    def test_entries_that_leave_the_package(self):
        for name, entries in ESCAPES.items():
            with self.subTest(entry=name):
                self.each_kind(tarball(entries))

    def test_zip_archives(self):
        for name in ("../evil", "/etc/evil", "hooks/../../evil", "a\\..\\..\\b/../../x"):
            buffer = io.BytesIO()
            with zipfile.ZipFile(buffer, "w") as archive:
                for file, content in {**GOOD, name: "x"}.items():
                    info = zipfile.ZipInfo(file)
                    info.external_attr = 0o100755 << 16
                    archive.writestr(info, content)
            with self.subTest(name=name):
                self.refused("/1.0/applications", buffer.getvalue())
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            for file, mode in (("manifest.yaml", 0o100644), ("hooks/install", 0o120777)):
                info = zipfile.ZipInfo(file)
                info.external_attr = mode << 16
                archive.writestr(info, "name: bad\n" if file == "manifest.yaml" else "/etc/passwd")
        self.refused("/1.0/applications", buffer.getvalue())

    def test_hooks(self):
        for name, entries in {"link": [link("hooks/install", "../data")],
            "absolute link": [link("hooks/install", "/bin/sh")],
            "folder": [entry("hooks/install", type=tarfile.DIRTYPE)],
                              "not executable": [entry("hooks/install", b"x", mode=0o644)],
                              "link to itself": [link("hooks/install", "install")]}.items():
            with self.subTest(hook=name):
                self.each_kind(tarball(entries, {"manifest.yaml": "name: bad\n", "data": "x"}), "hooks/install")
        for hooks in ({}, {"hooks/unknown": "x"}, {"hooks/": ""}, {"hooks": "x"}, {"hooks/install.sh": "x"},
            {"hooks/INSTALL": "x"}, {"hooks/sub/install": "x"}):
            with self.subTest(hooks=hooks):
                self.refused("/1.0/addons", bz2.compress(tarball([], {"manifest.yaml": "name: bad\n", **hooks})),
                    name="bad")

    def test_manifests(self):
        deep = "".join(" " * level + f"k{level}:\n" for level in range(200))
        laughs = "a: &a [x, x]\n" + "".join(f"{chr(98 + i)}: &{chr(98 + i)} [*{chr(97 + i)}, *{chr(97 + i)}]\n" for i in range(20))
        texts = {"none": None, "empty": "", "null": "~", "list": "- name: bad", "text": "bad", "number": "7",
            "binary": b"\xff\xfe\x00", "tab": "name:\tx\n\t- y", "two": "name: bad\n---\nname: worse\n",
                 "aliases": laughs, "merge": "a: &a {name: bad}\n<<: *a\n", "self": "name: &a [*a]\n",
                 "duplicate": "name: bad\nname: worse\n", "deep": deep + "name: bad\n", "flow": "name: " + "[" * 10000,
                 "open": "name: 'bad",
                 "tag": "name: !!python/object/apply:os.system ['true']\n",
                 "binary tag": "name: !!binary aGk=\n hm: x", "key": "? [a, b]\n: x\nname: bad\n",
                 "large": "name: bad\nx: " + "y" * 2 * MIB + "\n",
                 "many": "".join(f"k{i}: {{}}\n" for i in range(200000)),
                 "nul": "name: \"b\\0d\"\n", "control": "name: b\x01d\n", "no name": "version: '1'\n",
                 "name list": "name: [bad]\n", "name empty": "name: ''\n", "name path": "name: ../bad\n",
                 "name id": "name: dc10nquc5ee4f6u48mqg\n", "name long": f"name: {'x' * 129}\n",
                 "name slash": "name: a/b\n"}
        addon_is_fine = ("no name", "name list")
        for name, text in texts.items():
            files = {"hooks/install": hook("true"), **({} if text is None else {"manifest.yaml": text})}
            with self.subTest(manifest=name):
                error = self.refused("/1.0/applications", bz2.compress(tarball([], files)))
                self.assertTrue("manifest" in error or "name" in error, error)
            if not name.startswith("name") and name not in addon_is_fine:
                with self.subTest(addon=name):
                    self.refused("/1.0/addons", bz2.compress(tarball([], files)), name="bad")

    def test_keys_of_the_manifest(self):
        bad = {"version": ["[]", "x" * 51], "instance-type": ["a3.3", "7", "[]"], "image": ["nothing", "[]", "../x"],
            "boot-package": ["one", "7", "'; rm -rf'"], "boot-activity": ["x y", "[]"],
               "required-permissions": ["x", "{}", "[[x]]"],
               "addons": ["nothing", "[nothing]", "[addon, addon]", "{}"], "tags": ["['a,b']", "x", "['']"],
               "features": ["x", "[[x]]"], "video-encoder": ["cpu", "[]"],
               "watchdog": ["x", "{disabled: 7}", "{allowed-packages: [x]}", "{allowed-packages: ['*', com.a.b]}"],
               "services": ["x", "[{}]", "[{name: a, port: 0, protocols: [tcp]}]",
                   "[{name: a, port: 22, protocols: []}]", "[{name: a, port: 22, port_end: 20, protocols: [tcp]}]",
               "[{name: a, port: 22, protocols: [tcp]}, {name: b, port: 22, protocols: [tcp]}]"],
               "resources": ["x", "{cpus: 0}", "{memory: 0GB}", "{disk-size: x}", "{gpu-slots: x}"],
               "extra-data": ["x", "{a: {target: /etc}}", "{a: {}}", "{'../a': {target: /sdcard/Android/obb/com.a.b}}"],
               "hooks": ["x", "{timeout: 16m}", "{timeout: -1s}", "{timeout: 0s}", "{timeout: [5]}"],
               "bootstrap": ["x", "{keep: x}", "{keep: ['../x']}", "{keep: [/etc]}"], "node-selector": ["x", "[[x]]"],
               "abi": ["mips", "[]"]}
        for key, values in bad.items():
            for value in values:
                with self.subTest(key=key, value=value[:40]):
                    text = f"name: bad\n{'boot-package: com.a.b' if key == 'extra-data' else ''}\n{key}: {value}\n"
                    error = self.refused("/1.0/applications", package({**GOOD, "manifest.yaml": text}))
                    self.assertTrue(key in error or "not found" in error or "extra-data" in error, error)

    def test_bombs(self):
        self.each_kind(tarball([entry(f"f{i}") for i in range(100001)]), "entries")
        data = bomb(GOOD, 10 << 30, bz2.compress)
        self.assertLess(len(data), MIB)
        for path, request in (("/1.0/addons", {"name": "bad"}), ("/1.0/addons/addon", {}), ("/1.0/applications", {})):
            with self.subTest(path=path):
                self.refused(path, data, "times", **request)
        self.refused("/1.0/images", bomb({"metadata.yaml": METADATA, "rootfs/sbin/init": "x"}, 10 << 30, bz2.compress),
            "times", name="bad")

    def test_images(self):
        root = {"metadata.yaml": METADATA, "rootfs/sbin/init": "x"}
        for name, entries in ESCAPES.items():
            if name in ("link out", "link above", "pipe", "hard link to nothing", "hard link out", "hard link above",
                "file as folder", "through a link", "device", "block device", "twice", "empty", "top",
                "manifest twice", "deep", "long name"):
                continue  # fine in a root file system, or tried below
            with self.subTest(entry=name):
                self.refused("/1.0/images", gzip.compress(tarball(entries, root)), name="bad")
        odd = {"through a link out": [link("rootfs/out", "/etc"), entry("rootfs/out/evil", b"x")],
            "link as root": [link("rootfs", "/")], "hard link out": [link("rootfs/x", "/etc/shadow", True)],
               "hard link above": [link("rootfs/x", "rootfs/../../../etc/shadow", True)],
               "device": [device("rootfs/dev/mem")], "metadata link": [link("metadata.yaml", "/etc/passwd")],
               "through a link above": [link("rootfs/out", ".."), entry("rootfs/out/../evil", b"x")],
               "link over a folder": [entry("rootfs/a/b", b"x"), link("rootfs/a", "/etc"), entry("rootfs/a/b", b"y")]}
        for name, entries in odd.items():
            files = {k: v for k,
                v in root.items() if not (name == "metadata link" and k == "metadata.yaml") and not (name == "link as root" and "rootfs" in k)}
            with self.subTest(entry=name):
                self.refused("/1.0/images", gzip.compress(tarball(entries, files)), name="bad")
        texts = ["", "~", "[]", "x", "architecture: []\ncreation_date: 1\n", "creation_date: 1\n",
            "architecture: x86_64\n", "architecture: mips\ncreation_date: 1\n",
            "architecture: x86_64\ncreation_date: x\n", "architecture: x86_64\ncreation_date: 1\nproperties: []\n",
                 "a: &a x\narchitecture: *a\ncreation_date: 1\n", METADATA + "architecture: x86_64\n",
                 METADATA + "x: " + "y" * 2 * MIB, b"\xff", "[" * 10000]
        for text in texts:
            with self.subTest(metadata=text[:60]):
                self.refused("/1.0/images", gzip.compress(tarball([], {**root, "metadata.yaml": text})), name="bad")
        for missing in root:
            with self.subTest(missing=missing):
                self.refused("/1.0/images",
                    gzip.compress(tarball([], {k: v for k, v in root.items() if k != missing})), missing.split("/")[0],
                    name="bad")


if __name__ == "__main__":
    harness.cases.main()
