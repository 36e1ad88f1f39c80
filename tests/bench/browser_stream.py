#!/usr/bin/env python3
"""The whole way of a stream into headless Chromium: what it costs the streamer, what the browser is sent and asks for again, how
late a key is seen. Real programs on this machine as in tests/browser, an X server of 1280x720, 60 frames a second.

usage: browser_stream.py [--seconds 20] [--flips 100] [--codecs H264,VP8] [--gateway] [--keys-alone]

still: nothing moves. moving: the demo's square flips 20 times a second. key: F9 in the page to the changed picture in it, on a
screen that is still otherwise; with --gateway also by the way through the gateway (WebSocket, WebCodecs), in turns with WebRTC. About four
minutes, with --keys-alone half of it; other work on the machine shows in all of it.
"""
import argparse
import os
import pathlib
import statistics
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "browser"), str(HERE)]
import browser  # noqa: E402
import chromium  # noqa: E402
import world  # noqa: E402
import results  # noqa: E402

FLIP_MS = 50
TURNS = 2  # of each way to the browser


class MovingGuest(world.Guest):
    demo_options = ["--flip-every", str(FLIP_MS)]


def processor_seconds(pid):
    """User and system, of all its threads."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def over(seconds, page, streamer):
    """What `seconds` of the stream cost and brought."""
    before, spent = page.inbound(), processor_seconds(streamer)
    time.sleep(seconds)
    after, spent = page.inbound(), processor_seconds(streamer) - spent
    passed = after["time"] - before["time"]
    change = {name: after[name] - before[name] for name in ("pliCount", "framesDropped", "framesDecoded", "keyFramesDecoded")}
    return {"core": 100 * spent / seconds, "kbps": (after["bytesReceived"] - before["bytesReceived"]) * 8 / 1000 / passed, **change}


def measure(here, codec, guest, work, packets=True):
    """Starts a session of this codec, has `work(browser, streamer)` done and ends it. Without packets it goes through the gateway."""
    here.guest_type = guest
    with browser.Browser() as page:
        page.open(url=here.gateway.url, token=here.token, codec=codec, packets=packets)
        page.start(app=here.app, wait=False)
        session = here.start_guest()
        try:
            page.ready()
            page.picture()
            time.sleep(5)  # the beginning is over
            return work(page, here.guests[session].programs["streamer"].process.pid)
        finally:
            page.close()
            here.stop_guest(session)
            here.gateway.api("DELETE", f"/1.0/sessions/{session}?sync=true&force=true")


def report(codec, what, figures, command):
    name = f"720p60 {codec} in Chromium, {what}"
    results.report(f"{name}: streamer, share of one core", figures["core"], unit="%", command=command)
    results.report(f"{name}: received", figures["kbps"], unit="kbit/s", command=command,
                   note=f"{figures['framesDecoded']} frames, {figures['keyFramesDecoded']} of them key frames")
    results.report(f"{name}: asked for again (PLI), dropped", f"{figures['pliCount']}, {figures['framesDropped']}", mark="0, 0",
                   met=figures["pliCount"] == figures["framesDropped"] == 0, command=command)


def measure_keys(here, codec, options, command):
    """The ways take turns, so what else the machine does meets both."""
    ways = {"WebRTC": True, "through the gateway": False} if options.gateway else {"WebRTC": True}
    times = {way: [] for way in ways}
    for _ in range(TURNS):
        for way, packets in ways.items():
            times[way] += measure(here, codec, world.Guest, lambda page, _: page.flips(count=options.flips // TURNS), packets)
    for way, flips in times.items():
        report_keys(codec, way, flips, command)


def report_keys(codec, way, flips, command):
    times = sorted(flip["keyToGlass"] for flip in flips)
    name = f"720p60 {codec} in Chromium, {way}, key to picture"
    results.report(f"{name}: median", statistics.median(times), unit="ms", command=command)
    results.report(f"{name}: 95th percentile", times[int(0.95 * (len(times) - 1))], unit="ms", command=command)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--flips", type=int, default=100)
    parser.add_argument("--codecs", default="H264,VP8")
    parser.add_argument("--gateway", action="store_true")
    parser.add_argument("--keys-alone", action="store_true")
    options = parser.parse_args()
    if found := chromium.obstacle():
        sys.exit("no browser: " + found)
    command = "tests/bench/browser_stream.py"
    here = world.World()
    try:
        for codec in options.codecs.split(","):
            for what, guest in () if options.keys_alone else (("still", world.Guest), ("moving", MovingGuest)):
                report(codec, what, measure(here, codec, guest, lambda page, pid: over(options.seconds, page, pid)), command)
            measure_keys(here, codec, options, command)
    finally:
        here.close()


if __name__ == "__main__":
    main()
