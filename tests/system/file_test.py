#!/usr/bin/env python3
"""Files into an instance and out of it."""
import io
import json
import os
import pathlib
import shutil
import stat
import tarfile
import tempfile

import harness

AGENT = "/var/lib/svc-agent/bin/svc-agent"


class Files(harness.DaemonTest):
    @classmethod
    def prepare(cls):
        cls.daemon.add_image()
        cls.id = cls.daemon.launch(name="phone")

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="svc-files-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.inside("rm -rf /root/* /srv/*")

    def inside(self, script):
        return self.daemon.execute(self.id, "sh", "-ec", script)

    def ask(self, *words):
        done = self.daemon.ctl("file", words[0], "phone", *words[1:])
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.decode()

    def refused(self, *words):
        done = self.daemon.ctl("file", words[0], "phone", *words[1:])
        self.assertEqual(done.returncode, 1, done.stdout)
        return done.stderr.decode()

    def listed(self, path, *more):
        return {file["path"]: file for file in json.loads(self.ask("list", path, "-o", "json", *more))}

    def tree(self):
        """A folder with what folders have."""
        tree = self.folder / "tree"
        (tree / "deep/er").mkdir(parents=True)
        (tree / "random").write_bytes(os.urandom(3 << 20))
        (tree / "deep/er/empty").touch()
        (tree / "deep/tool").write_text("#!/bin/sh\necho ran\n")
        (tree / "deep/tool").chmod(0o755)
        (tree / "deep/link").symlink_to("../random")
        (tree / "deep/dangling").symlink_to("/nowhere")
        (tree / "deep").chmod(0o750)
        os.mkfifo(tree / "pipe")
        os.utime(tree / "random", (1_000_000_000, 1_000_000_000))
        return tree

    def content(self, folder):
        """Mode, time and content of all that is in a folder of this machine, without pipes."""
        found = {}
        for path in sorted(folder.rglob("*")):
            info = path.lstat()
            if not stat.S_ISFIFO(info.st_mode):
                found[str(path.relative_to(folder))] = (oct(info.st_mode), os.readlink(path) if path.is_symlink() else
                                                        None if path.is_dir() else (path.read_bytes(), int(info.st_mtime)))
        return found

    def test_a_folder_that_was_pushed_and_pulled_is_the_same(self):
        tree = self.tree()
        self.ask("push", tree, "/srv/copy", "--uid", "33", "--gid", "44")
        self.assertEqual(self.inside("cd /srv/copy; stat -c '%n %a %u:%g' random deep deep/tool; deep/tool; ls -1"),
                         "random 644 33:44\ndeep 750 33:44\ndeep/tool 755 33:44\nran\ndeep\nrandom\n")
        self.ask("pull", "/srv/copy", self.folder / "back")
        self.assertEqual(self.content(self.folder / "back"), self.content(tree))

    def test_where_a_copy_lands(self):
        file = self.folder / "file"
        file.write_text("content")
        self.inside("mkdir /srv/into; ln -s /srv/into /srv/link")
        for target, place in (("/srv/new", "/srv/new"), ("/srv/into", "/srv/into/file"), ("/srv/link", "/srv/into/file"),
                              ("/srv/into/", "/srv/into/file"), ("/root/", "/root/file")):
            self.ask("push", file, target)
            self.assertEqual(self.inside(f"cat {place}; rm {place}"), "content")
        self.inside("echo mine >/srv/original; ln -s original /srv/alias")
        self.ask("pull", "/srv/alias", self.folder)
        self.assertEqual((self.folder / "alias").read_text(), "mine\n")
        self.ask("pull", "/srv/original", self.folder / "new name")
        self.assertEqual((self.folder / "new name").read_text(), "mine\n")

    def test_other_files_stay_and_those_of_the_same_name_are_replaced(self):
        self.inside("mkdir -p /srv/tree/deep; echo stays >/srv/tree/other; echo old >/srv/tree/deep/tool")
        self.ask("push", self.tree(), "/srv")
        self.assertEqual(self.inside("cat /srv/tree/other; /srv/tree/deep/tool"), "stays\nran\n")

    def test_what_is_listed(self):
        self.ask("push", self.tree(), "/srv/tree")
        top, everything = self.listed("/srv/tree"), self.listed("/srv/tree", "-r")
        self.assertEqual(sorted(top), ["deep", "random"])
        self.assertEqual(sorted(everything), ["deep", "deep/dangling", "deep/er", "deep/er/empty", "deep/link", "deep/tool", "random"])
        self.assertEqual((top["random"]["size"], top["random"]["modified"]), (3 << 20, 1_000_000_000))
        self.assertEqual(everything["deep/link"]["target"], "../random")
        table = self.ask("list", "/srv/tree/random")
        self.assertIn("0644", table)
        self.assertIn("2001-09-09T01:46:40Z", table)

    def test_an_interrupted_copy_continues(self):
        tree = self.tree()
        self.ask("push", tree, "/srv/tree")
        self.inside("echo changed >>/srv/tree/deep/tool; stat -c %i /srv/tree/random >/root/inode; rm /srv/tree/deep/er/empty")
        self.ask("push", tree, "/srv", "--continue")
        self.assertEqual(self.inside("/srv/tree/deep/tool; ls /srv/tree/deep/er; [ $(stat -c %i /srv/tree/random) = $(cat /root/inode) ]"),
                         "ran\nempty\n")
        self.ask("pull", "/srv/tree", self.folder / "back")
        kept = (self.folder / "back/random").stat().st_ino
        (self.folder / "back/deep/tool").unlink()
        (self.folder / "copies").mkdir()
        (self.folder / "back").rename(self.folder / "copies/tree")
        self.ask("pull", "/srv/tree", self.folder / "copies", "--continue")
        self.assertEqual((self.folder / "copies/tree/random").stat().st_ino, kept)
        self.assertTrue((self.folder / "copies/tree/deep/tool").exists())

    def test_errors_name_what_is_wrong(self):
        self.inside("mkdir /srv/folder; echo x >/srv/file")
        file = self.folder / "file"
        file.write_text("content")
        self.assertIn("'/srv/none' is not there", self.refused("pull", "/srv/none", self.folder))
        self.assertIn("'/srv/none' is not there", self.refused("list", "/srv/none"))
        self.assertIn("folder '/srv/none/' is not there", self.refused("push", file, "/srv/none/"))
        self.assertIn("folder '/srv/none' is not there", self.refused("push", file, "/srv/none/x"))
        self.assertIn("/none' is not there", self.refused("push", self.folder / "none", "/srv"))
        self.assertIn("'/srv/file' is no folder", self.refused("push", self.folder, "/srv/file"))
        (self.folder / "folder").mkdir()
        (self.folder / "clash").mkdir()
        (self.folder / "clash/file").mkdir()
        self.assertIn("is a folder", self.refused("pull", "/srv/file", self.folder / "clash"))
        self.assertEqual(self.inside("ls -A /srv"), "file\nfolder\n")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["clash", "file", "folder"])

    def test_a_hostile_guest_writes_nothing_outside_of_the_target(self):
        """The program of the guest is another one, which sends what it likes."""
        outside = self.folder / "outside"
        outside.mkdir()
        target = self.folder / "target"
        streams = {
            "link and a file beneath it": [("sym", "x", str(outside)), ("file", "x/evil")],
            "a name with dots": [("file", "../outside/evil")],
            "an absolute name": [("file", str(outside / "evil"))],
            "a device": [("device", "evil")],
        }
        for name, entries in streams.items():
            self.send_as_guest(entries)
            target.mkdir()
            self.assertTrue(self.refused("pull", "/srv/any", target), name)
            self.assertEqual(list(outside.iterdir()), [], name)
            shutil.rmtree(target)
        self.send_as_guest([("sym", "file", str(outside))], folder=False)
        self.assertIn("is a link", self.refused("pull", "/srv/any", target))
        self.assertFalse(target.is_symlink())
        self.send_as_guest([("setuid", "tool")])
        self.ask("pull", "/srv/any", target)
        self.assertEqual(stat.S_IMODE((target / "tool").stat().st_mode), 0o755)

    def test_what_a_hostile_guest_says_does_not_reach_the_terminal(self):
        self.act_as("printf '\\033]52;c;x\\007gone\\n' >&2; exit 1")
        self.assertEqual(self.refused("list", "/srv"), "Error: ?]52;c;x?gone\n")
        self.act_as("exit 0")
        self.assertIn("tells nothing", self.refused("list", "/srv"))

    def test_names_may_have_any_bytes(self):
        self.inside("mkdir /srv/odd; echo x >/srv/odd/$(printf 'a\\377b')")
        file = self.folder / "file"
        file.write_text("content")
        self.ask("push", file, "/srv/odd")
        self.ask("pull", "/srv/odd", self.folder)
        self.ask("pull", "/srv/odd", self.folder, "--continue")
        self.assertEqual(sorted(os.listdir(os.fsencode(self.folder / "odd"))), [b"a\xffb", b"file"])
        self.assertIn("a?b", self.ask("list", "/srv/odd"))

    def send_as_guest(self, entries, folder=True):
        stream = io.BytesIO()
        with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as archive:
            kinds = {"sym": tarfile.SYMTYPE, "device": tarfile.CHRTYPE}
            for kind, path, *link in ([("folder", ".")] if folder else []) + entries:
                entry = tarfile.TarInfo(path)
                entry.type = tarfile.DIRTYPE if kind == "folder" else kinds.get(kind, tarfile.REGTYPE)
                entry.mode = 0o4755 if kind == "setuid" else 0o755
                entry.linkname = link[0] if link else ""
                archive.addfile(entry)
        (self.folder / "stream").write_bytes(stream.getvalue())
        self.ask("push", self.folder / "stream", "/srv/stream")
        self.act_as("exec cat /srv/stream")

    def act_as(self, script):
        """The guest's root mounts a program over the agent's, for the next command alone. LXD's commands run below the agent's relay."""
        fake = self.folder / "fake"
        fake.write_text(f"#!/bin/sh\n[ $1 = again ] || umount -l {AGENT}\n"
                        f"[ $1 != relay ] || exec {AGENT} relay -- /srv/fake again\n{script}\n")
        fake.chmod(0o755)
        self.ask("push", fake, "/srv/fake")
        self.inside(f"mount -o bind /srv/fake {AGENT}")


if __name__ == "__main__":
    harness.cases.main()
