"""Packages from npm for a test, installed once into a folder of the build (versions pinned in the test's own folder) and
used offline afterwards."""
import shutil
import subprocess


def prepare(source, cache, files=("package.json", "package-lock.json")):
    """Copies `files` of `source` into `cache` and installs what they name. What is in the way, or nothing."""
    cache.mkdir(parents=True, exist_ok=True)
    changed = False
    for name in files:
        target = cache / name
        if not target.exists() or target.read_bytes() != (source / name).read_bytes():
            changed = True
            shutil.copyfile(source / name, target)
    if (cache / "node_modules").exists() and not changed:
        return None
    if not shutil.which("npm") or not shutil.which("node"):
        return "node and npm are not installed"
    done = subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=cache, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    if done.returncode == 0:
        return None
    shutil.rmtree(cache / "node_modules", ignore_errors=True)
    return "npm cannot install what the test needs: " + done.stdout[-500:]
