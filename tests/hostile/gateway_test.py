#!/usr/bin/env python3
"""The local socket of svc-gateway is served while clients without a token fill its listeners."""
import unittest

from crowd import Crowd, Gateway, half_of_a_handshake, harness, head, memory, over_tcp, over_tls

MIB = 1 << 20
GROWTH = 64 * MIB
FILES = 400  # three quarters of them for connections
ADDRESSES = [f"127.0.0.{number}" for number in range(2, 12)]


class Hostile(unittest.TestCase):
    def check(self, gateway, begin):
        for path in ("/1.0/status", "/1.0/accounts", "/1.0/sessions"):
            self.assertEqual(gateway.ask(path), 200)
        self.assertLess(memory(gateway.process.pid) - begin, GROWTH)

    def test_clients_without_a_token(self):
        body = head("POST /1.0/sessions", "Content-Length: 60000") + b" " * 59999
        wrong = head("POST /1.0/sessions", "Authorization: macaroon root=x", "Content-Length: 60000") + b" " * 59999
        with Gateway(files=FILES) as gateway:
            begin = memory(gateway.process.pid)
            api, metrics = gateway.listeners
            crowds = {
                "idle": lambda: Crowd(over_tcp(api, ADDRESSES)),
                "half of a handshake": lambda: Crowd(over_tcp(api, ADDRESSES), half_of_a_handshake()),
                "half of a header": lambda: Crowd(over_tls(api, ADDRESSES), b"GET / HTTP/1.1\r\nX: " + b"x" * 30000),
                "body without token": lambda: Crowd(over_tls(api, ADDRESSES), body),
                "body with a wrong token": lambda: Crowd(over_tls(api, ADDRESSES), wrong),
                "get with a body": lambda: Crowd(over_tls(api, ADDRESSES), head("GET /", "Content-Length: 60000") + b" " * 59999),
                "reads nothing": lambda: Crowd(over_tls(api, ADDRESSES), head("GET /") * 300),
                "idle, of the metrics": lambda: Crowd(over_tcp(metrics, ADDRESSES)),
            }
            for kind, make in crowds.items():
                with self.subTest(kind), make() as crowd:
                    self.check(gateway, begin)
                    self.assertLessEqual(crowd.still_open(), FILES * 3 // 8)  # half of the connections

    def test_all_at_once(self):
        with Gateway(files=FILES) as gateway:
            begin = memory(gateway.process.pid)
            api, metrics = gateway.listeners
            with Crowd(over_tcp(api, ADDRESSES)), Crowd(over_tls(api, ADDRESSES), head("GET /") * 300), Crowd(over_tcp(metrics)):
                self.check(gateway, begin)


if __name__ == "__main__":
    harness.cases.main()
