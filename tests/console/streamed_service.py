#!/usr/bin/env python3
"""A service with a gateway and a desktop that is streamed, for tests of the console: tells where they are in a line of JSON, and
ends with its input. Says {"skipped": REASON} where that cannot be."""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "system"))
import streaming  # noqa: E402

SCREEN = {"width": 1280, "height": 720, "density": 160, "fps": 30}


class Streamed(streaming.StreamTest):
    @classmethod
    def serve(cls):
        """The gateway, whose page the console of this service may have in a frame."""
        cls.url = next(address for address in cls.daemon.addresses if address.startswith("https://"))
        cls.gateway = streaming.Gateway(cls.daemon, frame_ancestors=[cls.url]).start()

    @classmethod
    def session(cls):
        """With an instance whose hooks have all run."""
        id = cls.gateway.create(screen=SCREEN)["id"]
        instance = cls.gateway.await_status(id, "active")["container_id"]
        assert streaming.eventually(lambda: cls.daemon.container(instance)["status"] == "running"), cls.daemon.log()
        return {"session": id, "instance": instance}

    @classmethod
    def end(cls):
        for id in cls.gateway.api("GET", "/1.0/sessions").metadata or []:
            cls.gateway.api("DELETE", f"/1.0/sessions/{id}?sync=true&force=true")
        cls.tearDownClass()

    @classmethod
    def about(cls):
        return {"url": cls.url, "socket": str(cls.daemon.socket), "dir": str(cls.daemon.dir), "token": cls.gateway.token,
                "port": cls.gateway.port}


def main():
    if reason := streaming.missing():
        print(json.dumps({"skipped": reason}))
        return
    Streamed.setUpClass()
    try:
        print(json.dumps({**Streamed.about(), **Streamed.session()}), flush=True)
        sys.stdin.read()
    finally:
        Streamed.end()


if __name__ == "__main__":
    main()
