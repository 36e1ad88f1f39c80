// Lists that are too long to be sent whole, and those that the client has already.
#include <catch2/catch.hpp>

#include "libsvc/net/client/direct_call.h"
#include "server/http/listing.h"
#include "tests/support/application_package.h"
#include "tests/support/image_package.h"
#include "tests/support/test_daemon.h"

namespace svc::server {

namespace {

// Items of about a kilobyte, and how many have been rendered.
struct Rendered {
    explicit Rendered(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i)
            items.push_back(std::make_shared<const std::string>(1000, 'x'));
    }
    Response list(const Page& page = {}) {
        const auto render = [this](std::string& text, const std::string& item) {
            ++rendered;
            text += '"' + item + '"';
        };
        return list_reply(page, items.size(), list_items(items, render));
    }
    std::vector<std::shared_ptr<const std::string>> items;
    std::size_t rendered = 0;
};

std::string read_all(BodySource& source, std::size_t at_most) {
    std::string whole;
    for (std::string piece = source.read(at_most); !piece.empty(); piece = source.read(at_most)) {
        REQUIRE(piece.size() <= at_most);
        whole += piece;
    }
    return whole;
}

}  // namespace

TEST_CASE("a long list is rendered as it is read, and holds its records until then") {
    Rendered list(3000);
    Response response = list.list();
    REQUIRE(response.source);
    CHECK(list.rendered < 100);
    CHECK(list.items.front().use_count() == 2);
    CHECK(response.source->held_bytes() >= 3000 * sizeof(list.items.front()));
    CHECK(response.source->ends_by_itself());
    for (const std::size_t at_most : {std::size_t{700}, std::size_t{32} << 10, std::size_t{1} << 20}) {
        const std::string text = read_all(*list.list().source, at_most);
        CHECK(Json::parse(text).at("metadata").as_array().size() == 3000);
        CHECK(text.ends_with("}\n"));
    }
    response.source.reset();
    CHECK(list.items.front().use_count() == 1);
}

TEST_CASE("a short list is sent whole, a long page with the size of all") {
    const Response response = Rendered(20).list();
    CHECK_FALSE(response.source);
    CHECK(Json::parse(response.body).at("metadata").as_array().size() == 20);
    CHECK(Json::parse(Rendered(0).list().body).at("metadata") == Json::array());
    Page page;
    page.given = true;
    Rendered list(200);
    const Json body = Json::parse(read_all(*list.list(page).source, 5000));
    CHECK(body.at("total_size") == Json(200));
    CHECK(body.at("metadata").as_array().size() == 200);
}

}  // namespace svc::server

namespace svc::test {

namespace {

struct TaggedSetup {
    TestDaemon daemon;
    ApiCaller& api = daemon.api();

    TaggedSetup() { api.add_image("base", image_package()); }
    std::string tag_of(const std::string& path) { return api.get(path).headers.get("ETag"); }
    int status(const std::string& path, const std::string& known) {
        ClientRequest request;
        request.path = path;
        request.headers.set("If-None-Match", known);
        const ClientReply reply = call_directly(daemon.local_target(), request);
        CHECK(reply.body.empty() == (reply.status == 304));
        CHECK_FALSE(reply.headers.get("ETag").empty());
        return reply.status;
    }
};

}  // namespace

TEST_CASE_METHOD(TaggedSetup, "a list that has not changed is not sent again") {
    api.add_application(application_package("candy"));
    const std::string id = api.launch("base");
    api.settle();
    for (const std::string path : {"/1.0/containers", "/1.0/instances?recursion=1", "/1.0/tasks",
                                   "/1.0/containers?status=running", "/1.0/instances?limit=1"}) {
        INFO(path);
        const std::string known = tag_of(path);
        CHECK(known.starts_with("W/\""));
        CHECK(status(path, known) == 304);
        CHECK(status(path, "\"x\", " + known) == 304);
        CHECK(status(path, "\"x\"") == 200);
        api.succeed(api.patch("/1.0/instances/" + id, Json::object({{"desired_status", "stopped"}})));
        CHECK(status(path, known) == 200);
        api.succeed(api.patch("/1.0/instances/" + id, Json::object({{"desired_status", "running"}})));
        CHECK(status(path, known) == 200);
    }
    const std::string applications = tag_of("/1.0/applications?recursion=1");
    CHECK(status("/1.0/applications?recursion=1", applications) == 304);
    api.succeed(api.patch("/1.0/applications/candy", Json::object({{"tags", Json::array({"new"})}})));
    CHECK(status("/1.0/applications?recursion=1", applications) == 200);
}

TEST_CASE_METHOD(TaggedSetup, "an instance that has not changed is not sent again") {
    const std::string url = "/1.0/containers/" + api.launch("base");
    api.settle();
    const std::string known = tag_of(url);
    api.launch("base");  // the change of another instance is none of this one
    CHECK(status(url, known) == 304);
    CHECK(status(url, "*") == 304);
    api.succeed(api.patch(url, Json::object({{"desired_status", "stopped"}})));
    CHECK(status(url, known) == 200);
    CHECK(tag_of(url) != known);
    api.succeed(api.remove(url));
    CHECK(api.call(Method::get, url, "", {}).status == 404);
}

TEST_CASE_METHOD(TaggedSetup, "a tag of before a restart is not known") {
    const std::string url = "/1.0/containers/" + api.launch("base");
    api.settle();
    const std::string record = tag_of(url);
    const std::string list = tag_of("/1.0/containers");
    daemon.restart();
    CHECK(status(url, record) == 200);
    CHECK(status("/1.0/containers", list) == 200);
}

}  // namespace svc::test
