#include "libsvc/services/bulk_deletion.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <optional>

#include "libsvc/base/guarded.h"
#include "libsvc/store/sqlite/sqlite_store.h"
#include "tests/support/error_code.h"
#include "tests/support/sequence_ids.h"

namespace svc::test {

namespace {

// Objects that are deleted by operations of their own; "stubborn" cannot be.
struct World {
    SystemClock clock;
    SequenceIds ids;
    SqliteStore store{":memory:"};
    EventBus events{clock};
    Guarded<std::vector<std::string>> objects{{"a", "b", "c", "stubborn"}};
    std::optional<Engine> engine;
    std::optional<BulkDeletion> bulk;

    World() { live(); }
    ~World() { end(); }
    void end() {
        engine->stop(std::chrono::seconds(10));
        bulk.reset();
        engine.reset();
    }
    void live() {
        engine.emplace(store, events, clock, ids, EngineOptions{.workers = 2});
        OperationHandler handler;
        handler.run = [this](OperationContext& context) { return remove_now(context); };
        engine->handle("thing.delete", std::move(handler));
        bulk.emplace(*engine,
                     std::vector<BulkKind>{
                         {"things", "Deleting things", [this](std::string_view id) { return check(id); },
                          [this](std::string_view id, bool, std::string) { return remove(id); }}});
        engine->recover();
    }
    std::string check(std::string_view id) const {
        const bool known = objects.with([&](const auto& all) { return std::ranges::count(all, id) > 0; });
        if (!known) throw Error(ErrorCode::not_found, "thing not found");
        return "/1.0/things/" + std::string(id);
    }
    Started remove(std::string_view id) {
        check(id);
        OperationSpec spec;
        spec.kind = "thing.delete";
        spec.description = "Deleting thing";
        spec.arguments = Json::object({{"id", id}});
        return engine->start(std::move(spec), {});
    }
    OperationResult remove_now(OperationContext& context) {
        const std::string id = context.operation().arguments.at("id").as_string();
        if (id == "stubborn") throw Error(ErrorCode::busy, "thing is in use");
        objects.with([&](auto& all) { std::erase(all, id); });
        return {};
    }
    std::shared_ptr<const Operation> ended(const std::vector<std::string>& wanted) {
        const Started started = bulk->remove("things", {wanted, false}, "uid=0");
        return engine->wait(started->id.str(), std::chrono::seconds(20));
    }
    std::vector<std::string> left() const {
        return objects.with([](const auto& all) { return all; });
    }
};

}  // namespace

TEST_CASE("all_that_is_named_is_deleted_as_one_operation") {
    World world;
    const auto operation = world.ended({"a", "b"});
    CHECK(operation->status == OperationStatus::success);
    CHECK(operation->resources.at("things") == std::vector<std::string>{"/1.0/things/a", "/1.0/things/b"});
    CHECK(operation->requestor == "uid=0");
    CHECK(world.left() == std::vector<std::string>{"c", "stubborn"});
}

TEST_CASE("bulk_deletion_ends_at_the_first_failure") {
    World world;
    const auto operation = world.ended({"a", "stubborn", "b"});
    CHECK(operation->status == OperationStatus::failure);
    CHECK(operation->err == "thing is in use");
    CHECK(world.left() == std::vector<std::string>{"b", "c", "stubborn"});
}

TEST_CASE("nothing_is_deleted_when_one_is_unknown") {
    World world;
    CHECK(message_of([&] { world.bulk->remove("things", {{"a", "x"}, false}, ""); }) == "thing not found");
    CHECK(world.left().size() == 4);
}

TEST_CASE("one_named_twice_is_a_failure_after_its_deletion") {
    World world;
    const auto operation = world.ended({"a", "a"});
    CHECK(operation->status == OperationStatus::failure);
    CHECK(operation->err == "thing not found");
}

TEST_CASE("bulk_requests_name_at_least_one_object") {
    CHECK(message_of([] { BulkRequest::from_json(Json::object()); }) == "ids is required");
    CHECK(message_of([] {
              BulkRequest::from_json(Json::object({{"ids", JsonArray{}}}));
          }) == "ids is required");
    CHECK(code_of([] {
              BulkRequest::from_json(Json::object({{"ids", JsonArray{3}}}));
          }) == ErrorCode::invalid_argument);
    CHECK(message_of([] {
              BulkRequest::from_json(Json::object({{"ids", JsonArray{"a", "b", "a"}}}));
          }) == "argument ids[2] is invalid: 'a' appears twice");
    const auto request = BulkRequest::from_json(Json::object({{"ids", JsonArray{"a"}}, {"force", true}}));
    CHECK(request.force);
}

}  // namespace svc::test
