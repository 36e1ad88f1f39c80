#!/usr/bin/env python3
"""Failpoints: each name is one place, and the programs that are shipped cannot be told to die."""
import os
import pathlib
import re
import sys
import unittest

import names

sys.path.insert(0, str(names.ROOT / "tests/support"))
import cases  # noqa: E402

BUILD = pathlib.Path(os.environ.get("SVC_BUILD_DIR", names.ROOT / "build"))
SHIPPED = ("server/svcd", "server/gateway/svc-gateway", "libsvc/runtime/lxc/helper/svc-lxc", "libsvc/runtime/lxc/launcher/svc-launch", "instance-agent/svc-agent", "cli/svcctl")


class Names(unittest.TestCase):
    def test_each_name_stands_in_one_place(self):
        self.assertEqual({name: places for name, places in names.names().items() if len(places) > 1}, {})

    def test_each_name_says_where_and_what(self):
        self.assertEqual([name for name in names.names() if not re.fullmatch(r"[a-z]+\.[a-z_]+", name)], [])

    def test_what_is_not_reached_exists(self):
        self.assertEqual(set(names.UNREACHED) - set(names.names()), set())

    def test_shipped_programs_take_no_orders_to_die(self):
        for program in SHIPPED:
            self.assertNotIn(b"SVC_FAILPOINT", (BUILD / program).read_bytes(), program)
        self.assertIn(b"SVC_FAILPOINT", (BUILD / "tests/crash/svcd").read_bytes())


if __name__ == "__main__":
    cases.main()
