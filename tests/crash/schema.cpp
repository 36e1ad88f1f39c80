// What the tests of upgrades link in the place of server/known_schema.cpp. SVC_TEST_SCHEMA=N: this program
// reads and writes records of the schemas up to N.
#include "server/known_schema.h"

#include <cstdlib>

#include "libsvc/model/values/schema.h"

int svc::server::known_schema() noexcept {
    const char* wanted = std::getenv("SVC_TEST_SCHEMA");
    return wanted == nullptr ? records_schema : std::atoi(wanted);
}
