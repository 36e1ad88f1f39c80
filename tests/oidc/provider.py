#!/usr/bin/env python3
"""An OpenID provider for the tests of logins: oidc-provider from npm, in a process of its own.

    provider.py --prepare     installs it into the build folder

Skipped, saying why, only where npm is not to be had."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "server/ui"))
import npm_folder  # noqa: E402

BUILD = pathlib.Path(os.environ.get("SVC_BUILD_DIR", HERE.parents[1] / "build")).absolute()
CACHE = BUILD / "npm-oidc"
SKIPPED = 77
PATIENCE = 60


def require():
    """For unittest: skips what follows."""
    if found := npm_folder.prepare(HERE, CACHE):
        raise unittest.SkipTest(found)


class Provider:
    """Sends browsers back to `redirect`."""

    def __init__(self, redirect):
        self.log = tempfile.TemporaryFile("w+")  # what it says besides, for a failure
        self.process = subprocess.Popen(["node", HERE / "provider.mjs", json.dumps({"redirect": redirect})], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=self.log, text=True, env={**os.environ, "SVC_NODE_MODULES": str(CACHE)})
        line = self.process.stdout.readline()
        while line and not line.startswith("{"):
            line = self.process.stdout.readline()
        assert line, self.whole_log()
        told = json.loads(line)
        self.issuer, self.secret = told["issuer"], told["secret"]

    def whole_log(self):
        self.log.seek(0)
        return self.log.read()

    def stop(self):
        self.process.terminate()
        self.process.wait(PATIENCE)
        self.process.stdout.close()
        self.log.close()


if __name__ == "__main__":
    if obstacle := npm_folder.prepare(HERE, CACHE):
        print("skipped: " + obstacle)
        sys.exit(SKIPPED)
