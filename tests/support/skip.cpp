#include "tests/support/skip.h"

#define CATCH_CONFIG_RUNNER
#include <unistd.h>

#include <catch2/catch.hpp>
#include <iostream>
#include <vector>

namespace svc::test {
namespace {

constexpr int all_skipped = 77;  // what meson takes for a skipped test

// Of the one run of this program; Catch2 runs its test cases one after the other on the main thread.
struct SkippedCases {
    std::vector<std::string> lines;
    bool current = false;  // the running test case has called skip()
    int whole = 0;         // test cases that asserted nothing before they were skipped
    int run = 0;           // test cases
};

SkippedCases& skipped_cases() {
    static SkippedCases cases;
    return cases;
}

class SkipCounter : public Catch::TestEventListenerBase {
  public:
    using TestEventListenerBase::TestEventListenerBase;
    void testCaseStarting(const Catch::TestCaseInfo&) override { skipped_cases().current = false; }
    void testCaseEnded(const Catch::TestCaseStats& stats) override {
        SkippedCases& cases = skipped_cases();
        ++cases.run;
        if (cases.current && stats.totals.assertions.total() == 0) ++cases.whole;
    }
};
CATCH_REGISTER_LISTENER(SkipCounter)

}  // namespace

void skip(const std::string& reason) {
    SkippedCases& cases = skipped_cases();
    cases.current = true;
    cases.lines.push_back("skipped \"" + Catch::getResultCapture().getCurrentTestName() + "\": " + reason);
    throw Catch::TestFailureException();  // without a failed assertion it ends the case, and does not fail it
}

void skip_unless_root() {
    if (::geteuid() != 0) skip("needs root");
}

int run_tests(int count, char** arguments) {
    Catch::Session session;
    session.configData().filenamesAsTags = true;  // [#fifo_test] runs the cases of fifo_test.cpp
    const int failed = session.run(count, arguments);
    const SkippedCases& cases = skipped_cases();
    for (const std::string& line : cases.lines) std::cerr << line << '\n';
    return failed == 0 && cases.run > 0 && cases.whole == cases.run ? all_skipped : failed;
}

}  // namespace svc::test
