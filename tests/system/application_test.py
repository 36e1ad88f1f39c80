#!/usr/bin/env python3
"""Applications and addons on real containers: bootstrap, hooks, layers, versions, publication, export."""
import contextlib
import gzip
import hashlib
import io
import os
import pathlib
import shutil
import signal
import subprocess
import tarfile
import tempfile
import unittest

import harness
from harness import hook

LOG = "mkdir -p /srv; echo {word} $INSTANCE_TYPE >>/srv/order"


def manifest(name, **keys):
    return "".join([f"name: {name}\n"] + [f"{key.replace('_', '-')}: {value}\n" for key, value in keys.items()])


def logging_hooks(word, *names):
    return {f"hooks/{name}": hook(LOG.format(word=f"{word}:{name}")) for name in names}


FRAMEWORK = "/usr/share/android-framework-res/framework-res.apk"
LAUNCHER = ('<intent-filter><action android:name="android.intent.action.MAIN"/>'
            '<category android:name="android.intent.category.LAUNCHER"/></intent-filter>')


def apk(package, abi):
    """The bytes of an APK, as Debian's tool makes them."""
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        (place / "AndroidManifest.xml").write_text(
            f'<manifest xmlns:android="http://schemas.android.com/apk/res/android" package="{package}"><application>'
            f'<activity android:name=".Main">{LAUNCHER}</activity></application></manifest>')
        (place / "raw/lib" / abi).mkdir(parents=True)
        (place / "raw/lib" / abi / "libcandy.so").write_text("code")
        subprocess.run(["aapt", "package", "-M", place / "AndroidManifest.xml", "-I", FRAMEWORK, "-F", place / "app.apk", place / "raw"],
                       check=True, capture_output=True)
        return (place / "app.apk").read_bytes()


class Applications(harness.DaemonTest):
    def setUp(self):
        self.addCleanup(self.clean)

    def clean(self):
        self.daemon.remove_instances()
        for url in self.daemon.api("GET", "/1.0/applications").metadata:
            self.daemon.wait(self.daemon.api("DELETE", url, {"force": True}))
        self.daemon.set_config("application.addons", "")
        for url in self.daemon.api("GET", "/1.0/addons").metadata:
            self.daemon.succeed(self.daemon.api("DELETE", url))

    def test_hooks_run_in_their_order_in_the_bootstrap_and_at_each_launch(self):
        self.daemon.add_addon("first", {"manifest.yaml": "name: first\n", **logging_hooks(
            "first", "install", "prepare", "restore", "backup", "pre-start", "post-start", "post-stop")})
        self.daemon.add_addon("second", {"manifest.yaml": "name: second\n", **logging_hooks("second", "pre-start", "post-stop")})
        id = self.daemon.create_app({"manifest.yaml": manifest("ordered", addons="[first, second]"),
                                     **logging_hooks("app", "pre-start", "post-start", "post-stop")})
        instance = self.daemon.launch_app(id)
        order = self.daemon.execute(instance, "cat", "/srv/order").splitlines()
        bootstrap = ["first:install base", "first:pre-start base", "second:pre-start base", "app:pre-start base",
                     "first:prepare base", "first:post-start base", "app:post-start base",
                     "app:post-stop base", "second:post-stop base", "first:post-stop base"]
        launch = ["first:restore regular", "first:pre-start regular", "second:pre-start regular", "app:pre-start regular",
                  "first:post-start regular", "app:post-start regular"]
        self.assertEqual(order, bootstrap + launch)
        self.daemon.succeed(self.daemon.api("PATCH", f"/1.0/containers/{instance}", {"desired_status": "stopped"}))
        self.daemon.succeed(self.daemon.api("PATCH", f"/1.0/containers/{instance}", {"desired_status": "running"}))
        again = self.daemon.execute(instance, "cat", "/srv/order").splitlines()[len(order):]
        stopped = ["first:backup regular", "app:post-stop regular", "second:post-stop regular", "first:post-stop regular"]
        self.assertEqual(again, stopped + launch)

    def test_environment_of_hooks(self):
        show = hook('mkdir -p /srv; { echo "$ADDON_DIR|$APP_DIR|$RUNTIME_DIR|$BOOT_PACKAGE|$INSTANCE_TYPE|$CONTAINER_TYPE"; '
                    'pwd; id -u; umask; } >/srv/environment')
        self.daemon.add_addon("env", {"manifest.yaml": "name: env\n", "hooks/pre-start": show})
        id = self.daemon.create_app({"manifest.yaml": manifest("shown", addons="[env]", boot_package="com.foo.candy")})
        lines = self.daemon.execute(self.daemon.launch_app(id), "cat", "/srv/environment").splitlines()
        self.assertEqual(lines, ["/var/lib/svc-agent/addons/env|/var/lib/svc-agent/app|/var/lib/svc-agent|com.foo.candy|"
                                 "regular|regular", "/var/lib/svc-agent/addons/env", "0", "0022"])

    def test_the_versions_layer_holds_the_changes_alone_and_its_removals(self):
        id = self.daemon.create_app({"manifest.yaml": manifest("changed"), "hooks/pre-start": hook(
            '[ $INSTANCE_TYPE = base ] || exit 0; rm /srv/index.html; mkdir /srv/made; echo new >/srv/made/file')})
        instance = self.daemon.launch_app(id)
        self.assertEqual(self.daemon.execute(instance, "find", "/srv"), "/srv\n/srv/made\n/srv/made/file\n")
        layers = self.daemon.state / "lxc/layers"
        self.assertTrue(self.daemon.eventually(lambda: len(list(layers.iterdir())) == 2))
        layers = sorted(layers.iterdir())
        sizes = [int(subprocess.run(["du", "-s", layer], capture_output=True, text=True).stdout.split()[0]) for layer in layers]
        self.assertLess(min(sizes), max(sizes) / 4)
        self.assertTrue(self.daemon.eventually(lambda: [c["id"] for c in self.daemon.containers()] == [instance]))

    def test_bootstrap_keeps_what_was_asked_for(self):
        id = self.daemon.create_app({"manifest.yaml": manifest("kept", bootstrap="{keep: ['data/*.txt', scripts]}"),
                                     "data/a.txt": "a", "data/b.bin": "b", "scripts/deep/run": "r", "other": "o",
                                     "hooks/post-start": hook("exit 0")})
        files = self.daemon.execute(self.daemon.launch_app(id), "sh", "-c", "cd /var/lib/svc-agent/app; find . -type f | sort")
        self.assertEqual(files.split(), ["./data/a.txt", "./hooks/post-start", "./manifest.yaml", "./scripts/deep/run"])

    def test_what_was_injected_into_the_base_stays_there(self):
        ctl = harness.AGENT_INSIDE + " ctl"
        id = self.daemon.create_app({"manifest.yaml": manifest("injected"), "hooks/post-start": hook(
            "[ $INSTANCE_TYPE = base ] || exit 0; " + ctl + """ request PATCH /1.0 '{"log_level":"fatal"}'; """ +
            f"{ctl} trace start; for device in location camera sensors; do {ctl} $device enable; done; {ctl} trace stop; "
            "ls $RUNTIME_DIR/state >/srv/kept"),
            "hooks/post-stop": hook("mkdir -p $RUNTIME_DIR/state; echo fatal >$RUNTIME_DIR/state/log_level")})
        instance = self.daemon.launch_app(id)
        self.assertEqual(self.daemon.execute(instance, "cat", "/srv/kept").split(),
                         ["camera.json", "location.json", "log_level", "sensors.json"])
        root = self.daemon.execute(instance, *ctl.split(), "request", "GET", "/1.0")
        self.assertIn('"log_level":"info"', root.replace(" ", ""))
        self.assertEqual(self.daemon.execute(instance, "sh", "-c", "ls -A /var/lib/svc-agent/state 2>/dev/null || :"), "")
        with tarfile.open(fileobj=io.BytesIO(self.daemon.api("GET", f"/1.0/applications/{id}/0").raw)) as tar:
            own = ("rootfs/run/svc", "rootfs/run/user/1000/svc-agent", "rootfs/var/lib/svc-agent/traces")
            self.assertEqual([name for name in tar.getnames() if name.startswith(own)], [])

    def test_an_apk_is_left_for_the_hooks_where_the_guest_has_no_package_manager(self):
        id = self.daemon.create_app({"manifest.yaml": manifest("packaged"), "app.apk": "not really",
                                     "hooks/post-start": hook('[ $INSTANCE_TYPE = regular ] || cp "$APP_DIR/app.apk" /srv/')})
        self.assertIn("app.apk", " ".join(self.daemon.version(id, 0)["notes"]))
        self.assertEqual(self.daemon.execute(self.daemon.launch_app(id), "cat", "/srv/app.apk"), "not really")

    @unittest.skipUnless(shutil.which("aapt") and os.path.exists(FRAMEWORK), "needs aapt and android-framework-res")
    def test_an_apk_says_what_the_manifest_does_not(self):
        id = self.daemon.create_app({"manifest.yaml": manifest("candy"), "app.apk": apk("com.example.candy", "x86")})
        application, version = self.daemon.application(id), self.daemon.version(id, 0)
        self.assertEqual((application["boot_package"], application["abi"]), ("com.example.candy", "x86"))
        self.assertEqual(version["boot_activity"], "com.example.candy.Main")
        self.assertNotIn("not read", " ".join(version["notes"]))
        self.assertIn(b"boot-package: com.example.candy", self.daemon.api("GET", f"/1.0/applications/{id}/manifest").raw)
        refused = self.daemon.upload("PATCH", f"/1.0/applications/{id}", harness.package(
            {"manifest.yaml": manifest("candy", boot_package="com.example.cake"), "app.apk": apk("com.example.candy", "x86")}))
        self.assertEqual(refused.status, 400)
        other = self.daemon.upload("PATCH", f"/1.0/applications/{id}", harness.package(
            {"manifest.yaml": manifest("candy"), "app.apk": apk("com.example.candy", "riscv64")}))
        self.daemon.wait(other)  # the image may translate it
        self.assertEqual(self.daemon.application(id)["abi"], {"x86_64": "x86_64", "aarch64": "arm64-v8a"}[os.uname().machine])

    def test_extra_data_is_placed(self):
        id = self.daemon.create_app({
            "manifest.yaml": manifest("extra", boot_package="com.foo.candy") +
            "extra-data:\n  com.foo.candy.obb: {target: /sdcard/Android/obb/com.foo.candy, owner: '0:0', permissions: '0640'}\n"
            "  plain: {target: /sdcard/Android/data/com.foo.candy}\n",
            "extra-data/com.foo.candy.obb/main.obb": "level one", "extra-data/plain": " and two"})
        found = self.daemon.execute(self.daemon.launch_app(id), "sh", "-c", "find /sdcard -type f | sort -r | xargs cat")
        self.assertEqual(found, "level one and two")

    def test_a_hook_that_fails_is_told_and_its_logs_stay(self):
        id = self.daemon.create_app({"manifest.yaml": manifest("broken"), "hooks/pre-start": hook("echo no luck today; exit 3")},
                                    wait="error")
        version = self.daemon.version(id, 0)
        self.assertEqual(version["status"], "error")
        self.assertIn("hook pre-start", version["error_message"])
        self.assertIn("3", version["error_message"])
        base = [c for c in self.daemon.containers() if c["type"] == "base"]
        self.assertEqual([c["status"] for c in base], ["error"])
        self.assertTrue(base[0]["stored_logs"])
        logs = [self.daemon.api("GET", f"/1.0/containers/{base[0]['id']}/logs/{name}").raw for name in base[0]["stored_logs"]]
        self.assertIn(b"no luck today", b"".join(logs))
        self.assertEqual(self.daemon.api("POST", "/1.0/containers", {"app_id": id}).status, 404)  # nothing is published

    def test_a_hook_that_hangs_is_ended_with_all_it_started(self):
        id = self.daemon.create_app({"manifest.yaml": manifest("hanging", hooks="{timeout: 1s}"),
                                     "hooks/pre-start": hook("sleep 731555 & sleep 731555")}, wait="error")
        self.assertIn("timed out", self.daemon.version(id, 0)["error_message"])
        self.assertEqual([p for p in harness.processes() if "731555" in p], [])

    def test_a_failed_update_leaves_the_old_version_launchable(self):
        id = self.daemon.create_app({"manifest.yaml": manifest("updated", version="'1'")})
        bad = harness.package({"manifest.yaml": manifest("updated", version="'2'"), "hooks/pre-start": hook("exit 1")})
        self.daemon.succeed(self.daemon.upload("PATCH", f"/1.0/applications/{id}", bad))
        self.daemon.await_app(id, "error")
        self.assertEqual(self.daemon.application(id)["status"], "error")
        self.assertEqual(self.daemon.container(self.daemon.launch_app(id))["app_version"], 0)

    def test_publication_decides_what_is_launched(self):
        id = self.daemon.create_app({"manifest.yaml": manifest("published")})
        self.daemon.succeed(self.daemon.api("PATCH", f"/1.0/applications/{id}", {"manifest_version": "two"}))
        self.daemon.await_version(id, 1)
        self.daemon.await_app(id)
        self.assertEqual(self.daemon.container(self.daemon.launch_app(id))["app_version"], 1)
        self.daemon.succeed(self.daemon.api("PATCH", f"/1.0/applications/{id}/1", {"published": False}))
        self.assertEqual(self.daemon.container(self.daemon.launch_app(id))["app_version"], 0)
        self.assertEqual(self.daemon.container(self.daemon.launch_app(id, app_version=1))["app_version"], 1)

    def test_new_addon_and_image_versions_make_new_versions(self):
        self.daemon.add_addon("dependency", {"manifest.yaml": "name: dependency\n", "hooks/pre-start": hook("echo one >/root/mark")})
        id = self.daemon.create_app({"manifest.yaml": manifest("dependent", addons="[dependency]")})
        newer = harness.package({"manifest.yaml": "name: dependency\n", "hooks/pre-start": hook("echo two >/root/mark")})
        self.daemon.succeed(self.daemon.upload("PATCH", "/1.0/addons/dependency", newer))
        self.daemon.await_version(id, 1)
        self.daemon.await_app(id)
        self.assertEqual(self.daemon.execute(self.daemon.launch_app(id), "cat", "/root/mark"), "two\n")
        self.assertEqual(self.daemon.api("DELETE", "/1.0/addons/dependency").status, 409)
        self.assertEqual(self.daemon.api("GET", "/1.0/addons/dependency").metadata["used_by"], ["dependent"])

    def test_an_export_is_the_merged_root_and_can_be_an_image_again(self):
        id = self.daemon.create_app({"manifest.yaml": manifest("exported"), "hooks/pre-start": hook(
            "[ $INSTANCE_TYPE = base ] || exit 0; rm /srv/index.html; echo made >/srv/made; chown 1:1 /srv/made; "
            "echo back >/srv/index.html")})
        reply = self.daemon.api("GET", f"/1.0/applications/{id}/0")
        self.assertEqual(reply.status, 200)
        self.assertEqual(hashlib.sha256(reply.raw).hexdigest(), reply.headers["X-SVC-Fingerprint"])
        self.assertIn("exported-0.tar.gz", reply.headers["Content-Disposition"])
        with tarfile.open(fileobj=io.BytesIO(gzip.decompress(reply.raw))) as tar:
            self.assertIn("metadata.yaml", tar.getnames())
            made = tar.getmember("rootfs/srv/made")
            self.assertEqual((made.uid, made.gid), (1, 1))
            self.assertEqual([m.name for m in tar.getmembers() if m.ischr() or ".wh." in m.name], [])
            self.assertEqual([n for n in tar.getnames() if n.endswith("session.json")], [])
        again = self.daemon.api("GET", f"/1.0/applications/{id}/0")
        self.assertEqual(again.headers["X-SVC-Fingerprint"], reply.headers["X-SVC-Fingerprint"])
        self.daemon.succeed(self.daemon.upload("POST", "/1.0/images", reply.raw, name="again"))
        instance = self.daemon.launch("again")
        self.assertEqual(self.daemon.execute(instance, "cat", "/srv/made", "/srv/index.html"), "made\nback\n")
        self.daemon.remove_instances()
        self.daemon.succeed(self.daemon.api("DELETE", "/1.0/images/again", {"force": True}))

    def scratch_files(self):
        """Files without a name that the daemon has open among the packages."""
        found = []
        for entry in pathlib.Path(f"/proc/{self.daemon.process.pid}/fd").iterdir():
            with contextlib.suppress(OSError):  # closed meanwhile
                found.append(os.readlink(entry))
        return [f for f in found if f.startswith(str(self.daemon.state / "blobs")) and f.endswith(" (deleted)")]

    def begin_export(self, path):
        """The client, which has read the head of the reply alone."""
        connection = harness.UnixConnection(self.daemon.socket)
        self.addCleanup(connection.close)
        connection.request("GET", path)
        return connection, connection.getresponse()

    def test_an_export_leaves_no_file_when_its_client_goes_or_the_daemon_is_killed(self):
        id = self.daemon.create_app({"manifest.yaml": manifest("large"), "hooks/pre-start": hook(
            "[ $INSTANCE_TYPE = base ] || exit 0; dd if=/dev/urandom of=/srv/noise bs=1048576 count=24")})
        path, incoming = f"/1.0/applications/{id}/0", self.daemon.state / "blobs/incoming"
        connection, reply = self.begin_export(path)
        told = reply.headers["X-SVC-Fingerprint"]
        self.assertGreater(int(reply.headers["Content-Length"]), 24 << 20)
        self.assertEqual(len(self.scratch_files()), 1)
        self.assertEqual(os.listdir(incoming), [])
        reply.close()
        connection.close()
        self.assertTrue(self.daemon.eventually(lambda: not self.scratch_files()), self.scratch_files())
        self.begin_export(path + "?compression=zstd")
        self.assertEqual(len(self.scratch_files()), 1)
        self.daemon.kill(signal.SIGKILL)
        self.assertEqual(os.listdir(incoming), [])
        self.daemon.start()
        again = self.daemon.api("GET", path)
        self.assertEqual((hashlib.sha256(again.raw).hexdigest(), again.headers["X-SVC-Fingerprint"]), (told, told))
        zstd = self.daemon.api("GET", path + "?compression=zstd")
        self.assertEqual(hashlib.sha256(zstd.raw).hexdigest(), zstd.headers["X-SVC-Fingerprint"])
        names = subprocess.run(["tar", "--zstd", "-t"], input=zstd.raw, check=True, capture_output=True).stdout.decode().splitlines()
        self.assertIn("rootfs/srv/noise", names)

    def test_raw_instances_get_addons_too(self):
        self.daemon.add_addon("raw", {"manifest.yaml": "name: raw\n", "hooks/pre-start": hook("echo pre >/root/mark"),
                                      "data": "addon's own", "hooks/post-start": hook('cp "$ADDON_DIR/data" /root/data')})
        instance = self.daemon.launch(addons=["raw"])
        self.assertEqual(self.daemon.execute(instance, "cat", "/root/mark", "/root/data"), "pre\naddon's own")

    def test_a_failing_post_start_hook_fails_the_launch(self):
        self.daemon.add_addon("failing", {"manifest.yaml": "name: failing\n", "hooks/post-start": hook("exit 9")})
        reply = self.daemon.api("POST", "/1.0/containers", {"image_id": "busybox", "instance_type": "a2.3", "addons": ["failing"]})
        record = self.daemon.wait(reply)
        self.assertEqual(record["status"], "Failure")
        self.assertIn("hook post-start of addon failing failed", record["err"])

    def test_a_kill_in_the_middle_of_a_bootstrap_does_not_end_it(self):
        for moment in range(4):
            with self.subTest(moment=moment):
                id = self.daemon.create_app({"manifest.yaml": manifest(f"killed{moment}"), "hooks/pre-start": hook(
                    "sleep 0.3; echo base >>/srv/mark"), "hooks/post-stop": hook("sleep 0.3")}, wait=None)
                conditions = ["status=prepared", "status=started", "status=running", "status=stopped"]
                self.daemon.ctl("wait", self.base_of(id), "-c", conditions[moment], "-t", "60s")
                self.daemon.restart()
                self.daemon.await_app(id)
                self.assertTrue(self.daemon.eventually(lambda: self.base_containers() == []), self.base_containers())
                instance = self.daemon.launch_app(id)
                self.assertIn("base\n", self.daemon.execute(instance, "cat", "/srv/mark"))
                self.daemon.remove_instances()

    def base_containers(self):
        return [c for c in self.daemon.containers() if c["type"] == "base"]

    def base_of(self, id):
        for _ in range(1000):
            for container in self.daemon.containers():
                if container["type"] == "base" and container["app_id"] == id:
                    return container["id"]
            if self.daemon.application(id)["status"] != "initializing":
                break
        return "gone"

    def test_deletion_cancels_a_bootstrap_and_leaves_nothing(self):
        id = self.daemon.create_app({"manifest.yaml": manifest("doomed"), "hooks/pre-start": hook("sleep 731558")}, wait=None)
        self.base_of(id)
        self.daemon.succeed(self.daemon.api("DELETE", f"/1.0/applications/{id}", {"force": True}))
        self.assertEqual(self.daemon.api("GET", f"/1.0/applications/{id}").status, 404)
        self.assertTrue(self.daemon.eventually(lambda: self.daemon.containers() == []))
        self.assertEqual([p for p in harness.processes() if "sleep 731558" in p], [])

    def test_instances_outlive_their_application_and_image_outlives_nothing(self):
        id = self.daemon.create_app({"manifest.yaml": manifest("short"), "hooks/pre-start": hook("echo here >/srv/mark")})
        instance = self.daemon.launch_app(id)
        self.daemon.succeed(self.daemon.api("DELETE", f"/1.0/applications/{id}"))
        self.assertEqual(self.daemon.execute(instance, "cat", "/srv/mark"), "here\n")
        self.daemon.kill(signal.SIGKILL)
        self.daemon.start()
        self.assertEqual(self.daemon.execute(instance, "cat", "/srv/mark"), "here\n")
        self.daemon.remove_instances()
        layers = self.daemon.state / "lxc/layers"
        self.assertTrue(self.daemon.eventually(lambda: len(list(layers.iterdir())) == 1))  # the image's


if __name__ == "__main__":
    harness.cases.main()
