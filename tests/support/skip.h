#pragma once
// Catch2 v2 cannot skip a test case. This can: the reason is printed at the end, and `run-tests` counts it.
#include <string>

namespace svc::test {

// Ends the test case here, for something that this machine lacks: "needs root". Call it on the thread of the
// test case, before its first assertion: a case that asserts something and then skips has passed in part, and
// hides the rest. At its end the program prints `skipped "CASE": REASON`, and returns 77 if it ran nothing
// but skipped cases.
[[noreturn]] void skip(const std::string& reason);

// For what only root can do.
void skip_unless_root();

// Catch2's main function, with the skips at its end. Each case has the name of its file as a tag:
// [#fifo_test].
int run_tests(int count, char** arguments);

}  // namespace svc::test
