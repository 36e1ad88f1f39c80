"""A file system of a test's own, which loses its power, is filled, or fails."""
import errno
import fcntl
import os
import pathlib
import shutil
import struct
import subprocess
import tempfile
import time

PATIENCE = 120  # seconds
EXT4_IOC_SHUTDOWN, WITHOUT_FLUSH = 0x8004587d, 2
PIECES = [1 << power for power in range(24, 11, -1)]


class Disk:
    """An ext4 file system in a file."""

    def __init__(self, megabytes=96, mounted=None):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="svc-disk-", dir="/dev/shm"))
        self.image, self.mounted = self.folder / "image", pathlib.Path(mounted or self.folder / "mounted")
        self.mounted.mkdir()
        with open(self.image, "wb") as image:
            image.truncate(megabytes << 20)
        subprocess.run(["mkfs.ext4", "-q", "-F", self.image], check=True)

    def mount(self, options="defaults"):
        self.options = options
        subprocess.run(["mount", "-o", "loop," + options, self.image, self.mounted], check=True)

    def cut(self):
        """Nothing is written any more, not even what was accepted before."""
        folder = os.open(self.mounted, os.O_RDONLY)
        try:
            fcntl.ioctl(folder, EXT4_IOC_SHUTDOWN, struct.pack("I", WITHOUT_FLUSH))
        finally:
            os.close(folder)

    def fill(self):
        """Until not a block is left."""
        with open(self.mounted / "filler", "ab") as filler:
            for size in PIECES:
                while self.takes(filler.fileno(), size):
                    pass

    def takes(self, file, size):
        try:
            os.posix_fallocate(file, os.fstat(file).st_size, size)
            return True
        except OSError as e:
            if e.errno != errno.ENOSPC:
                raise
            return False

    def empty(self):
        (self.mounted / "filler").unlink(missing_ok=True)

    def fail(self):
        """The kernel finds an error: mounted with errors=remount-ro it is read-only until it was unmounted and checked."""
        source = subprocess.run(["findmnt", "-no", "SOURCE", self.mounted], check=True, capture_output=True, text=True).stdout
        pathlib.Path("/sys/fs/ext4", os.path.basename(source.strip()), "trigger_fs_error").write_text("1")

    def mend(self):
        self.unmount()
        checked = subprocess.run(["fsck.ext4", "-f", "-p", self.image], capture_output=True, text=True)
        assert checked.returncode in (0, 1), checked  # 1: it has mended something
        self.mount(self.options)

    def unmount(self):
        """Until no namespace of another test has a copy of the mount: while one has, the file system stays as it is."""
        subprocess.run(["umount", self.mounted], check=True)
        end = time.monotonic() + PATIENCE
        while subprocess.run(["losetup", "-j", self.image], check=True, capture_output=True).stdout:
            assert time.monotonic() < end, f"{self.image} is still mounted somewhere"
            os.sched_yield()

    def close(self):
        subprocess.run(["umount", self.mounted], stderr=subprocess.DEVNULL)
        shutil.rmtree(self.folder)
