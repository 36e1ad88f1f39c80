#!/usr/bin/env python3
"""A skipped test case is printed with its reason, counted by run-tests, and never taken for one that passed: in Catch2 programs
(SKIP_CASES is one), in Python programs, and in the summary of both.

    skip_test.py SKIP_CASES"""
import contextlib
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

TESTS = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = sys.argv.pop()
PYTHON_CASES = f"""
import sys, unittest
sys.path.insert(0, {str(TESTS / "support")!r})
import cases

class First(unittest.TestCase):
    def test_passes(self): pass
    @unittest.skip("needs a unicorn")
    def test_skips(self): pass
    def test_fails(self): self.fail()

class Whole(unittest.TestCase):
    @classmethod
    def setUpClass(cls): raise unittest.SkipTest("not here: Xvfb")
    def test_is_not_run(self): self.fail()

cases.main()
"""


def run(*command):
    """Exit status, and the lines about skips."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, [line for line in done.stdout.splitlines() if line.startswith("skipped")]


def run_python(*names):
    return run(sys.executable, "-c", PYTHON_CASES, *names)


@contextlib.contextmanager
def written(results):
    """A log of meson for programs with these results: name, result, output."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as log:
        for name, result, output in results:
            log.write(json.dumps({"name": f"svc:suite / {name}", "result": result, "stdout": output}) + "\n")
        log.flush()
        yield log.name


def summary_of(*arguments):
    command = [sys.executable, TESTS / "summary.py", *arguments]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()


def summary(*results):
    """The lines for programs of these results: pairs of meson's result and output."""
    with written((f"program {number}", *each) for number, each in enumerate(results, 1)) as log:
        return summary_of(log)


class CatchPrograms(unittest.TestCase):
    def test_a_program_that_skips_all_its_cases_is_skipped(self):
        self.assertEqual((77, ['skipped "a case that is skipped": needs a unicorn']), run(PROGRAM, "[skips]"))

    def test_a_program_that_skips_some_cases_passes_and_tells_them(self):
        self.assertEqual((0, ['skipped "a case that is skipped": needs a unicorn']), run(PROGRAM, "[skips],[passes]"))

    def test_a_failure_beside_a_skip_fails(self):
        status, lines = run(PROGRAM, "[skips],[fails]")
        self.assertEqual((1, 1), (status, len(lines)))

    def test_a_program_that_runs_no_case_is_not_skipped(self):
        self.assertEqual((0, []), run(PROGRAM, "[none]"))

    def test_the_other_values_of_a_case_are_run(self):
        self.assertEqual((0, ['skipped "a case that is skipped for one value": 2 is not here']), run(PROGRAM, "[values]"))
        done = subprocess.run([PROGRAM, "[values]"], stdout=subprocess.PIPE, text=True, check=True)
        self.assertIn("2 assertions in 1 test case", done.stdout)

    def test_the_other_sections_of_a_case_are_run(self):
        self.assertEqual((0, ['skipped "a case that is skipped in one section": the first is not here']), run(PROGRAM, "[sections]"))


class PythonPrograms(unittest.TestCase):
    def test_a_program_that_skips_all_its_cases_is_skipped(self):
        status, lines = run_python("First.test_skips")
        self.assertEqual(77, status)
        self.assertRegex(lines[0], r'^skipped "test_skips .*": needs a unicorn$')

    def test_a_class_that_is_skipped_in_its_set_up_is_skipped(self):
        status, lines = run_python("Whole")
        self.assertEqual(77, status)
        self.assertRegex(lines[0], r'^skipped ".*Whole.*": not here: Xvfb$')

    def test_a_program_that_skips_some_cases_passes_and_tells_them(self):
        status, lines = run_python("First.test_passes", "First.test_skips", "Whole")
        self.assertEqual((0, 2), (status, len(lines)))

    def test_a_failure_beside_a_skip_fails(self):
        status, lines = run_python("First", "Whole")
        self.assertEqual((1, 2), (status, len(lines)))


class Summary(unittest.TestCase):
    def test_without_skips_it_is_one_line(self):
        self.assertEqual(["2 passed, 1 failed, 0 skipped"], summary(("OK", "fine"), ("OK", ""), ("TIMEOUT", "")))

    def test_cases_of_programs_that_pass_are_counted_by_their_reasons(self):
        self.assertEqual(
            ["2 skipped: needs root", "1 skipped: not here: Xvfb", "2 passed, 0 failed, 3 skipped"],
            summary(("OK", 'skipped "a: b": needs root\nskipped "c": needs root\n'), ("OK", 'skipped "d": not here: Xvfb\n')))

    def test_a_program_that_is_skipped_tells_why(self):
        self.assertEqual(["1 skipped: npm is absent", "0 passed, 0 failed, 1 skipped"], summary(("SKIP", "skipped: npm is absent\n")))

    def test_a_program_that_is_skipped_and_says_nothing_is_counted_too(self):
        self.assertEqual(["1 skipped: no reason given by program 1", "0 passed, 0 failed, 1 skipped"], summary(("SKIP", "")))

    def test_what_fails_twice_has_failed_and_what_passes_alone_is_named(self):
        with written([("a", "OK", ""), ("b", "FAIL", ""), ("c", "TIMEOUT", "")]) as first, written([("b", "OK", ""), ("c", "FAIL", "")]) as again:
            self.assertEqual(["b", "c"], summary_of("--failed", first))
            self.assertEqual(["failed beside other tests, passed alone: b", "2 passed, 1 failed, 0 skipped"], summary_of(first, again))

    def test_nothing_has_failed(self):
        with written([("a", "OK", "")]) as first:
            self.assertEqual([], summary_of("--failed", first))


if __name__ == "__main__":
    unittest.main(verbosity=2)
