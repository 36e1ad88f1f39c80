"""The tests that a document may name: Catch2 cases by their sentence, Python tests by the name of their file."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]


def known_tests():
    found = set()
    for path in (ROOT / "tests").rglob("*"):
        if path.suffix == ".py":
            found.add(path.name)
        elif path.suffix in (".cpp", ".h"):
            found |= set(re.findall(r'TEST_CASE(?:_METHOD)?\((?:\w+,\s*)?"([^"]+)"', path.read_text()))
    return found
