#!/usr/bin/env python3
"""The whole way of a stream in a real browser: page, gateway, streamer, guest. With SVC_TEST_LONG=1 what takes minutes, too."""
import os
import pathlib
import shutil
import signal
import subprocess
import unittest

import browser
import chromium
import world
import corner  # of tests/system, which world.py adds to the path

CORNERS = ["red", "green", "blue", "yellow"]
UNHURRIED = os.environ.get("SVC_TEST_LONG") == "1"


class WorldTest(unittest.TestCase):
    """One world and one browser a class; each test makes its own sessions."""

    @classmethod
    def make_world(cls):
        return world.World()

    @classmethod
    def make_browser(cls):
        return browser.Browser()

    @classmethod
    def setUpClass(cls):
        chromium.require()
        world.require()
        cls.world = cls.make_world()
        cls.browser = cls.make_browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.stop()
        left = cls.world.close()
        assert not left, f"left behind: {left}"

    def setUp(self):
        self.url, self.token = self.world.gateway.url, self.world.token
        self.pages = []

    def tearDown(self):
        if not self._outcome.success:
            for guest in self.world.guests.values():
                print(guest.logs())
            print(self.world.gateway.process.log()[-3000:])
        for page in self.pages:
            self.browser.close(page=page)
        for session in self.world.gateway.sessions():
            self.world.gateway.api("DELETE", f"/1.0/sessions/{session['id']}?sync=true&force=true")
        for session in list(self.world.guests):
            self.world.stop_guest(session)

    def open(self, page="first", **options):
        self.pages.append(page)
        self.browser.open(page=page, url=self.url, token=self.token, **options)

    def start(self, page="first", **options):
        """A session that is shown on the page; its id."""
        self.open(page, **options.pop("page_options", {}))
        self.browser.start(page=page, app=self.world.app, wait=False, **options)
        session = self.world.start_guest()
        self.browser.ready(page=page)
        self.browser.picture(page=page)  # of the program that takes the keys
        return session

    def active(self, session):
        return world.eventually(lambda: (self.world.gateway.session(session) or {}).get("status") == "active", "the session is active")


class StreamTest(WorldTest):
    def test_what_is_done_on_the_page_comes_back_in_the_picture(self):
        self.start()
        seen = self.browser.picture(wanted={"corners": CORNERS, "width": 1280, "height": 720})
        self.assertEqual((seen["typed"], seen["down"]), (0, 0))
        self.browser.type(text="hello")
        self.browser.press(key="Shift+Digit1")
        self.browser.picture(wanted={"typed": 6, "lastCharacter": "!", "down": 0})
        self.browser.mouse(at=[300, 500])
        self.browser.picture(wanted={"click": [300, 500], "down": 0})
        self.browser.mouse(at=[1200, 40], button="right")
        self.browser.picture(wanted={"click": [1200, 40], "down": 0})
        self.browser.wheel(y=100)
        self.browser.picture(wanted={"wheel": -1})
        self.browser.press(key="F9")
        self.browser.picture(wanted={"flips": 1, "square": "magenta"})
        self.assertEqual(self.browser.said(), [])

    def test_what_is_held_is_let_go_when_the_page_loses_the_keys(self):
        self.start()
        self.browser.picture()
        self.browser.key(key="a", down=True)
        self.browser.picture(wanted={"down": 1})
        self.browser.press(key="Control+Alt+Escape")
        self.browser.picture(wanted={"down": 0})
        self.assertEqual(self.browser.focus(), "leave")

    def test_characters_without_a_key_are_typed(self):
        self.start()
        self.browser.picture()
        self.browser.type(text="`")
        self.browser.picture(wanted={"lastCharacter": "`"})

    def test_characters_that_no_us_keyboard_has_are_typed(self):
        self.start()
        self.browser.picture()
        for number, character in enumerate("éßñ€я中", start=1):
            self.browser.type(text=character)
            self.browser.picture(wanted={"typed": number, "lastCharacter": character, "down": 0})

    def check_all_is_decoded(self, codec):
        """Of a screen that stands still, then of one that changes: no key frame is asked for, none is missing."""
        self.start(page_options={"codec": codec})
        self.browser.picture()
        self.browser.frames(count=3)  # the beginning is over
        begin = self.browser.inbound()
        self.assertEqual(begin["codec"], codec)
        self.browser.frames(count=5)
        still = self.browser.inbound()
        self.browser.flips(count=20)
        moved = self.browser.inbound()
        # A browser that is short of processor time drops decoded pictures; those that it cannot decode it asks for again.
        self.assertEqual(still["framesDropped"], begin["framesDropped"], (begin, still))
        for figures in (still, moved):
            self.assertEqual(figures["pliCount"], begin["pliCount"], (begin, figures))
            self.assertLessEqual(figures["keyFramesDecoded"], begin["keyFramesDecoded"] + 1 + (figures["time"] - begin["time"]) / 5, (begin, figures))
        self.assertGreater(moved["framesDecoded"], still["framesDecoded"])

    @unittest.skipIf(chromium.FIREFOX, "its plug-in for H.264 is not here")
    def test_all_of_h264_is_decoded(self):
        self.check_all_is_decoded("H264")

    def test_all_of_vp8_is_decoded(self):
        self.check_all_is_decoded("VP8")

    def test_all_of_vp9_is_decoded(self):
        self.check_all_is_decoded("VP9")

    def test_capitals_without_shift_are_typed_as_capitals(self):
        self.start()
        self.browser.picture()
        self.browser.type(text="A")  # as while CapsLock is on here, and not in the guest
        self.browser.picture(wanted={"typed": 1, "lastCharacter": "A", "down": 0})
        self.browser.key(key="Shift", down=True)
        self.browser.evaluate(script="""document.activeElement.dispatchEvent(new KeyboardEvent('keydown',
            { key: 'b', code: 'KeyB', shiftKey: true, bubbles: true, cancelable: true }))""")
        self.browser.picture(wanted={"typed": 2, "lastCharacter": "b"})
        self.browser.key(key="Shift", down=False)

    def filled_stage(self):
        *screen, width, height = self.browser.evaluate(script="""(({ videoWidth, videoHeight }, { clientWidth, clientHeight }) =>
            [videoWidth, videoHeight, clientWidth, clientHeight])(document.querySelector('#stage video'), document.querySelector('#stage'))""")
        return screen if screen == [width // 2 * 2, (height + 1) // 2 * 2] else None

    def test_the_screen_follows_the_window(self):
        self.start(screen="fit")
        self.browser.picture()
        self.browser.evaluate(script="window.interruptions = 0; new MutationObserver(() => { window.interruptions += 1; })"
                              ".observe(document.querySelector('#progress'), { attributes: true })")
        for width, height in ((700, 500), (1000, 600)):
            self.browser.size(width=width, height=height)
            # The stage gets its height by an event of the window, after its width.
            world.eventually(lambda: self.browser.evaluate(script="[innerWidth, innerHeight]") == [width, height], "the window has its size")
            stage = world.eventually(self.filled_stage, "the screen has the size of its place")
            self.browser.picture(wanted={"width": stage[0], "height": stage[1]})
        self.browser.type(text="ab")
        self.browser.picture(wanted={"typed": 2, "lastCharacter": "b"})
        self.assertEqual(self.browser.evaluate(script="window.interruptions"), 0)

    def test_files_go_both_ways(self):
        guest = self.world.guests[self.start()]
        self.browser.click(selector="#share")
        self.browser.files(files=[{"name": "für dich.txt", "text": "hello"}, {"name": "large.bin", "text": "x" * 3_000_000}])
        self.browser.text(selector="#offered-files", contains="large.bin")
        self.assertEqual((guest.dir / "Downloads/für dich.txt").read_text(), "hello")
        self.assertEqual((guest.dir / "Downloads/large.bin").stat().st_size, 3_000_000)
        (guest.dir / "Downloads/report.txt").write_text("of the guest")
        for _ in range(2):
            self.browser.click(selector="#share")  # looks again when it opens
        self.browser.text(selector="#offered-files", contains="report.txt")
        saved = self.browser.download(selector="#offered-files button[aria-label='Download report.txt']")
        self.assertEqual(saved, {"name": "report.txt", "text": "of the guest"})

    @unittest.skipUnless(shutil.which("xclip"), "needs xclip")
    @unittest.skipIf(chromium.FIREFOX, "it lets a page read its clipboard only when somebody clicks")
    def test_the_clipboard_goes_both_ways(self):
        guest = self.world.guests[self.start()]
        self.browser.evaluate(script="navigator.clipboard.writeText('ins Gerät €')")
        self.browser.press(key="Control+KeyV")
        self.browser.picture(wanted={"down": 0})
        world.eventually(lambda: self.guest_clipboard(guest) == "ins Gerät €", "the guest has what was pasted")
        copied = guest.run("xclip", ["xclip", "-quiet", "-display", guest.display, "-selection", "clipboard", "-target", "UTF8_STRING", __file__])
        here = pathlib.Path(__file__).read_text()
        try:
            world.eventually(lambda: self.browser.evaluate(script="navigator.clipboard.readText()") == here, "the device has what was copied")
        finally:
            copied.kill()

    def guest_clipboard(self, guest):
        command = ["xclip", "-display", guest.display, "-selection", "clipboard", "-target", "UTF8_STRING", "-out"]
        return subprocess.run(command, capture_output=True, text=True, timeout=world.PATIENCE, check=False).stdout

    def test_the_figures_are_shown(self):
        self.start()
        self.browser.click(selector="#show-figures")
        text = self.browser.text(selector="#figures", contains="1280 × 720")
        self.assertRegex(text, r"codec +(H264|VP8)")
        self.assertRegex(text, r"path +direct")

    def test_a_second_client_takes_over(self):
        session = self.start()
        self.browser.type(text="abc")
        self.browser.picture(wanted={"typed": 3})
        self.open("second")
        self.browser.join(page="second", session=session)
        self.browser.picture(page="second", wanted={"typed": 3, "corners": CORNERS})
        self.assertIn("another client", self.browser.text(selector="#notice p", contains="another"))
        self.browser.type(page="second", text="d")
        self.browser.picture(page="second", wanted={"typed": 4})

    def watch(self, session):
        """A second page, which watches what the first one does."""
        self.open("second")
        self.browser.watch(page="second", session=session)
        self.browser.text(page="second", selector="#audience", contains="You watch, with 1 other")
        self.browser.text(selector="#audience", contains="1 other watching")

    def test_a_watcher_sees_what_the_one_that_steers_does_and_steers_nothing(self):
        session = self.start()
        self.watch(session)
        self.browser.type(text="ab")
        for page in ("first", "second"):
            self.browser.picture(page=page, wanted={"typed": 2, "corners": CORNERS})
        self.browser.type(page="second", text="x")
        self.browser.mouse(page="second", at=[300, 500])
        self.browser.type(text="c")
        seen = self.browser.picture(page="second", wanted={"typed": 3, "lastCharacter": "c"})
        self.assertNotEqual(seen["click"], [300, 500])
        log = self.world.guests[session].programs["streamer"].log()
        self.assertEqual(log.count("the display is encoded"), 1)
        self.browser.click(page="second", selector="#leave")
        self.browser.type(text="d")
        self.browser.picture(wanted={"typed": 4})
        self.assertEqual(self.browser.said(), [])

    def test_control_is_taken_given_back_and_let_go(self):
        session = self.start()
        self.watch(session)
        self.browser.click(page="second", selector="#take-control")
        self.browser.text(selector="#audience", contains="You watch")
        self.browser.click(page="second", selector="#stage")
        self.browser.type(page="second", text="a")
        self.browser.picture(wanted={"typed": 1, "lastCharacter": "a"})
        self.browser.click(selector="#stage")
        self.browser.type(text="x")
        self.browser.select(page="second", selector="#give-control", value="1")
        self.browser.text(selector="#audience", contains="1 other watching")
        self.browser.click(selector="#stage")
        self.browser.type(text="b")
        self.browser.picture(page="second", wanted={"typed": 2, "lastCharacter": "b"})
        self.browser.click(selector="#watch-only")
        self.browser.text(selector="#audience", contains="You watch")
        self.browser.click(page="second", selector="#take-control")
        self.browser.text(page="second", selector="#audience", contains="1 other watching")

    def test_a_watcher_stays_when_the_one_that_steers_is_replaced_with_another_size(self):
        session = self.start()
        self.watch(session)
        self.open("third")
        self.browser.evaluate(page="third", script="document.querySelector('#screen').value = 'fit'")
        self.browser.join(page="third", session=session)
        size = self.browser.picture(page="third")
        self.assertIn("another client", self.browser.text(selector="#notice p", contains="another"))
        self.browser.picture(page="second", wanted={"width": size["width"], "height": size["height"]})
        self.browser.type(page="third", text="z")
        self.browser.picture(page="second", wanted={"typed": 1, "lastCharacter": "z"})

    def test_a_client_leaves_and_comes_back(self):
        session = self.start()
        self.browser.type(text="ab")
        self.browser.picture(wanted={"typed": 2})
        self.browser.click(selector="#leave")
        self.active(session)
        self.browser.join(session=session)
        self.browser.picture(wanted={"typed": 2, "lastCharacter": "b"})
        log = self.world.guests[session].programs["streamer"].log()
        self.assertNotRegex(log[log.index("client joined"):], r" (warning|error) ")  # somebody left, and nothing failed
        self.browser.end()
        world.eventually(lambda: not self.world.gateway.session(session), "the session is gone")

    def test_a_session_that_is_not_kept_ends_with_its_client(self):
        session = self.start(keep=False)
        self.browser.picture()
        self.browser.click(selector="#leave")
        world.eventually(lambda: not self.world.gateway.session(session), "the session is gone")

    def test_a_killed_streamer_is_said_and_its_successor_shows_the_picture_again(self):
        session = self.start()
        self.browser.type(text="ab")
        self.browser.picture(wanted={"typed": 2})
        guest = self.world.guests[session]
        guest.programs["streamer"].kill(signal.SIGKILL)
        self.browser.text(selector="#progress p", contains="interrupted")
        guest.start_streamer()
        self.browser.ready()
        self.browser.type(text="c")
        self.browser.picture(wanted={"corners": CORNERS, "typed": 3, "lastCharacter": "c"})

    def test_media_goes_on_while_the_gateway_restarts(self):
        session = self.start()
        self.browser.picture()
        self.world.gateway.stop(signal.SIGKILL)
        self.browser.type(text="x")
        self.browser.picture(wanted={"typed": 1})
        self.world.gateway.start()
        self.browser.type(text="y")
        self.browser.picture(wanted={"typed": 2, "lastCharacter": "y"})
        self.active(session)
        self.open("second")
        self.join_when_it_is_back("second", session)
        self.browser.picture(page="second", wanted={"typed": 2})

    def join_when_it_is_back(self, page, session):
        """The streamer tries again after a while; the client's messages wait for it."""
        self.browser.join(page=page, session=session)

    def said_end(self, session, end):
        """What the page says when `end()` has happened, and that it said so at once: the stream was never interrupted."""
        self.browser.picture()
        self.browser.evaluate(script="""window.interruptions = 0; new MutationObserver(() => {
            if (!document.querySelector('#progress').hidden) window.interruptions += 1;
        }).observe(document.querySelector('#progress'), { attributes: true })""")
        end()
        said = self.browser.text(selector="#notice p", contains="This stream has ended")
        self.assertEqual(self.browser.evaluate(script="window.interruptions"), 0)
        return said

    def test_the_page_says_at_once_why_a_stream_ended(self):
        ends = {"Deleted by request": lambda session: self.world.gateway.api("DELETE", f"/1.0/sessions/{session}"),
                "the instance or its streamer was stopped": lambda session: self.world.guests[session].programs["streamer"].kill(signal.SIGTERM),
                "screen is gone": lambda session: self.world.guests[session].programs["display"].kill(signal.SIGKILL)}
        for words, end in ends.items():
            with self.subTest(words):
                session = self.start()
                self.assertIn(words, self.said_end(session, lambda: end(session)))

    def test_an_instance_that_is_gone_is_said(self):
        session = self.start()
        self.browser.picture()
        instance = self.world.gateway.session(session)["container_id"]
        self.world.service.remove(f"/1.0/containers/{instance}")
        self.assertIn("ended", self.browser.text(selector="#notice p", contains="ended"))

    def test_a_wrong_token_is_said(self):
        self.pages.append("first")
        self.browser.open(url=self.url, token="nonsense")
        self.assertIn("does not accept this token", self.browser.text(selector="#notice p", contains="token"))
        self.browser.fill(selector="#token", value=self.token)
        self.browser.click(selector="#sign-in button")
        self.assertIn(self.world.app, self.browser.text(selector="#applications", contains=self.world.app))

    def test_the_token_does_not_stay_in_the_address(self):
        self.open()
        self.browser.text(selector="#applications", contains=self.world.app)
        self.assertEqual(self.browser.evaluate(script="location.href"), self.url + "/")

    def test_a_phone_shows_and_uses_it(self):
        self.start(page_options={"size": "phone"})
        seen = self.browser.picture(wanted={"corners": CORNERS})
        self.assertGreater(seen["height"], seen["width"])
        self.browser.tap(at=[100, 200])
        self.browser.picture(wanted={"click": [100, 200], "down": 0})
        self.browser.click(selector="#keyboard")
        self.browser.type(text="Hi")
        self.browser.picture(wanted={"typed": 2, "lastCharacter": "i"})

    @unittest.skipUnless(UNHURRIED, "takes more than a minute")
    def test_a_session_that_nobody_watches_ends(self):
        session = self.start(idle=1)
        self.browser.picture()
        self.browser.click(selector="#leave")
        self.assertEqual(self.world.gateway.session(session)["status"], "active")
        try:
            world.PATIENCE, before = 180, world.PATIENCE
            world.eventually(lambda: not self.world.gateway.session(session), "the session is gone", pause=1)
        finally:
            world.PATIENCE = before


@unittest.skipUnless(os.geteuid() == 0, "needs root: the instance has a network of its own")
class PathTest(WorldTest):
    """The path between browser and instance dies; the gateway can still be reached by both."""
    world_type = world.World

    @classmethod
    def make_world(cls):
        cls.corner = corner.Corner()
        cls.addClassCleanup(cls.corner.close)
        cls.corner.open()
        return cls.world_type(cls.corner.prefix, listen=f"{cls.corner.host}:0")

    def cut(self):
        self.corner.cut(self.world.gateway.url.rsplit(":", 1)[1])

    def connected(self, session):
        return self.world.gateway.session(session)["client_connected"]

    def test_the_picture_comes_back_when_there_is_a_path_again(self):
        session = self.start()
        self.browser.type(text="ab")
        self.browser.picture(wanted={"typed": 2})
        self.cut()
        try:
            self.browser.text(selector="#progress p", contains="interrupted")
            world.eventually(lambda: not self.connected(session), "the streamer has given the client up")
        finally:
            self.corner.heal()
        self.browser.ready()
        self.browser.type(text="c")
        self.browser.picture(wanted={"typed": 3, "lastCharacter": "c"})

    def test_a_client_that_is_gone_does_not_count_as_watching(self):
        session = self.start()
        self.browser.picture()
        world.eventually(lambda: self.connected(session), "somebody watches")
        self.cut()
        try:
            self.browser.close(page=self.pages.pop())
            world.eventually(lambda: not self.connected(session), "nobody watches")
        finally:
            self.corner.heal()


@unittest.skipIf(chromium.FIREFOX, "Debian's Firefox ESR has no WebCodecs")
class NoPacketsTest(PathTest):
    """TCP to the gateway is all that the instance's network lets through."""
    test_the_picture_comes_back_when_there_is_a_path_again = None
    test_a_client_that_is_gone_does_not_count_as_watching = None

    def setUp(self):
        super().setUp()
        self.cut()

    def tearDown(self):
        self.corner.heal()
        super().tearDown()

    def test_the_stream_goes_through_the_gateway(self):
        session = self.start()
        seen = self.browser.picture(wanted={"corners": CORNERS, "width": 1280, "height": 720})
        self.assertEqual(seen["typed"], 0)
        self.browser.type(text="ab")
        self.browser.picture(wanted={"typed": 2, "lastCharacter": "b", "down": 0})
        self.browser.mouse(at=[300, 500])
        self.browser.picture(wanted={"click": [300, 500]})
        world.eventually(lambda: self.connected(session), "somebody watches")
        self.browser.click(selector="#leave")
        world.eventually(lambda: not self.connected(session), "nobody watches")

    def test_the_stream_goes_through_the_gateway_in_the_codec_that_the_page_prefers(self):
        for codec in ("VP9", "AV1"):
            with self.subTest(codec):
                self.start(page=codec, page_options={"codec": codec})
                self.browser.picture(page=codec, wanted={"corners": CORNERS, "width": 1280, "height": 720})
                self.browser.click(page=codec, selector="#show-figures")
                self.browser.text(page=codec, selector="#figures", contains=codec)
                self.browser.press(page=codec, key="F9")
                self.browser.picture(page=codec, wanted={"flips": 1, "square": "magenta"})


if __name__ == "__main__":
    world.harness.cases.main()
