#!/usr/bin/env python3
"""A real stream: desktop in a container, streamer in it, gateway, and a client that decodes what comes."""
import unittest

import streaming


class Stream(streaming.StreamTest):
    def test_a_session_is_seen_used_and_measured(self):
        session = self.gateway.create(screen={"width": 1280, "height": 720, "fps": 30})
        client = self.client(session).connected()
        seen = client.must("colour", 200, 100)
        self.assertEqual((seen["width"], seen["height"]), (1280, 720))
        client.must("until", 640, 270, *streaming.SQUARE_CYAN)


if __name__ == "__main__":
    unittest.main()
