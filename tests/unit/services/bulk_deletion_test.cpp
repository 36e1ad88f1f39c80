#include "libsvc/services/common/bulk_deletion.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <optional>

#include "libsvc/base/guarded.h"
#include "libsvc/store/sqlite/sqlite_store.h"
#include "tests/support/error_code.h"
#include "tests/support/eventually.h"
#include "tests/support/sequence_ids.h"
#include "tests/unit/services/service_fixture.h"

namespace svc::test {

namespace {

constexpr std::size_t at_once = 3;

struct Deletions {
    std::size_t under_way = 0, most = 0;
    bool held = false;
};

// Objects that are deleted by operations of their own; "stubborn" cannot be. "the a" is another name of "a".
struct World {
    SystemClock clock;
    SequenceIds ids;
    SqliteStore store{":memory:"};
    EventBus events{clock};
    Guarded<std::vector<std::string>> objects{{"a", "b", "c", "stubborn"}};
    Watched<Deletions> deletions;
    std::optional<Engine> engine;
    std::optional<BulkDeletion> bulk;

    World() { live(); }
    ~World() { end(); }
    void end() {
        engine->stop(test::long_wait);
        engine->join();
        bulk.reset();
        engine.reset();
    }
    void live() {
        engine.emplace(store, events, clock, ids, EngineOptions{.workers = 4});
        OperationHandler handler;
        handler.run = [this](OperationContext& context) { return remove_now(context); };
        engine->handle("thing.delete", std::move(handler));
        OperationHandler other;
        other.run = [](OperationContext&) { return OperationResult{}; };
        engine->handle("other", std::move(other));
        bulk.emplace(*engine,
                     std::vector<BulkKind>{
                         {"things", "Deleting things", [this](std::string_view id) { return check(id); },
                          [this](std::string_view id, bool, std::string) { return remove(id); }}},
                     at_once);
        engine->recover();
    }
    std::string check(std::string_view named) const {
        const std::string_view id = named == "the a" ? "a" : named;
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
        deletions.change([](Deletions& d) { d.most = std::max(d.most, ++d.under_way); });
        deletions.await([](const Deletions& d) { return !d.held; });
        deletions.change([](Deletions& d) { --d.under_way; });
        if (id == "stubborn") throw Error(ErrorCode::busy, "thing is in use");
        objects.with([&](auto& all) { std::erase(all, id); });
        return {};
    }
    Started begin(const std::vector<std::string>& wanted) {
        return bulk->remove("things", {wanted, false}, "uid=0");
    }
    // Not final: it takes too long.
    std::shared_ptr<const Operation> wait(const Started& started) {
        return engine->wait(started->id.str(), test::long_wait);
    }
    std::shared_ptr<const Operation> ended(const std::vector<std::string>& wanted) {
        return wait(begin(wanted));
    }
    // Names of that many more objects.
    std::vector<std::string> add(const std::string& prefix, std::size_t count) {
        std::vector<std::string> added;
        for (std::size_t i = 0; i < count; ++i) added.push_back(prefix + std::to_string(i));
        objects.with([&](auto& all) { all.insert(all.end(), added.begin(), added.end()); });
        return added;
    }
    void hold(bool held) {
        deletions.change([held](Deletions& d) { d.held = held; });
    }
    // Is queued behind all work that has been started: ends when a worker is left for it.
    std::shared_ptr<const Operation> another() {
        OperationSpec spec;
        spec.kind = "other";
        return wait(engine->start(std::move(spec), {}));
    }
    std::vector<std::string> left() const {
        return objects.with([](const auto& all) { return all; });
    }
};

// Guests that do not shut down before the test lets them.
struct InstanceWorld : ServiceFixture {
    struct Stops {
        std::size_t under_way = 0, most = 0;
        bool open = false;
    };
    Watched<Stops> stops;
    std::unique_ptr<BulkDeletion> bulk;
    std::vector<std::string> ids;

    explicit InstanceWorld(std::size_t count) {
        const BulkKind kind{
            "containers", "Deleting containers", [](std::string_view id) { return std::string(id); },
            [this](std::string_view id, bool force, std::string requestor) {
                return instances().remove(id, force, PathWord::containers, std::move(requestor));
            }};
        bulk = std::make_unique<BulkDeletion>(engine(), std::vector{kind}, at_once);
        add_image("base");
        for (std::size_t i = 0; i < count; ++i) ids.push_back(launched());
        runtime.before("stop", [this] { stop(); });
    }
    ~InstanceWorld() { end_life(); }
    void stop() {
        stops.change([](Stops& s) { s.most = std::max(s.most, ++s.under_way); });
        stops.await([](const Stops& s) { return s.open; });
        stops.change([](Stops& s) { --s.under_way; });
    }
    Started begin() {
        const Started started = bulk->remove("containers", {ids, false}, "test");
        stops.await([](const Stops& s) { return s.under_way == at_once; });
        return started;
    }
    void let_go() {
        stops.change([](Stops& s) { s.open = true; });
    }
};

}  // namespace

TEST_CASE("guests shut down side by side as many as are allowed") {
    InstanceWorld world(7);
    const Started started = world.begin();
    world.let_go();
    CHECK(world.wait(started)->status == OperationStatus::success);
    CHECK(world.stops.get().most == at_once);
    CHECK(world.records().list().empty());
}

TEST_CASE("a cancelled bulk deletion ends what it has begun and begins no more") {
    InstanceWorld world(7);
    const Started started = world.begin();
    world.engine().cancel(started->id.str());
    world.let_go();
    CHECK(world.wait(started)->status == OperationStatus::cancelled);
    CHECK(world.records().list().size() == 7 - at_once);
}

TEST_CASE("all that is named is deleted as one operation") {
    World world;
    const auto operation = world.ended({"a", "b"});
    CHECK(operation->status == OperationStatus::success);
    CHECK(operation->resources.at("things") == std::vector<std::string>{"/1.0/things/a", "/1.0/things/b"});
    CHECK(operation->requestor == "uid=0");
    CHECK(world.left() == std::vector<std::string>{"c", "stubborn"});
}

TEST_CASE("what cannot be deleted is named and keeps nothing else") {
    World world;
    const auto operation = world.ended({"a", "stubborn", "b", "c"});
    CHECK(operation->status == OperationStatus::failure);
    CHECK(operation->err == "1 of 4 not deleted: stubborn: thing is in use");
    CHECK(world.left() == std::vector<std::string>{"stubborn"});
}

TEST_CASE("all of many are deleted before the operation ends") {
    World world;
    const auto many = world.add("many-", 300);
    CHECK(world.ended(many)->status == OperationStatus::success);
    CHECK(world.left().size() == 4);
}

TEST_CASE("bulk deletions together leave workers to others") {
    World world;
    world.hold(true);
    const Started one = world.begin(world.add("one-", 5));
    const Started two = world.begin(world.add("two-", 5));
    CHECK(world.another()->status == OperationStatus::success);
    world.deletions.await([](const Deletions& d) { return d.under_way == at_once; });
    const Started three = world.begin(world.add("three-", 5));
    world.another();  // the third has no turn
    world.engine->cancel(three->id.str());
    CHECK(world.wait(three)->status == OperationStatus::cancelled);
    world.hold(false);
    CHECK(world.wait(one)->status == OperationStatus::success);
    CHECK(world.wait(two)->status == OperationStatus::success);
    CHECK(world.deletions.get().most == at_once);
    CHECK(world.left().size() == 4 + 5);
}

TEST_CASE("bulk deletions take turns") {
    World world;
    world.hold(true);
    const Started many = world.begin(world.add("many-", 300));
    const Started few = world.begin(world.add("few-", 2));
    world.deletions.await([](const Deletions& d) { return d.under_way == at_once; });
    world.another();
    world.hold(false);
    CHECK(world.wait(few)->status == OperationStatus::success);
    CHECK(world.wait(many)->status == OperationStatus::success);
}

TEST_CASE("one object is named once whatever it is called") {
    World world;
    for (const std::string again : {"a", "the a"})
        CHECK(message_of([&] {
                  world.begin({"b", "a", again});
              }) == "argument ids[2] is invalid: '" + again + "' appears twice");
    CHECK(world.left().size() == 4);
}

TEST_CASE("nothing is deleted when one is unknown") {
    World world;
    CHECK(message_of([&] { world.bulk->remove("things", {{"a", "x"}, false}, ""); }) == "thing not found");
    CHECK(world.left().size() == 4);
}

TEST_CASE("bulk requests name at least one object") {
    CHECK(message_of([] { BulkRequest::from_json(Json::object()); }) == "ids is required");
    CHECK(message_of([] {
              BulkRequest::from_json(Json::object({{"ids", JsonArray{}}}));
          }) == "ids is required");
    CHECK(code_of([] {
              BulkRequest::from_json(Json::object({{"ids", JsonArray{3}}}));
          }) == ErrorCode::invalid_argument);
    const auto request = BulkRequest::from_json(Json::object({{"ids", JsonArray{"a"}}, {"force", true}}));
    CHECK(request.force);
}

}  // namespace svc::test
