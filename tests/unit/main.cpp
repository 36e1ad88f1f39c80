#include "tests/support/skip.h"

int main(int count, char** arguments) {
    return svc::test::run_tests(count, arguments);
}
