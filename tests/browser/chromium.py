#!/usr/bin/env python3
"""A browser for the tests of the gateway's page: Debian's Chromium, driven by playwright-core from npm; or Firefox, where
SVC_FIREFOX names its program.

    chromium.py --prepare     installs playwright-core into the build folder
    chromium.py TEST.mjs ...  runs tests of node in it

Skipped, saying why, only where the browser or npm is not to be had."""
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "server/ui"))
import npm_folder  # noqa: E402

BUILD = pathlib.Path(os.environ.get("SVC_BUILD_DIR", HERE.parents[1] / "build")).absolute()
CACHE = BUILD / "npm-browser"
FIREFOX = os.environ.get("SVC_FIREFOX")
PROGRAM = os.environ.get("SVC_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
SKIPPED = 77


def obstacle():
    """What is in the way of a browser, or nothing."""
    if not FIREFOX and not PROGRAM:
        return "chromium is not installed"
    return npm_folder.prepare(HERE, CACHE)


def require():
    """For unittest: skips what follows."""
    if found := obstacle():
        raise unittest.SkipTest(found)


def environment():
    return {**os.environ, "SVC_NODE_MODULES": str(CACHE), "SVC_CHROMIUM": PROGRAM or ""}


def own_network():
    """Words before a command that give it a network with a loopback alone, where that is asked for and possible: browsers
    give up what they load when any link of their network comes or goes."""
    if os.environ.get("SVC_OWN_NETWORK") != "1" or os.geteuid() != 0:
        return []
    return ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]


def main():
    if found := obstacle():
        print("skipped: " + found)
        return SKIPPED
    if sys.argv[1] == "--prepare":
        return 0
    command = [*own_network(), "node", "--test", "--test-reporter=spec", *sys.argv[1:]]
    return subprocess.run(command, env=environment(), check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
