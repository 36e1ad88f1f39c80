#pragma once
// How long a process has computed.
#include <string>

namespace svc::bench {

// Of all its threads, in user and system mode; 0 where there is no such process. `pid` as text: "self" is not
// one.
double processor_seconds_of(const std::string& pid);

}  // namespace svc::bench
