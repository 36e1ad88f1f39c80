"""Packages from npm for a test, installed once into a folder of the build (versions pinned in the test's own folder) and
used offline afterwards."""
import fcntl
import shutil
import subprocess

PATIENCE = 300


def prepare(source, cache, files=("package.json", "package-lock.json")):
    """Copies `files` of `source` into `cache` and installs what they name. What is in the way, or nothing."""
    cache.mkdir(parents=True, exist_ok=True)
    with open(cache / ".lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another test may want the same
        return prepare_alone(source, cache, files)


def prepare_alone(source, cache, files):
    changed = False
    for name in files:
        target = cache / name
        if not target.exists() or target.read_bytes() != (source / name).read_bytes():
            changed = True
            shutil.copyfile(source / name, target)
    # What npm writes last, so that an installation that was broken off does not count.
    if (cache / "node_modules/.package-lock.json").exists() and not changed:
        return None
    if not shutil.which("npm") or not shutil.which("node"):
        return "node and npm are not installed"
    obstacle = install(cache)
    if obstacle:
        shutil.rmtree(cache / "node_modules", ignore_errors=True)
    return obstacle


def install(cache):
    command = ["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"]
    try:
        done = subprocess.run(command, cwd=cache, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        return f"npm has not installed what the test needs within {PATIENCE} s"
    return None if done.returncode == 0 else "npm cannot install what the test needs: " + done.stdout[-500:]
