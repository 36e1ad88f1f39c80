"""A browser on the gateway's page, for Python: that of chromium.py, driven by driver.mjs.

    with Browser() as browser:
        browser.open(url="https://127.0.0.1:4000", token=token)
        print(browser.start(app="demo"))            # milliseconds of each step to the first picture
        browser.picture(wanted={"typed": 0})        # waits; what svc-stream-demo shows

Commands are those of driver.mjs; `page="second"` is for another client. A command that fails raises BrowserError in the
driver's words. From a shell: browser.py URL TOKEN APP prints steps and latencies as JSON."""
import json
import pathlib
import subprocess
import sys

import chromium

HERE = pathlib.Path(__file__).resolve().parent


class BrowserError(AssertionError):
    pass


class Browser:
    def __init__(self, **environment):
        self.process = subprocess.Popen(["node", HERE / "driver.mjs"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env={**chromium.environment(), **environment})
        self.number = 0

    def call(self, command, **arguments):
        self.number += 1
        print(json.dumps({"id": self.number, "do": command, **arguments}), file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        if not line:
            raise BrowserError(f"the browser's driver ended during {command}")
        answer = json.loads(line)
        if "error" in answer:
            raise BrowserError(f"{command}: {answer['error']}")
        return answer["result"]

    def __getattr__(self, command):
        if command.startswith("_"):
            raise AttributeError(command)
        return lambda **arguments: self.call(command, **arguments)

    def stop(self):
        self.process.stdin.close()
        self.process.wait(timeout=60)
        self.process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def measure(browser, url, token, app, flips=40):
    """Create to first picture by step, then latencies of the picture: milliseconds."""
    browser.open(url=url, token=token)
    steps = browser.start(app=app)
    browser.picture(wanted={})
    result = {"steps": steps, "flips": browser.flips(count=flips)}
    browser.end()
    browser.close()
    return result


def main():
    if found := chromium.obstacle():
        sys.exit("no browser: " + found)
    with Browser() as browser:
        print(json.dumps(measure(browser, *sys.argv[1:4])))


if __name__ == "__main__":
    main()
