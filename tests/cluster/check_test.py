#!/usr/bin/env python3
"""The checker itself: it finds what is wrong in histories that are made up, and nothing in a good one."""
import copy
import pathlib
import sys
import unittest

import check
from history import ABSENT, History

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402

TERM = check.TERM


def event(number, text="moved"):
    return {"sequence": number, "type": "lifecycle", "metadata": {"action": text}}


def container(name, number, **fields):
    return {"name": name, "id": f"id-{name}", "address": f"10.0.0.{number}", "node": "m1",
            "services": [{"node_port": 10000 + number, "protocols": ["tcp"]}], **fields}


def good():
    """Two instances, one operation, three events of which the last of term 1 was lost; and what three managers say."""
    history = History()
    history.done("instance a", "running")
    history.told_id("instance a", "id-a")
    history.unsure("instance b", "running")
    history.done("addon gone", "one")
    history.done("addon gone", ABSENT)
    history.accepted("o1")
    history.ended("o1", 200, "m1")
    history.accepted("o2")
    history.wins("addon shared", "client 1")
    history.may["addon shared"] = {"one"}
    history.streams.append([event(TERM + 1), event(TERM + 2, "only here"), event(2 * TERM + 1)])
    end = check.End({"instance a": "running", "instance b": "running", "addon shared": "one"}, [container("a", 1), container("b", 2)],
                    {"o1": 200, "o2": 400}, [event(TERM + 1), event(2 * TERM + 1)])
    return history, {name: copy.deepcopy(end) for name in ("m1", "m2", "m3")}


class Checker(unittest.TestCase):
    def found(self, spoil):
        history, ends = good()
        spoil(history, ends)
        return "\n".join(check.problems(history, ends))

    def everywhere(self, change):
        """The same change in what each manager says."""
        return self.found(lambda history, ends: [change(end) for end in ends.values()])

    def test_nothing_is_wrong_with_a_good_history(self):
        self.assertEqual("", self.found(lambda history, ends: None))

    def test_an_acknowledged_change_that_is_lost(self):
        self.assertIn("m1: instance a is None, and may be running", self.everywhere(lambda end: end.things.pop("instance a")))

    def test_a_deletion_that_is_lost(self):
        self.assertIn("addon gone is one, and may be None", self.everywhere(lambda end: end.things.update({"addon gone": "one"})))

    def test_something_that_nobody_asked_for(self):
        self.assertIn("instance x is running, and may be None", self.everywhere(lambda end: end.things.update({"instance x": "running"})))

    def test_what_was_unsure_may_be_either(self):
        self.assertEqual("", self.everywhere(lambda end: end.things.pop("instance b")))

    def test_a_change_that_is_done_under_another_id(self):
        self.assertIn("instance a was id-a and is other", self.everywhere(lambda end: end.containers[0].update(id="other")))

    def test_what_two_instances_have(self):
        for field, text in (({"name": "a"}, "name a"), ({"id": "id-a"}, "id id-a"), ({"address": "10.0.0.1"}, "address 10.0.0.1"),
                            ({"services": [{"node_port": 10001, "protocols": ["udp", "tcp"]}]}, "port 10001/tcp of node m1")):
            self.assertIn(f"{text} belongs to", self.everywhere(lambda end, field=field: end.containers[1].update(field)))

    def test_ports_of_two_nodes_may_be_the_same(self):
        self.assertEqual("", self.everywhere(
            lambda end: end.containers[1].update(node="m2", services=[{"node_port": 10001, "protocols": ["tcp"]}])))

    def test_operations(self):
        self.assertIn("accepted operation o2 is unknown", self.everywhere(lambda end: end.operations.pop("o2")))
        self.assertIn("operation o2 has not ended", self.everywhere(lambda end: end.operations.update(o2=103)))
        self.assertIn("operation o1 had ended with 200 and has 400 now", self.everywhere(lambda end: end.operations.update(o1=400)))
        self.assertIn("operation o1 had ended with 200 and has 401 now", self.found(lambda history, _: history.ended("o1", 401, "m2")))

    def test_a_name_that_is_given_twice(self):
        self.assertIn("addon shared was made by client 1 and client 2", self.found(lambda history, _: history.wins("addon shared", "client 2")))

    def test_managers_that_say_different_things(self):
        self.assertIn("m1 and m3 differ in instance b", self.found(lambda _, ends: ends["m3"].things.pop("instance b")))
        self.assertIn("m1 and m2 differ in o2: 400 and 200", self.found(lambda _, ends: ends["m2"].operations.update(o2=200)))

    def test_a_read_that_misses_a_change(self):
        self.assertIn("m2: instance a is stopped, and may be running", self.found(lambda history, _: history.seen("instance a", "stopped", "m2")))

    def test_events_of_another_order_or_content(self):
        self.assertIn("m2: after event", self.found(lambda _, ends: ends["m2"].events.reverse()))
        self.assertIn("m1 and m2 differ in event", self.found(lambda _, ends: ends["m2"].events[0].update(type="operation")))
        self.assertIn("differ in event", self.found(lambda _, ends: ends["m2"].events.append(event(2 * TERM + 2))))
        self.assertIn(f"after event {TERM + 1} comes {TERM + 1}", self.found(lambda history, _: history.streams.append([event(TERM + 1)] * 2)))

    def test_a_window_that_begins_later_is_no_difference(self):
        self.assertEqual("", self.found(lambda _, ends: ends["m2"].events.pop(0)))

    def test_the_last_events_of_a_former_leader_are_perhaps_at_it_alone(self):
        self.assertEqual("", self.found(lambda _, ends: ends["m2"].events.insert(1, event(TERM + 3))))

        def spoil(_, ends):
            for end in ends.values():
                end.events.insert(0, event(TERM))
            ends["m2"].events[1].update(sequence=TERM + 2)
        self.assertIn(f"m1 and m2 differ in event {TERM + 1}", self.found(spoil))

    def test_events_that_were_sent_and_are_not_kept(self):
        self.assertIn(f"event {TERM + 1} was", self.everywhere(lambda end: end.events[0].update(type="operation")))
        self.assertIn(f"event {TERM + 2} was sent and is not kept", self.everywhere(lambda end: end.events.insert(1, event(TERM + 3))))


if __name__ == "__main__":
    cases.main()
