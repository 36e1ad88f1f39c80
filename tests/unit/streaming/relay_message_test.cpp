#include "libsvc/streaming/relay/relay_message.h"

#include <catch2/catch.hpp>

#include "libsvc/base/error.h"

using namespace svc;
using KeyValue = std::pair<std::string, std::string>;

TEST_CASE("client id is put in front and the rest stays as written") {
    CHECK(RelayMessage(R"({"type":"discover"})").with_client("c1") ==
          R"({"client_id":"c1","type":"discover"})");
    CHECK(RelayMessage(R"( { "n":1.50, "type" : "x","u":"\u00e9" } )").with_client("c1") ==
          R"({"client_id":"c1", "n":1.50, "type" : "x","u":"\u00e9" } )");
    CHECK(RelayMessage(R"({"type":"x"})").with_client("a\"b") == R"({"client_id":"a\"b","type":"x"})");
}

TEST_CASE("client id of a client is not trusted") {
    for (const auto& [said, passed] : {
             KeyValue{R"({"client_id":"other","type":"x"})", R"({"client_id":"me","type":"x"})"},
             KeyValue{R"({"type":"x","client_id":"other"})", R"({"client_id":"me","type":"x"})"},
             KeyValue{R"({"type":"x", "client_id" : {"client_id":["}",{}]} , "a":1})",
                      R"({"client_id":"me","type":"x",  "a":1})"},
             KeyValue{R"({"type":"x","client\u005fid":7})", R"({"client_id":"me","type":"x"})"},
             KeyValue{R"({"type":"x","a":{"client_id":"stays"}})",
                      R"({"client_id":"me","type":"x","a":{"client_id":"stays"}})"},
             KeyValue{R"({"type":"x","a":"\",\"client_id\":\"no"})",
                      R"({"client_id":"me","type":"x","a":"\",\"client_id\":\"no"})"},
         })
        CHECK(RelayMessage(said).with_client("me") == passed);
}

TEST_CASE("client id is cut out towards the client") {
    for (const auto& [said, passed] : {
             KeyValue{R"({"client_id":"c1","type":"offer","sdp":"x"})", R"({"type":"offer","sdp":"x"})"},
             KeyValue{R"({"type":"offer","client_id":"c1","sdp":"x"})", R"({"type":"offer","sdp":"x"})"},
             KeyValue{R"({"type":"offer","sdp":"x","client_id":"c1"})", R"({"type":"offer","sdp":"x"})"},
             KeyValue{"{\"a\":[1,-2e5,true,null,\"]\\\"\"],\n\"cl\\u0069ent_id\" : \"c1\",\n\"type\":\"x\"}",
                      "{\"a\":[1,-2e5,true,null,\"]\\\"\"],\n\n\"type\":\"x\"}"},
         }) {
        const RelayMessage message(said);
        CHECK(message.client() == "c1");
        CHECK(message.without_client() == passed);
        CHECK(Json::parse(message.without_client()).find("client_id") == nullptr);
    }
}

TEST_CASE("messages that are none are refused with a reason") {
    using Catch::Contains;
    CHECK_THROWS_WITH(RelayMessage("{\"type\":"), Contains("malformed JSON"));
    CHECK_THROWS_WITH(RelayMessage(""), Contains("malformed JSON"));
    CHECK_THROWS_WITH(RelayMessage("[1]"), "message is not a JSON object");
    CHECK_THROWS_WITH(RelayMessage("{}"), "message has no type");
    CHECK_THROWS_WITH(RelayMessage(R"({"type":5})"), "message has no type");
    CHECK_THROWS_WITH(RelayMessage(R"({"type":"x","client_id":"a","client\u005fid":"b"})"),
                      Contains("two members of one name"));
    CHECK_THROWS_WITH(RelayMessage(R"({"type":"offer"})").client(),
                      "message of type 'offer' does not say which client it is for");
    CHECK_THROWS_AS(RelayMessage(R"({"type":"offer","client_id":3})").client(), Error);
    CHECK_THROWS_WITH(RelayMessage(R"({"type":"x","a":)" + std::string(100'000, '[')),
                      Contains("nested too deeply"));
}
