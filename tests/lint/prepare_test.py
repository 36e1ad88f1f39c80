#!/usr/bin/env python3
"""What quickstart and run-tests show and install while a newcomer waits: tests/prepare.sh with a ninja that is played."""
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
NINJA = """#!/bin/bash
[[ $NINJA_STATUS == '[%f/%t, %e s] ' ]] || exit 9
echo "ninja: Entering directory"
for step in $(seq 100); do printf '[%d/100, %d.5 s] Compiling C++ object part_%d.o\\n' "$step" "$step" "$step"; done
echo "part.cpp:3: warning: something looks odd"
echo "targets: ${*:3}"
(( STATUS == 0 )) || echo "ninja: error: unknown target 'x'"
exit "$STATUS"
"""


def run_ninja(status, *targets):
    """What run_ninja writes into a log, and its status."""
    with tempfile.TemporaryDirectory() as folder:
        played = Path(folder) / "ninja"
        played.write_text(NINJA, encoding="utf-8")
        played.chmod(0o755)
        environment = os.environ | {"PATH": f"{folder}:{os.environ['PATH']}", "STATUS": str(status)}
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", f'. "{ROOT}/tests/prepare.sh"; run_ninja "$@"', "test", *targets],
                              env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.stdout, done.returncode


def packages(*kinds):
    rows = [line.split() for line in (ROOT / "tests/packages.debian").read_text(encoding="utf-8").splitlines() if line[0] != "#"]
    return {name for kind, name in rows if kind in kinds}


class Progress(unittest.TestCase):
    def test_a_log_shows_each_twentieth_of_the_steps_with_the_time(self):
        shown = [line for line in run_ninja(0)[0].splitlines() if line.startswith("   [")]
        self.assertEqual(20, len(shown), shown)
        self.assertEqual("   [5/100, 5.5 s]", shown[0])
        self.assertEqual("   [100/100, 100.5 s]", shown[-1])

    def test_what_compilers_say_is_shown(self):
        self.assertIn("part.cpp:3: warning: something looks odd\n", run_ninja(0)[0])

    def test_a_failed_build_fails(self):
        self.assertEqual(0, run_ninja(0)[1])
        shown, status = run_ninja(1)
        self.assertEqual(1, status)
        self.assertIn("ninja: error: unknown target 'x'\n", shown)

    def test_targets_are_handed_on(self):
        self.assertIn("targets: server/svcd cli/svcctl\n", run_ninja(0, "server/svcd", "cli/svcctl")[0])


class Packages(unittest.TestCase):
    def test_quickstart_installs_nothing_that_tests_alone_need(self):
        needed = packages("build", "run", "quickstart")
        self.assertFalse(needed & {"prometheus", "catch2", "socat", "ffmpeg", "chromium"}, needed)

    def test_quickstart_installs_the_programs_that_it_runs(self):
        self.assertLessEqual({"jq", "curl", "busybox-static", "ninja-build", "meson"}, packages("build", "run", "quickstart"))


if __name__ == "__main__":
    unittest.main()
