#!/usr/bin/env python3
"""What `quickstart --stream` says at its end: a token that signs in, however often it is run, and a session that this account's
page shows. Its functions are called here, over a gateway whose regions run nothing."""
import os
import subprocess
import unittest

import world
import harness  # of tests/system, which world.py adds to the path

SCRIPT = harness.ROOT / "tests/quickstart_stream.sh"


class QuickstartTest(unittest.TestCase):
    def setUp(self):
        self.service = harness.Daemon("simulated")
        self.addCleanup(lambda: self.assertFalse(self.service.close()))
        self.service.start()
        self.service.add_image()
        self.service.add_addon("svc-streamer", {"hooks/pre-start": harness.hook("true"), "manifest.yaml": "name: svc-streamer\n"})
        self.service.create_app({"manifest.yaml": "name: desktop\naddons: [svc-streamer]\n"})
        self.gateway = world.Gateway(self.service.dir, self.service.socket).start()
        self.addCleanup(self.gateway.stop)
        world.eventually(lambda: self.gateway.api("GET", "/1.0/applications").metadata, "the gateway lists the application")

    def run_functions(self, text):
        """As quickstart has them, on this gateway; what they print."""
        places = {"root": harness.ROOT, "build": harness.BUILD, "socket": self.service.socket}
        own = {"gateway_state": self.gateway.dir, "gateway_socket": self.gateway.dir / "unix.socket", "gateway_url": self.gateway.url,
               "gateway_log": self.gateway.process.log_file}
        assign = lambda values: "".join(f"{name}={value}\n" for name, value in values.items())
        script = f"set -euo pipefail\nfail() {{ echo \"$*\" >&2; exit 1; }}\n{assign(places)}. {SCRIPT}\n{assign(own)}{text}"
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=harness.PATIENCE, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip(), done.stderr

    def signs_in(self, token):
        answer, _ = self.run_functions(f"as_account {token} /1.0/regions")
        return '"name":"here"' in answer

    def test_the_console_gets_the_gateway_unless_it_has_another(self):
        svcctl = f'svcctl() {{ "{harness.SVCCTL}" --socket "$socket" "$@"; }}\n'
        named = lambda: self.service.api("GET", "/1.0/config").metadata["config"]["console.gateway_url"]
        self.run_functions(svcctl + "name_gateway")
        self.assertEqual(named(), self.gateway.url)
        self.service.set_config("console.gateway_url", "https://another.example")
        self.run_functions(svcctl + "name_gateway")
        self.assertEqual(named(), "https://another.example")

    def test_a_second_run_says_the_token_again(self):
        first, said = self.run_functions("account_token")
        self.assertNotIn("told", said.lower())  # the token is not there
        self.assertTrue(self.signs_in(first))
        self.assertEqual(os.stat(self.gateway.dir / "quickstart.token").st_mode & 0o777, 0o600)
        self.assertEqual(self.run_functions("account_token")[0], first)

    def test_a_token_that_is_worth_nothing_is_replaced(self):
        first, _ = self.run_functions("account_token")
        self.assertEqual(self.gateway.api("DELETE", "/1.0/accounts/quickstart").status, 200)
        second, _ = self.run_functions("account_token")
        self.assertNotEqual(second, first)
        self.assertTrue(self.signs_in(second))
        (self.gateway.dir / "quickstart.token").write_text("")  # a run that was broken off
        self.assertTrue(self.signs_in(self.run_functions("account_token")[0]))

    def test_the_session_is_one_that_the_page_shows_the_account(self):
        foreign = self.gateway.api("POST", "/1.0/sessions", {"app": "desktop", "joinable": True}).metadata["id"]
        token, _ = self.run_functions("account_token")
        first, _ = self.run_functions(f"session_of {token}")
        self.assertNotEqual(first, foreign)
        self.assertEqual(self.gateway.session(first)["account"], "quickstart")
        self.assertEqual(self.run_functions(f"session_of {token}")[0], first)


if __name__ == "__main__":
    harness.cases.main()
