#include "libsvc/store/collection.h"
#include "libsvc/model/values/schema.h"

#include <catch2/catch.hpp>
#include <thread>

#include "libsvc/base/file.h"
#include "libsvc/store/sqlite/sqlite_store.h"
#include "libsvc/store/sqlite/statement.h"
#include "tests/support/error_code.h"
#include "tests/support/failing_store.h"

namespace svc {

struct Thing {
    std::string id;
    std::string name;
    std::int64_t count = 0;
};

template <>
struct RecordTraits<Thing> {
    static constexpr std::string_view noun = "thing";
    static constexpr std::string_view prefix = "things/";
    static const std::string& id(const Thing& thing) { return thing.id; }
    static std::string name(const Thing& thing) { return thing.name; }
    static Json to_store(const Thing& thing) {
        return Json::object({{"schema", 1}, {"id", thing.id}, {"name", thing.name}, {"count", thing.count}});
    }
    static Thing from_store(const Json& json) {
        const JsonFields fields(json);
        return {fields.require_string("id"), fields.string("name").value_or(""), fields.require_int("count")};
    }
};

// Named after its id unless it is given a name, so that most names need not be kept.
struct Part {
    std::string id;
    std::string name;  // where one was given
};

template <>
struct RecordTraits<Part> {
    static constexpr std::string_view noun = "part";
    static constexpr std::string_view prefix = "parts/";
    static const std::string& id(const Part& part) { return part.id; }
    static std::string name(const Part& part) { return part.name; }
    static std::string_view id_in(std::string_view name) {
        return name.starts_with("p-") ? name.substr(2) : std::string_view();
    }
    static Json to_store(const Part& part) {
        return Json::object({{"schema", 1}, {"id", part.id}, {"name", part.name}});
    }
    static Part from_store(const Json& json) {
        const JsonFields fields(json);
        return {fields.require_string("id"), fields.require_string("name")};
    }
};

namespace {

using test::code_of;
using test::message_of;

struct CollectionFixture {
    SqliteStore sqlite{":memory:"};
    test::FailingStore store{sqlite};
    Collection<Thing> things{store};
    Thing thing(const std::string& id, const std::string& name = "") { return {id, name, 0}; }
};

TEST_CASE_METHOD(CollectionFixture, "a created record is found by id and by name") {
    const auto created = things.create(thing("1", "one"));
    CHECK(created->name == "one");
    CHECK(things.get("1") == created);
    CHECK(things.get("one") == created);
    CHECK(things.find("two") == nullptr);
    CHECK(message_of([&] { things.get("two"); }) == "thing not found");
    CHECK(code_of([&] { things.get("two"); }) == ErrorCode::not_found);
}

TEST_CASE_METHOD(CollectionFixture, "an id is found before a name") {
    things.create(thing("1", "2"));
    things.create(thing("2"));
    CHECK(things.get("2")->id == "2");
}

TEST_CASE_METHOD(CollectionFixture, "a name that says the id needs no key of its own") {
    Collection<Part> parts(store);
    const auto part = parts.create({"1", ""});
    CHECK(parts.find("p-1") == part);
    CHECK(parts.find("1") == part);
    CHECK(parts.find("p-2") == nullptr);
    CHECK(parts.find("p-") == nullptr);
    CHECK(store.list("").size() == 1);
    parts.remove("1");
    CHECK(parts.find("p-1") == nullptr);
}

TEST_CASE_METHOD(CollectionFixture,
                 "records that may say their id by their name may have names of their own") {
    Collection<Part> parts(store);
    const auto part = parts.create({"1", "wheel"});
    CHECK(parts.find("wheel") == part);
    CHECK(parts.find("p-1") == part);
    CHECK(code_of([&] { parts.create({"2", "wheel"}); }) == ErrorCode::conflict);
    parts.remove("1");
    CHECK(parts.find("wheel") == nullptr);
    CHECK(parts.create({"2", "wheel"})->id == "2");
}

TEST_CASE_METHOD(CollectionFixture, "every change of a record is counted") {
    const auto before = things.changes();
    things.create(thing("1"));
    const auto created = things.changes();
    CHECK(created > before);
    things.update("1", [](Thing& thing) { thing.count = 5; });
    const auto updated = things.changes();
    CHECK(updated > created);
    things.remove("1");
    CHECK(things.changes() > updated);
}

TEST_CASE_METHOD(CollectionFixture, "a revision is of one content of a record, in one collection object") {
    things.create(thing("1", "one"));
    const auto first = things.get_revised("one");
    CHECK(first.record == things.find("1"));
    CHECK(things.get_revised("1").revision == first.revision);
    things.create(thing("2"));
    CHECK(things.get_revised("1").revision == first.revision);
    things.update("1", [](Thing& thing) { thing.count = 5; });
    CHECK(things.get_revised("1").revision != first.revision);
    CHECK(message_of([&] { things.get_revised("3"); }) == "thing not found");
    CHECK(Collection<Thing>(store).origin() != things.origin());
}

TEST_CASE_METHOD(CollectionFixture, "a taken id or name is a conflict and changes nothing") {
    things.create(thing("1", "one"));
    CHECK(message_of([&] { things.create(thing("1", "other")); }) == "thing already exists");
    CHECK(message_of([&] { things.create(thing("2", "one")); }) == "thing already exists");
    CHECK(things.size() == 1);
    CHECK(things.find("other") == nullptr);
    CHECK(store.list("").size() == 2);
}

TEST_CASE_METHOD(CollectionFixture, "a list is ordered by id") {
    for (const auto* id : {"b", "a", "c"}) things.create(thing(id));
    const auto list = things.list();
    REQUIRE(list.size() == 3);
    CHECK((list[0]->id == "a" && list[1]->id == "b" && list[2]->id == "c"));
}

TEST_CASE_METHOD(CollectionFixture,
                 "a window is what the list has there, from either end and at its bounds") {
    for (const auto* id : {"c", "a", "e", "b", "d"}) things.create(thing(id));
    const auto list = things.list();
    for (const std::size_t offset : {0, 1, 2, 3, 4, 5, 6})
        for (const std::size_t limit :
             {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{5}, SIZE_MAX}) {
            CAPTURE(offset, limit);
            const auto window = things.window(offset, limit);
            const std::size_t begin = std::min<std::size_t>(offset, 5);
            const std::size_t end = begin + std::min(limit, 5 - begin);
            CHECK(window.total == 5);
            CHECK(std::equal(window.records.begin(), window.records.end(), list.begin() + begin,
                             list.begin() + end));
        }
    CHECK(things.window(3, SIZE_MAX).records == std::vector{list[3], list[4]});
    CHECK(things.window(SIZE_MAX, SIZE_MAX).records.empty());
}

TEST_CASE_METHOD(CollectionFixture, "an empty collection has an empty window") {
    CHECK(things.window(0, 1).records.empty());
    CHECK(things.window(1, SIZE_MAX).total == 0);
}

TEST_CASE_METHOD(CollectionFixture, "an update changes the record and keeps what was handed out before") {
    const auto before = things.create(thing("1"));
    const auto after = things.update("1", [](Thing& thing) { thing.count = 5; });
    CHECK(before->count == 0);
    CHECK(after->count == 5);
    CHECK(things.get("1")->count == 5);
    CHECK(code_of([&] { things.update("2", [](Thing&) {}); }) == ErrorCode::not_found);
}

TEST_CASE_METHOD(CollectionFixture, "a change that throws refuses the update") {
    things.create(thing("1"));
    const auto commits = store.commits();
    CHECK(code_of([&] { things.update("1", [](Thing&) { throw Error(ErrorCode::busy, "no"); }); }) ==
          ErrorCode::busy);
    CHECK(store.commits() == commits);
}

TEST_CASE_METHOD(CollectionFixture, "a new name frees the old one") {
    things.create(thing("1", "one"));
    things.update("1", [](Thing& thing) { thing.name = "uno"; });
    CHECK(things.find("one") == nullptr);
    CHECK(things.get("uno")->id == "1");
    things.create(thing("2", "one"));
    CHECK(message_of([&] { things.update("2", [](Thing& thing) { thing.name = "uno"; }); }) ==
          "thing already exists");
    CHECK(things.get("one")->id == "2");
}

TEST_CASE_METHOD(CollectionFixture, "a name can be given up and be taken later") {
    things.create(thing("1", "one"));
    things.update("1", [](Thing& thing) { thing.name.clear(); });
    CHECK(things.find("one") == nullptr);
    things.update("1", [](Thing& thing) { thing.name = "one"; });
    CHECK(things.get("one")->id == "1");
}

TEST_CASE_METHOD(CollectionFixture, "an id cannot change") {
    things.create(thing("1"));
    CHECK(code_of([&] { things.update("1", [](Thing& thing) { thing.id = "2"; }); }) == ErrorCode::internal);
}

TEST_CASE_METHOD(CollectionFixture, "concurrent updates lose nothing") {
    things.create(thing("1"));
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 4; ++i)
            threads.emplace_back([this] {
                for (int n = 0; n < 50; ++n) things.update("1", [](Thing& thing) { ++thing.count; });
            });
    }
    CHECK(things.get("1")->count == 200);
}

TEST_CASE_METHOD(CollectionFixture, "further changes are committed with the record or not at all") {
    store.commit(Batch().put("other", "1"));
    const Batch refused = Batch().expect("other", 0).put("other", "2");
    const auto conflict = [&](auto&& work) { return code_of(work) == ErrorCode::conflict; };
    CHECK(conflict([&] { things.create(thing("1"), refused); }));
    CHECK(things.size() == 0);
    things.create(thing("1"), Batch().put("made", "1"));
    CHECK(store.get("made").has_value());
    const auto commits = store.commits();
    CHECK(conflict([&] {
        things.update(
            "1", [](Thing& thing) { thing.count = 1; }, refused);
    }));
    CHECK(conflict([&] { things.remove("1", refused); }));
    CHECK(store.commits() == commits + 2);  // trying again would not help
    CHECK(things.get("1")->count == 0);
    things.update(
        "1", [](Thing& thing) { thing.count = 1; }, Batch().remove("made"));
    CHECK_FALSE(store.get("made").has_value());
}

TEST_CASE_METHOD(CollectionFixture, "a removed record is gone with its name") {
    things.create(thing("1", "one"));
    things.remove("1");
    CHECK(things.find("1") == nullptr);
    CHECK(things.find("one") == nullptr);
    CHECK(store.list("").empty());
    things.remove("1", Batch().put("other", "1"));
    CHECK(store.get("other").has_value());
}

TEST_CASE_METHOD(CollectionFixture, "staged changes take effect with the commit of their batch") {
    things.create(thing("1", "one"));
    things.create(thing("2", "two"));
    Batch batch;
    things.stage_create(batch, thing("3", "three"));
    things.stage_update(batch, "1", [](Thing& thing) { thing.name = "uno"; });
    things.stage_remove(batch, "2");
    CHECK(things.size() == 2);
    store.commit(batch);
    CHECK(things.size() == 2);
    CHECK(things.get("three")->id == "3");
    CHECK(things.get("uno")->id == "1");
    CHECK(things.find("two") == nullptr);
}

TEST_CASE_METHOD(CollectionFixture, "a staged change of a record that has moved on is a conflict") {
    things.create(thing("1"));
    Batch update;
    things.stage_update(update, "1", [](Thing& thing) { thing.count = 1; });
    Batch removal;
    things.stage_remove(removal, "1");
    things.update("1", [](Thing& thing) { thing.count = 2; });
    CHECK(code_of([&] { store.commit(update); }) == ErrorCode::conflict);
    CHECK(code_of([&] { store.commit(removal); }) == ErrorCode::conflict);
    CHECK(things.get("1")->count == 2);
}

TEST_CASE_METHOD(CollectionFixture, "a new collection loads what is stored, and follows the other one") {
    things.create(thing("1", "one"));
    const Collection<Thing> second(store);
    CHECK(second.get("one")->id == "1");
    things.update("1", [](Thing& thing) { thing.name = "uno"; });
    CHECK(second.find("one") == nullptr);
    CHECK(second.get("uno")->id == "1");
    things.remove("1");
    CHECK(second.size() == 0);
}

// What a power failure, a program of another version or a hand may leave.
const std::vector<std::string> unreadable_values{
    "",
    "{",
    R"({"schema":1,"id":"9","na)",
    "[]",
    "null",
    R"({"schema":1,"id":"9","count":"many"})",
    R"({"schema":1,"id":"8","count":1})",
    std::string("\0\0\0\0", 4),
};

TEST_CASE_METHOD(CollectionFixture,
                 "a record that cannot be read stays as it is, and the others are served") {
    for (const std::string& value : unreadable_values) {
        CAPTURE(value);
        SqliteStore own(":memory:");
        own.commit(Batch().put("things/9", value));
        Collection<Thing>(own).create(thing("1", "one"));
        const Collection<Thing> again(own);
        CHECK(again.size() == 1);
        CHECK(again.get("one")->id == "1");
        CHECK(again.find("9") == nullptr);
        CHECK_FALSE(again.all_readable());
        CHECK(again.unreadable().at(0).key == "things/9");
        CHECK(code_of([&] { again.get("9"); }) == ErrorCode::internal);
        CHECK(message_of([&] { again.get("9"); }).starts_with("thing cannot be read: stored record "));
        CHECK(own.get("things/9")->value == value);
    }
}

TEST_CASE("a record that is larger than any the service writes is not read") {
    const TemporaryDirectory folder(std::filesystem::temp_directory_path());
    const auto database = folder.path() / "svc.db";
    SqliteStore(database).commit(Batch().put("things/2", R"({"schema":1,"id":"2","count":1})"));
    {
        SqliteConnection direct(database);
        direct.execute("INSERT INTO entries VALUES('things/1', zeroblob(3000000), 1)");
    }
    SqliteStore store(database);
    const Collection<Thing> things(store);
    CHECK(things.size() == 1);
    CHECK(things.unreadable().at(0).reason == "stored record 'things/1': it is larger than 1 MiB");
}

TEST_CASE_METHOD(CollectionFixture,
                 "id and names of a record that cannot be read stay taken until it is removed") {
    things.create(thing("9", "nine"));
    store.commit(Batch().put("things/9", "{"));
    Collection<Thing> second(store);
    CHECK(message_of([&] { second.get("nine"); }).starts_with("thing cannot be read"));
    CHECK(message_of([&] { second.create(thing("9")); }) == "thing already exists");
    CHECK(message_of([&] { second.create(thing("10", "nine")); }) == "thing already exists");
    CHECK(code_of([&] { second.update("9", [](Thing&) {}); }) == ErrorCode::internal);
    CHECK(store.get("things/9")->value == "{");
    second.remove("9");
    CHECK(second.all_readable());
    CHECK(store.list("").empty());
    CHECK(second.create(thing("9", "nine"))->id == "9");
}

TEST_CASE_METHOD(CollectionFixture,
                 "a record that another writer makes unreadable is set aside as at a start") {
    things.create(thing("8", "eight"));
    for (const std::string& value : unreadable_values) {
        CAPTURE(value);
        things.put(thing("9", "nine"));
        const auto known = things.unreadable().size();
        store.commit(Batch().put("things/9", value));
        CHECK(things.find("9") == nullptr);
        CHECK(things.find("nine") == nullptr);
        REQUIRE(things.unreadable().size() == known + 1);
        CHECK(things.unreadable()[0].names == std::vector<std::string>{"nine"});
        CHECK(message_of([&] { things.get("nine"); }).starts_with("thing cannot be read"));
        CHECK(message_of([&] { things.create(thing("10", "nine")); }) == "thing already exists");
        CHECK(code_of([&] { things.update("9", [](Thing&) {}); }) == ErrorCode::internal);
        CHECK(things.size() == 1);
        things.remove("9");
        CHECK(things.all_readable());
        CHECK_FALSE(store.get("names/things/nine"));
    }
}

TEST_CASE_METHOD(CollectionFixture,
                 "a new record that cannot be read is set aside with its names, until it can") {
    store.commit(Batch().put("things/9", "{").put("names/things/nine", "9"));
    CHECK(message_of([&] { things.get("nine"); }).starts_with("thing cannot be read"));
    store.commit(Batch().put("things/9", R"({"schema":1,"id":"9","name":"nine","count":1})"));
    CHECK(things.all_readable());
    CHECK(things.get("nine")->count == 1);
}

TEST_CASE_METHOD(CollectionFixture, "an observer sees a record go that cannot be read any more") {
    std::vector<std::string> gone;
    const Collection<Thing> observed(store, [&](const Thing* before, const Thing* after) {
        if (before != nullptr && after == nullptr) gone.push_back(before->id);
    });
    things.create(thing("9", "nine"));
    store.commit(Batch().put("things/9", "{"));
    CHECK(gone == std::vector<std::string>{"9"});
}

TEST_CASE_METHOD(CollectionFixture, "a record of a newer schema than this program knows is not read") {
    const auto of_schema = [](int schema) {
        return R"({"schema":)" + std::to_string(schema) + R"(,"id":"9","name":"","count":1,"more":[1]})";
    };
    store.commit(Batch().put("things/9", of_schema(records_schema)));
    CHECK(things.get("9")->count == 1);
    store.commit(Batch().put("things/9", of_schema(records_schema + 1)));
    CHECK(things.unreadable().at(0).reason ==
          "stored record 'things/9': it was written by a newer version of the service");
    const Collection<Thing> loaded(store);
    CHECK(loaded.find("9") == nullptr);
    CHECK(store.get("things/9")->value == of_schema(records_schema + 1));
}

TEST_CASE_METHOD(CollectionFixture, "what is written over a record that cannot be read leaves a copy of it") {
    things.create(thing("9", "nine"));
    store.commit(Batch().put("things/9", "{"));
    Collection<Thing> second(store);
    second.put(thing("9", "nine"));
    CHECK(second.get("nine")->id == "9");
    CHECK(second.all_readable());
    CHECK(store.get("unreadable/things/9")->value == "{");
}

TEST_CASE_METHOD(CollectionFixture, "a failed commit leaves the memory as it was") {
    things.create(thing("1"));
    store.fail_next();
    CHECK(code_of([&] { things.update("1", [](Thing& thing) { thing.count = 1; }); }) ==
          ErrorCode::unavailable);
    CHECK(things.get("1")->count == 0);
    store.fail_next(ErrorCode::exhausted);
    CHECK(code_of([&] { things.create(thing("2")); }) == ErrorCode::exhausted);
    CHECK(things.find("2") == nullptr);
}

TEST_CASE_METHOD(CollectionFixture, "a commit whose answer was lost is in the memory all the same") {
    things.create(thing("1"));
    store.hide_next();
    CHECK(code_of([&] { things.update("1", [](Thing& thing) { thing.count = 1; }); }) ==
          ErrorCode::unavailable);
    CHECK(things.get("1")->count == 1);
}

TEST_CASE("records are loaded whole while others write") {
    SqliteStore store(":memory:");
    Collection<Thing> things(store);
    for (int i = 0; i < 20; ++i) things.create({std::to_string(i), "", 0});
    std::jthread writer([&](const std::stop_token& stop) {
        while (!stop.stop_requested())
            for (int i = 0; i < 20; ++i)
                things.update(std::to_string(i), [](Thing& thing) { ++thing.count; });
    });
    for (int round = 0; round < 30; ++round) {
        const Collection<Thing> second(store);
        REQUIRE(second.size() == 20);
    }
    writer.request_stop();
    writer.join();
    const Collection<Thing> last(store);
    for (const auto& thing : things.list()) CHECK(last.get(thing->id)->count == thing->count);
}

}  // namespace
}  // namespace svc
