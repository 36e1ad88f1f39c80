#pragma once
// Makes a body of the API comparable: what differs from run to run becomes a word.
#include <string>

#include "libsvc/base/json.h"

namespace svc::test {

// Ids become <id>, <uuid>, <digest>, times <time>, seconds and bytes (created_at, size)
// <number>, the progress of an operation <progress>.
Json normalise(const Json& value);
std::string normalise_text(std::string text);

}  // namespace svc::test
