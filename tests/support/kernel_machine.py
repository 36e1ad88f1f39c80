#!/usr/bin/env python3
"""A virtual machine with a kernel of Debian's, for what the kernel of this machine lacks: a run of a script in it.

    kernel_machine.py --prepare      fetches the kernel into the build folder, and the programs of AppArmor
    kernel_machine.py --binderfs     makes a module of that kernel that has binderfs, which Debian's has not: 140 MB to fetch
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("SVC_BUILD_DIR", ROOT / "build")).resolve()
KERNEL = BUILD / "kernel"
BINDERFS = BUILD / "binderfs"
APPARMOR = BUILD / "apparmor"
QEMU = "qemu-system-x86_64"
TIME_LIMIT = 900  # seconds of a run; without KVM it takes about one minute on a quiet machine
END = "kernel-machine: the script ended with "

# Of the kernel's modules, those that a machine with containers loads.
MODULES = ("arch/x86/crypto", "crypto", "drivers/android", "drivers/block/virtio_blk.ko", "drivers/net/veth.ko",
           "drivers/virtio", "fs/ext4", "fs/fuse", "fs/jbd2", "fs/mbcache.ko", "fs/overlayfs", "lib", "net/802", "net/bridge",
           "net/ipv4", "net/ipv6", "net/llc", "net/netfilter", "net/sched")

# Only leads to the disk: the file system of an initrd has no mounts with other user ids, and no process leaves it as its root.
INITRD_PROGRAM = """#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t devtmpfs dev /dev
modprobe -a virtio_pci virtio_blk ext4
mount -t ext4 /dev/vda /disk
umount /proc
exec switch_root /disk /init
"""

FIRST_PROGRAM = """#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/pts /dev/shm /run /tmp /var/lib
mount -t devpts -o newinstance,ptmxmode=0666 pts /dev/pts
mount -t tmpfs run /run
mount -t tmpfs tmp /tmp
chmod 1777 /tmp
mount -t cgroup2 cgroup /sys/fs/cgroup
mount -t securityfs securityfs /sys/kernel/security
ip link set lo up
hostname kernel-machine
# Programs that see a terminal draw on it.
mkfifo /tmp/output
cat /tmp/output &
echo
/script </dev/null >/tmp/output 2>&1
status=$?
wait $!
echo "@END@$status"
poweroff -f
"""


def missing():
    """Why no machine can be run; nothing: one can."""
    if not shutil.which(QEMU):
        return f"needs {QEMU}"
    for program in ("busybox", "mke2fs"):
        if not shutil.which(program):
            return f"needs {program}"
    if not (KERNEL / "boot").is_dir():
        return "needs the kernel that run-tests fetches"
    return None


def fetch(names, folder):
    """Debian packages, unpacked below the folder and not installed."""
    with tempfile.TemporaryDirectory(dir=BUILD) as packages:
        # The downloading user of apt may not write into folders of root.
        subprocess.run(["apt-get", "download", "-q", "-o", "APT::Sandbox::User=root", *names], check=True, cwd=packages, capture_output=True)
        for package in pathlib.Path(packages).glob("*.deb"):
            subprocess.run(["dpkg", "-x", package, folder], check=True)


def fetch_as(names, target):
    """Whole or not at all."""
    with tempfile.TemporaryDirectory(dir=BUILD) as folder:
        fetch(names, pathlib.Path(folder) / "unpacked")
        os.rename(pathlib.Path(folder) / "unpacked", target)


def fetch_kernel():
    depends = subprocess.run(["apt-cache", "depends", "linux-image-amd64"], check=True, capture_output=True, text=True).stdout
    fetch_as([next(word for word in depends.split() if word.startswith("linux-image-") and word != "linux-image-amd64")], KERNEL)


# Two symbols that the kernel does not give to modules: a reserve of device numbers for the host alone, which the test does not
# use up, and the end of a count, whose owner the test does not outlive.
WITHOUT_SYMBOLS = (("info->ipc_ns == &init_ipc_ns", "false"), ("put_ipc_ns(info->ipc_ns);", "(void)info->ipc_ns;"))
MODULE_MAKEFILE = """ccflags-y += -I$(src) -DCONFIG_ANDROID_BINDERFS=1
obj-m += binder_linux.o
binder_linux-y := binder.o binder_alloc.o binderfs.o
"""


def make_binderfs():
    version = next((KERNEL / "lib/modules").iterdir()).name
    series = ".".join(version.split(".")[:2])
    with tempfile.TemporaryDirectory(dir=BUILD) as folder:
        root = pathlib.Path(folder)
        fetch([f"linux-headers-{version}", f"linux-headers-{version.rsplit('-', 1)[0]}-common", f"linux-kbuild-{series}",
               f"linux-source-{series}"], root)
        source = f"linux-source-{series}"
        subprocess.run(["tar", "-xf", root / f"usr/src/{source}.tar.xz", "-C", root, f"{source}/drivers/android"], check=True)
        module, headers = root / source / "drivers/android", root / f"usr/src/linux-headers-{version}"
        text = (module / "binderfs.c").read_text()
        for old, new in WITHOUT_SYMBOLS:
            assert old in text, old
            text = text.replace(old, new)
        (module / "binderfs.c").write_text(text)
        (module / "Makefile").write_text(MODULE_MAKEFILE)
        for name in ("Makefile", ".kernelvariables"):  # they tell where the packages are installed
            (headers / name).write_text((headers / name).read_text().replace("/usr/src/", f"{root}/usr/src/"))
        subprocess.run(["make", "-C", headers, f"M={module}", "modules"], check=True, capture_output=True)
        BINDERFS.mkdir(exist_ok=True)
        shutil.copy(module / "binder_linux.ko", BINDERFS / "binder_linux.ko")


def libraries(program):
    """The files that a program is loaded with."""
    listed = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
    return [word for line in listed.splitlines() for word in line.split() if word.startswith("/")]


def sections(output):
    """The lines below each line `### NAME`."""
    parts = re.split(r"^### (\w+)$", output, flags=re.M)
    return {name: text.strip().splitlines() for name, text in zip(parts[1::2], parts[2::2])}


class KernelMachine:
    """Files are added, then a script runs. All below a folder that close() removes."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="svc-kernel-", dir="/var/tmp"))
        try:
            self.fill()
        except BaseException:
            self.close()
            raise

    def fill(self):
        self.root = self.folder / "root"
        for name in ("bin", "dev", "etc", "proc", "root", "sbin", "sys", "usr/bin", "usr/sbin", "var/tmp"):
            (self.root / name).mkdir(parents=True)
        self.add("/bin/busybox", "/bin/busybox")
        (self.root / "sbin/modprobe").symlink_to("/bin/busybox")
        self.write("/etc/passwd", "root:x:0:0:root:/root:/bin/sh\n")
        self.write("/etc/group", "root:x:0:\n")
        self.write("/init", FIRST_PROGRAM.replace("@END@", END), 0o755)
        self.add_modules()

    def close(self):
        shutil.rmtree(self.folder)

    def add(self, source, target):
        """A program or file, with the libraries that it needs."""
        for file, place in [(source, target)] + [(name, name) for name in libraries(source)]:
            inside = self.root / str(place).lstrip("/")
            inside.parent.mkdir(parents=True, exist_ok=True)
            if not inside.exists():
                shutil.copy(file, inside)

    def write(self, path, text, mode=0o644):
        file = self.root / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(mode)

    def add_modules(self):
        version = next((KERNEL / "lib/modules").iterdir())
        target = self.root / "lib/modules" / version.name
        for name in MODULES:
            source = version / "kernel" / name
            (target / "kernel" / name).parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if source.is_dir() else shutil.copy)(source, target / "kernel" / name)
        for name in ("modules.builtin", "modules.order"):
            shutil.copy(version / name, target / name)
        subprocess.run(["busybox", "depmod", "-b", self.root, version.name], check=True)

    def take_binderfs(self):
        """The module of --binderfs in the place of Debian's."""
        shutil.copy(BINDERFS / "binder_linux.ko", next(self.root.glob("lib/modules/*")) / "kernel/drivers/android/binder_linux.ko")

    def add_apparmor(self):
        """The kernel has it on; svcd uses it where its parser is there, too."""
        self.add(APPARMOR / "sbin/apparmor_parser", "/sbin/apparmor_parser")
        for name in ("etc/apparmor", "etc/apparmor.d/abi", "etc/apparmor.d/tunables", "usr/share/apparmor-features"):
            shutil.copytree(APPARMOR / name, self.root / name, dirs_exist_ok=True)

    def make_initrd(self, file):
        first = self.folder / "first"
        for name in ("bin", "dev", "disk", "proc", "sbin"):
            (first / name).mkdir(parents=True)
        shutil.copy("/bin/busybox", first / "bin/busybox")
        (first / "sbin/modprobe").symlink_to("/bin/busybox")
        shutil.copytree(self.root / "lib/modules", first / "lib/modules")
        (first / "init").write_text(INITRD_PROGRAM)
        (first / "init").chmod(0o755)
        with open(file, "wb") as archive:
            names = subprocess.run(["find", "."], cwd=first, check=True, capture_output=True).stdout
            subprocess.run(["busybox", "cpio", "-o", "-H", "newc"], cwd=first, check=True, input=names, stdout=archive,
                           stderr=subprocess.DEVNULL)

    def run(self, script):
        """What the script printed. Throws where it did not end with 0."""
        self.write("/script", script, 0o755)
        initrd, disk = self.folder / "initrd", self.folder / "disk"
        self.make_initrd(initrd)
        with open(disk, "wb") as file:
            file.truncate(3 << 29)
        subprocess.run(["mke2fs", "-q", "-t", "ext4", "-d", self.root, disk], check=True)
        kernel = next((KERNEL / "boot").glob("vmlinuz-*"))
        command = [QEMU, "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2", "-m", "1536", "-nographic", "-no-reboot", "-net", "none",
                   "-kernel", kernel, "-initrd", initrd, "-append", "console=ttyS0 quiet panic=-1",
                   "-drive", f"file={disk},if=virtio,format=raw,cache=unsafe"]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIME_LIMIT)
        output = done.stdout.decode(errors="replace").replace("\r", "")
        if END + "0" not in output:
            raise AssertionError("the machine's script failed:\n" + output[-20000:])
        return output.split(END)[0]


if __name__ == "__main__":
    if shutil.which(QEMU) and not KERNEL.is_dir():
        fetch_kernel()
    if shutil.which(QEMU) and not APPARMOR.is_dir():
        fetch_as(["apparmor"], APPARMOR)
    if sys.argv[1:] == ["--binderfs"] and not BINDERFS.is_dir():
        make_binderfs()
