// The JSON of etcd's gateway, as etcd 3.4 writes and reads it.
#include <catch2/catch.hpp>

#include "libsvc/base/error.h"
#include "libsvc/store/etcd/wire.h"
#include "tests/support/error_code.h"

namespace svc::etcd {
namespace {

using test::code_of;

TEST_CASE("a transaction compares revisions, and tells what was read by the branch that was taken") {
    Transaction transaction;
    transaction.expect("a", 7);
    transaction.put("a", "x", 5);
    transaction.remove("b");
    transaction.if_refused(range_request({"a", ""}, {.keys_only = true}));
    CHECK(transaction.request().dump() ==
          R"({"compare":[{"target":"MOD","result":"EQUAL","key":"YQ==","mod_revision":"7"}],)"
          R"("success":[{"request_put":{"key":"YQ==","value":"eA==","lease":"5"}},)"
          R"({"request_delete_range":{"key":"Yg=="}}],)"
          R"("failure":[{"request_range":{"key":"YQ==","keys_only":true}}]})");

    const TransactionReply done =
        read_transaction(Json::parse(R"({"header":{"revision":"9"},"succeeded":true,"responses":[)"
                                     R"({"response_put":{"header":{"revision":"9"}}}]})"));
    CHECK((done.succeeded && done.revision == 9 && done.read.empty()));
    const TransactionReply refused = read_transaction(
        Json::parse(R"({"header":{"revision":"9"},"responses":[{"response_range":{"header":{"revision":"9"},)"
                    R"("kvs":[{"key":"YQ==","mod_revision":"8"}],"count":"1"}}]})"));
    CHECK_FALSE(refused.succeeded);
    REQUIRE(refused.read.size() == 1);
    CHECK((refused.read[0].entries[0].key == "a" && refused.read[0].entries[0].revision == 8));
}

TEST_CASE("a page begins at a key, as of a revision, and says whether more follows") {
    CHECK(range_request(below("a/"), {.at = 3, .limit = 2}).dump() ==
          R"({"key":"YS8=","range_end":"YTA=","revision":"3","limit":"2"})");
    CHECK(range_request(below("a/"), {.newest_first = true}).dump() ==
          R"({"key":"YS8=","range_end":"YTA=","sort_order":"DESCEND","sort_target":"MOD"})");
    const Page page = read_page(Json::parse(
        R"({"header":{"revision":"9"},"kvs":[{"key":"YS8x","mod_revision":"8","value":"eA=="}],"more":true})"));
    CHECK((page.more && page.revision == 9 && page.entries.size() == 1));
    CHECK((page.entries[0].key == "a/1" && page.entries[0].value == "x"));
    CHECK_FALSE(read_page(Json::parse(R"({"header":{"revision":"9"}})")).more);
}

TEST_CASE("a message of a watch has puts and removals, or says how the watch has ended") {
    CHECK(watch_request(below("a/"), 4).dump() ==
          R"({"create_request":{"key":"YS8=","range_end":"YTA=","start_revision":"4"}})");
    const WatchMessage told = read_watch_message(
        R"({"result":{"header":{"revision":"9"},"events":[{"kv":{"key":"YQ==","mod_revision":"8","value":"eA=="}},)"
        R"({"type":"DELETE","kv":{"key":"Yg==","mod_revision":"9"}}]}})");
    REQUIRE(told.events.size() == 2);
    CHECK((told.events[0].key == "a" && told.events[0].value == "x" && told.events[0].revision == 8));
    CHECK((told.events[1].key == "b" && !told.events[1].value && told.events[1].revision == 9));
    const WatchMessage empty =
        read_watch_message(R"({"result":{"events":[{"kv":{"key":"YQ==","mod_revision":"8"}}]}})");
    CHECK(empty.events[0].value == "");
    CHECK(read_watch_message(R"({"result":{"canceled":true,"compact_revision":"2"}})").compacted);
    const WatchMessage cancelled = read_watch_message(R"({"result":{"canceled":true}})");
    CHECK((cancelled.cancelled && !cancelled.compacted));
}

TEST_CASE("what etcd cannot have said is unavailable") {
    for (const char* const line :
         {"", "[]", "{}", R"({"error":{"message":"etcdserver: no leader"}})", R"({"result":{"events":{}}})",
          R"({"result":{"events":[{"kv":{"key":"?","mod_revision":"8"}}]}})",
          R"({"result":{"events":[{"kv":{"key":"YQ==","mod_revision":8}}]}})",
          R"({"result":{"events":[{"kv":{"key":"YQ==","mod_revision":"8x"}}]}})"}) {
        INFO(line);
        CHECK(code_of([&] { read_watch_message(line); }) == ErrorCode::unavailable);
    }
    CHECK(code_of([] { read_page(Json::parse(R"({"kvs":[{"key":7}]})")); }) == ErrorCode::unavailable);
}

}  // namespace
}  // namespace svc::etcd
