#pragma once
// Handlers and requests for the tests of the server.
#include <catch2/catch.hpp>

#include "libsvc/net/server/server.h"
#include "tests/unit/net/test_server.h"

namespace svc::test {

inline Response echo(Request& request) {
    return text_response(request.body);
}

inline Response hello(Request&) {
    return text_response("hello");
}

inline std::string get(const std::string& path, const std::string& fields = "") {
    return "GET " + path + " HTTP/1.1\r\nHost: x\r\n" + fields + "\r\n";
}

}  // namespace svc::test
