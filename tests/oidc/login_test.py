#!/usr/bin/env python3
"""Users log in to svcd at a real OpenID provider: the whole way of a browser, with its cookies and redirects."""
import http.cookiejar
import json
import pathlib
import ssl
import sys
import unittest
import urllib.error
import urllib.parse
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "system"))
import harness  # noqa: E402
import provider as provider_process  # noqa: E402

CALLBACK = "/1.0/oidc/callback"
ERROR_PAGE = "/ui/#login-error="


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


class Browser:
    """Keeps cookies and the key of its session, and follows a redirect when it is told to."""

    key = ""

    def __init__(self):
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        self.jar = http.cookiejar.CookieJar()
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), NoRedirect, urllib.request.HTTPSHandler(context=context),
                                                  urllib.request.HTTPCookieProcessor(self.jar))

    def get(self, url, **options):
        return self.call("GET", url, **options)

    def call(self, method, url, body=None, headers=None):
        headers = {**(headers or {}), **({"X-Svc-Session-Key": self.key} if self.key else {})}
        request = urllib.request.Request(url, None if body is None else json.dumps(body).encode(), headers, method=method)
        try:
            reply = self.opener.open(request, timeout=harness.PATIENCE)
        except urllib.error.HTTPError as error:
            reply = error
        with reply:
            return harness.Reply(reply.status, reply.headers, reply.read())

    def cookies(self):
        return {cookie.name: cookie for cookie in self.jar}


class LoginTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        provider_process.require()
        cls.daemon = harness.Daemon("simulated").start()
        cls.addClassCleanup(cls.close)
        cls.base = next(address for address in cls.daemon.addresses if address.startswith("https://"))
        cls.provider = provider_process.Provider(cls.base + CALLBACK)
        cls.addClassCleanup(cls.provider.stop)

    @classmethod
    def close(cls):
        left = cls.daemon.close()
        assert not left, f"left behind: {left}"

    def setUp(self):
        self.browser = Browser()
        self.configure("RS256")
        self.forge("none")

    def configure(self, client):
        secret = "" if client == "public" else self.provider.secret
        for key, value in {"issuer": self.provider.issuer, "client_id": f"svc-{client}", "client_secret": secret,
                           "role_claim": "realm_access.roles", "roles": "svc-admins=admin,watchers=viewer"}.items():
            self.daemon.set_config("oidc." + key, value)

    def forge(self, kind):
        self.assertEqual(self.browser.get(f"{self.provider.issuer}/forge/{kind}").status, 200)

    def location(self, reply):
        self.assertIn(reply.status, (302, 303), reply.raw)
        return reply.headers["Location"]

    def begin(self, path="/1.0/oidc/login"):
        return self.location(self.browser.get(self.base + path))

    def at_provider(self, url, user):
        """From the service's answer to the URL that the provider leads back to."""
        while not url.startswith(self.base + CALLBACK):
            self.assertTrue(url.startswith(self.provider.issuer), url)
            if "/interaction/" in url:
                url += "/as/" + user
            url = urllib.parse.urljoin(url, self.location(self.browser.get(url)))
        return url

    def log_in(self, user, path="/1.0/oidc/login"):
        return self.browser.get(self.at_provider(self.begin(path), user))

    def page(self, reply):
        """Where the page of a browser goes that has logged in, and takes its key out of the address."""
        place = self.location(reply)
        self.assertTrue(place.startswith("/ui/#session-key="), place)
        given = urllib.parse.parse_qs(urllib.parse.urlsplit(place).fragment, keep_blank_values=True)
        self.browser.key = given["session-key"][0]
        return given["return"][0]

    def refusal(self, reply):
        """The text of a refused login, which has opened no session."""
        location = self.location(reply)
        self.assertTrue(location.startswith(ERROR_PAGE), location)
        self.assertNotIn("__Host-svc-session", self.browser.cookies())
        self.assertEqual(self.server()["auth"], "guest")
        return urllib.parse.unquote(location.removeprefix(ERROR_PAGE))

    def server(self):
        return self.browser.get(self.base + "/1.0").metadata

    def change(self):
        """What only an admin may do, as a page of the console does it."""
        return self.browser.call("PATCH", self.base + "/1.0/config", {"name": "scheduler.strategy", "value": "binpack"},
                                 {"Origin": self.base, "Content-Type": "application/json"})

    def test_an_admin_logs_in(self):
        reply = self.log_in("alice", "/1.0/oidc/login?return=/ui/%23/instances")
        self.assertEqual(self.server()["auth"], "guest")  # the cookie alone
        self.assertEqual(self.page(reply), "#/instances")
        session = self.browser.cookies()["__Host-svc-session"]
        self.assertTrue(session.secure and session.has_nonstandard_attr("HttpOnly"))
        self.assertNotIn("__Host-svc-login", self.browser.cookies())
        server = self.server()
        self.assertEqual((server["auth"], server["auth_role"], server["auth_name"]), ("trusted", "admin", "alice@example.com"))
        self.assertEqual(self.change().status, 202)
        mine = next(s for s in self.browser.get(self.base + "/1.0/sessions").metadata if s["current"])
        self.assertEqual((mine["method"], mine["role"], mine["name"]), ("oidc", "admin", "alice@example.com"))

    def test_a_viewer_logs_in(self):
        self.assertEqual(self.page(self.log_in("bob")), "")
        self.assertEqual(self.server()["auth_role"], "viewer")
        self.assertEqual(self.browser.get(self.base + "/1.0/instances").status, 200)
        self.assertEqual(self.change().status, 403)

    def test_nobody_in_particular_is_refused(self):
        self.assertEqual(self.refusal(self.log_in("carol")), "user 'carol@example.com' has no role here: nothing in the claim "
                         "'realm_access.roles' is named by oidc.roles")

    def test_tokens_of_each_kind_and_a_public_client(self):
        for client in ("PS256", "ES256", "public"):
            with self.subTest(client):
                self.browser = Browser()
                self.configure(client)
                self.assertEqual(self.page(self.log_in("alice")), "")
                self.assertEqual(self.server()["auth_role"], "admin")

    def test_how_one_may_log_in_is_told(self):
        self.assertEqual(self.server()["auth_methods"], ["2waySSL", "oidc"])
        self.daemon.set_config("oidc.issuer", "")
        self.assertEqual(self.server()["auth_methods"], ["2waySSL"])
        self.assertIn("no OpenID provider is configured", self.refusal(self.browser.get(self.base + "/1.0/oidc/login")))

    def test_an_answer_to_another_login_is_refused(self):
        url = self.at_provider(self.begin(), "alice")
        parts = urllib.parse.urlsplit(url)
        query = urllib.parse.urlencode({**dict(urllib.parse.parse_qsl(parts.query)), "state": "another"})
        self.assertIn("(state)", self.refusal(self.browser.get(parts._replace(query=query).geturl())))

    def test_an_answer_in_another_browser_is_refused(self):
        url = self.at_provider(self.begin(), "alice")
        self.browser = Browser()
        self.assertIn("has not begun this login", self.refusal(self.browser.get(url)))

    def test_an_answer_counts_once(self):
        url = self.at_provider(self.begin(), "alice")
        kept = self.browser.cookies()["__Host-svc-login"]
        self.assertEqual(self.page(self.browser.get(url)), "")
        self.browser = Browser()
        self.browser.jar.set_cookie(kept)
        self.assertEqual(self.refusal(self.browser.get(url)), "OpenID provider answers with status 400: 'invalid_grant'")

    def test_forged_tokens_are_refused(self):
        for kind, why in {"unsigned": "signature of the kind 'none'", "secret": "signature of the kind 'HS256'",
                          "changed": "not signed by a key"}.items():
            with self.subTest(kind):
                self.browser = Browser()
                self.forge(kind)
                self.assertIn(why, self.refusal(self.log_in("bob")))

    def last_login(self, name):
        lines = [json.loads(line) for line in (self.daemon.state / name).read_text().splitlines()]
        return [line for line in lines if line["path"] == CALLBACK][-1]

    def test_logins_and_their_refusals_are_audited(self):
        self.log_in("carol")
        self.browser = Browser()  # the provider would know carol again
        self.log_in("alice")
        refused, opened = self.last_login("audit.strangers.log"), self.last_login("audit.log")
        self.assertEqual((refused["who"], refused["role"]), ("guest", ""))
        self.assertIn("has no role here", refused["error"])
        self.assertEqual((opened["who"], opened["role"], opened["error"]), ("alice@example.com", "admin", ""))

    def test_a_login_that_another_site_begins_is_refused(self):
        for site in ("cross-site", "same-site"):
            reply = self.browser.get(self.base + "/1.0/oidc/login", headers={"Sec-Fetch-Site": site})
            self.assertEqual(self.refusal(reply), "another site has begun this login: begin it here")
        for site in ("same-origin", "none"):
            reply = self.browser.get(self.base + "/1.0/oidc/login", headers={"Sec-Fetch-Site": site})
            self.assertTrue(self.location(reply).startswith(self.provider.issuer))

    def test_a_login_leads_nowhere_else(self):
        for path in ("/ui/#login=secret", "//evil.example", "https://evil.example/", "/ui/../1.0"):
            reply = self.browser.get(self.base + "/1.0/oidc/login?return=" + urllib.parse.quote(path, safe=""))
            self.assertIn("return", self.refusal(reply))

    def test_a_provider_that_is_away_is_told(self):
        self.daemon.set_config("oidc.issuer", f"http://127.0.0.1:{harness.free_port()}")
        self.assertIn("OpenID provider cannot be reached", self.refusal(self.browser.get(self.base + "/1.0/oidc/login")))

    def test_users_log_in_over_tls_alone(self):
        reply = self.daemon.api("GET", "/1.0/oidc/login")
        self.assertEqual((reply.status, reply.error), (400, "users log in over TLS"))


if __name__ == "__main__":
    harness.cases.main()
