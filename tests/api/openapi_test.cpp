// The document and the route table say the same; what the document says of each is tested by openapi_test.py.
#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

#include "libsvc/base/strings.h"
#include "libsvc/model/values/api.h"
#include "tests/support/golden.h"
#include "tests/support/test_daemon.h"

namespace svc::test {

namespace {

std::string upper(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return text;
}

// Each route with its least role, or what else opens it: "GET /1.0/nodes: viewer".
std::set<std::string> documented(const Json& document) {
    std::set<std::string> found;
    for (const auto& [path, item] : document.at("paths").as_object())
        for (const char* method : {"get", "post", "put", "patch", "delete"})
            if (const Json* operation = item.find(method))
                found.insert(upper(method) + " " + path + ": " + operation->at("x-role").as_string());
    return found;
}

std::set<std::string> served(const TestDaemon& daemon) {
    std::set<std::string> found;
    for (const auto& [name, access] : daemon.routes()) found.insert(name + ": " + access);
    return found;
}

}  // namespace

TEST_CASE("the document tells of each route, with its role, and of no other") {
    TestDaemon daemon;
    CHECK(documented(daemon.api().get("/1.0/openapi.json").json()) == served(daemon));
    CHECK(daemon.api().get("/1.0/swagger.json").text == daemon.api().get("/1.0/openapi.json").text);
}

TEST_CASE("each extension is documented") {
    const std::string page =
        read_file(std::filesystem::path(SVC_TESTS_DIR) / ".." / "docs" / "api-changes.md");
    for (const std::string& name : api_extensions()) {
        INFO(name);
        CHECK(page.find("| `" + name + "` |") != std::string::npos);
    }
    std::size_t rows = 0;
    for (const std::string& line : split(page, '\n')) rows += line.starts_with("| `") ? 1 : 0;
    CHECK(rows == api_extensions().size());
}

}  // namespace svc::test
