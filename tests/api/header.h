#pragma once
// One header to send along.
#include <string>

#include "libsvc/net/http/request.h"

namespace svc::test {

inline Headers header(const std::string& name, const std::string& value) {
    Headers headers;
    headers.set(name, value);
    return headers;
}

}  // namespace svc::test
