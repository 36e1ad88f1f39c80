// Synchronisation of the local applications with the registry.
#include "libsvc/services/registry/registry_service.h"

#include "libsvc/services/registry/catalogue_versions.h"
#include "tests/unit/services/registry_fixture.h"

using namespace svc;
using namespace svc::test;

TEST_CASE_METHOD(TwoStations, "a published application reaches the other service, immutable") {
    publisher.created("name: candy\ntags: [game]\nversion: '1.2'\n");
    const auto pushed = publisher.wait(publisher.registry().push("candy", "uid=0"));
    CHECK(pushed->err == "");
    CHECK(pushed->description == "Pushing application");
    CHECK(pushed->requestor == "uid=0");
    CHECK(pushed->resources.at("applications").at(0) == "/1.0/applications/candy");
    const auto pulled = client.wait(client.registry().pull("candy", "test"));
    CHECK(pulled->err == "");
    CHECK(pulled->description == "Pulling application");
    const auto application = client.app();
    CHECK(application->immutable);
    CHECK(application->tags == std::vector<std::string>{"game"});
    CHECK(client.version(0).status == ImageStatus::active);
    CHECK(client.version(0).published);
    CHECK(client.version(0).manifest.version == "1.2");
}

TEST_CASE_METHOD(TwoStations, "the registry shows what was published") {
    publisher.created("name: candy\ntags: [game]\nfeatures: [a]\nvideo-encoder: software\n");
    REQUIRE(publisher.push("candy") == "");
    const auto list = client.registry().list();
    REQUIRE(list.size() == 1);
    CHECK(list[0].architectures == std::vector<std::string>{"x86_64"});
    CHECK(list[0].tags == std::vector<std::string>{"game"});
    CHECK(list[0].versions.at(0).details.at("video_encoder").as_string() == "software");
    CHECK(list[0].versions.at(0).details.at("features").dump() == "[\"a\"]");
}

TEST_CASE_METHOD(TwoStations, "a publisher sends what is published by itself, and nothing else") {
    publisher.created();
    publisher.set("application.auto_publish", "false");
    publisher.add_version("2");
    publisher.synchronise();
    CHECK(offered() == std::vector<int>{0});
    publisher.succeed(publisher.service().publication().publish("candy", 1, true, "test"));
    publisher.synchronise();
    CHECK(offered() == std::vector<int>{0, 1});
    const std::size_t operations = publisher.engine().list().size();
    publisher.synchronise();
    CHECK(publisher.engine().list().size() == operations);  // nothing to do: no operation
}

TEST_CASE_METHOD(TwoStations, "what is published is sent at once by a publisher, and by nobody else") {
    publisher.send_what_is_published();
    publisher.created();
    publisher.settle();
    CHECK(offered() == std::vector<int>{0});
    publisher.set("application.auto_publish", "false");
    publisher.add_version("2");
    publisher.settle();
    CHECK(offered() == std::vector<int>{0});
    publisher.succeed(publisher.service().publication().publish("candy", 1, true, "test"));
    publisher.settle();
    CHECK(offered() == std::vector<int>{0, 1});
    client.send_what_is_published();
    client.created("name: own\n");
    client.settle();
    CHECK(offered("own").empty());
}

TEST_CASE_METHOD(TwoStations, "a client takes new versions by itself, once") {
    publisher.created();
    publisher.synchronise();
    client.synchronise();
    CHECK(client.numbers() == std::vector<int>{0});
    publisher.add_version("2");
    publisher.synchronise();
    client.synchronise();
    CHECK(client.numbers() == std::vector<int>{0, 1});
    CHECK(client.published() == std::vector<int>{0, 1});
    const std::size_t operations = client.engine().list().size();
    client.synchronise();
    CHECK(client.engine().list().size() == operations);
}

TEST_CASE_METHOD(TwoStations, "what is no longer in the registry goes at the next comparison") {
    publisher.created();
    publisher.synchronise();
    client.synchronise();
    client.created("name: own\n");
    const auto removed = publisher.wait(publisher.registry().remove("candy", "test"));
    CHECK(removed->err == "");
    CHECK(removed->description == "Deleting application from registry");
    client.synchronise();
    CHECK_FALSE(client.exists("candy"));
    CHECK(client.exists("own"));
}

TEST_CASE_METHOD(TwoStations, "nothing is removed while the registry cannot be reached") {
    publisher.created();
    publisher.synchronise();
    client.synchronise();
    fs::rename(root, shared.path() / "away");
    CHECK(code_of([&] { client.registry().synchronise(); }) == ErrorCode::unavailable);
    client.settle();
    CHECK(client.exists("candy"));
}

TEST_CASE_METHOD(TwoStations,
                 "what was deleted from the registry stays out until something new is published") {
    publisher.created();
    publisher.synchronise();
    publisher.succeed(publisher.registry().remove("candy", "test"));
    publisher.synchronise();
    CHECK(offered().empty());
    SECTION("a later version") {
        publisher.add_version("2");
        publisher.synchronise();
        CHECK(offered() == std::vector<int>{1});
    }
    SECTION("asked for") {
        CHECK(publisher.push("candy") == "");
        CHECK(offered() == std::vector<int>{0});
    }
    SECTION("after a restart") {
        publisher.begin_again();
        publisher.synchronise();
        CHECK(offered().empty());
    }
}

TEST_CASE_METHOD(TwoStations, "a local application of that name is left alone") {
    publisher.created();
    publisher.synchronise();
    client.created("name: candy\ntags: [own]\n");
    CHECK(message_of([&] { client.registry().pull("candy", "test"); }) ==
          "application 'candy' already exists");
    CHECK(code_of([&] { client.registry().pull("candy", "test"); }) == ErrorCode::conflict);
    client.synchronise();
    CHECK_FALSE(client.app()->immutable);
    CHECK(client.app()->tags == std::vector<std::string>{"own"});
}

TEST_CASE_METHOD(TwoStations, "a filter takes only applications with one of its tags") {
    publisher.created("name: candy\ntags: [game, sweet]\n");
    publisher.created("name: other\ntags: [work]\n");
    publisher.created("name: plain\n");
    publisher.synchronise();
    client.set("registry.filter", "sweet, salty");
    client.synchronise();
    CHECK(client.exists("candy"));
    CHECK_FALSE(client.exists("other"));
    CHECK_FALSE(client.exists("plain"));
    CHECK(client.registry().list().size() == 1);
    client.set("registry.filter", "work");
    client.synchronise();
    CHECK(client.exists("other"));
    CHECK(client.exists("candy"));  // still in the registry
}

TEST_CASE_METHOD(TwoStations, "only as many versions as may be published are taken, the newest") {
    publisher.created();
    publisher.set("application.max_published_versions", "10");
    for (int i = 1; i < 4; ++i) publisher.add_version(std::to_string(i));
    publisher.synchronise();
    REQUIRE(offered() == std::vector<int>{0, 1, 2, 3});
    client.set("application.max_published_versions", "2");
    client.synchronise();
    CHECK(client.numbers() == std::vector<int>{2, 3});
    publisher.add_version("4");
    publisher.synchronise();
    client.synchronise();
    client.settle();
    CHECK(client.numbers() == std::vector<int>{3, 4});
    client.synchronise();
    CHECK(client.numbers() == std::vector<int>{3, 4});
}

TEST_CASE("the newest versions that are not here are wanted, of the right architecture") {
    CatalogueApplication offered;
    offered.architectures = {"x86_64"};
    for (const int number : {1, 2, 5, 9}) offered.versions.push_back({number, Json::object()});
    Application local;
    local.versions.resize(1);
    local.versions[0].number = 5;
    CHECK(versions_to_pull(offered, nullptr, "x86_64", 3) == std::vector<int>{2, 5, 9});
    CHECK(versions_to_pull(offered, &local, "x86_64", 3) == std::vector<int>{2, 9});
    CHECK(versions_to_pull(offered, &local, "x86_64", 100) == std::vector<int>{1, 2, 9});
    CHECK(versions_to_pull(offered, nullptr, "aarch64", 3).empty());
}
