// Reports of guests, also far too many: no report keeps an operator's request from being carried out.
#include <regex>

#include "libsvc/base/log.h"
#include "libsvc/model/instances/guest_text.h"
#include "tests/support/eventually.h"
#include "tests/unit/services/launch_fixture.h"

using namespace svc;
using namespace svc::test;

namespace {

const std::string worst(std::size_t{1} << 20, '\x01');  // six bytes each in JSON

// Each line of the log while it lives.
struct LogLines {
    LogLines() {
        log::set_listener([this](log::Level, std::string_view message, const log::Fields&) {
            lines.change([&](auto& all) { all.emplace_back(message); });
        });
    }
    ~LogLines() { log::set_listener(nullptr); }
    // How often a line has come by the time that another one does.
    std::ptrdiff_t count(const std::string& message) {
        const std::string last = "that is all";
        log::error(last);
        const auto all = lines.await([&](const auto& seen) { return !seen.empty() && seen.back() == last; });
        return std::ranges::count(all, message);
    }
    Watched<std::vector<std::string>> lines;
};

struct ReportFixture : LaunchFixture {
    // All that can be given, and of `features` as much as is taken.
    InstanceCreate largest() {
        InstanceCreate create = request();
        create.user_data = std::string(10240, '\x01');
        for (int i = 0; i < 1000; ++i)
            create.tags.push_back(std::string(252, '"') + std::to_string(1000 + i));
        for (std::uint16_t i = 0; i < 10; ++i) create.services.push_back(service(i));
        create.config.features = std::string(300'000, 'x');
        const std::regex sizes("of ([0-9]+) bytes, at most ([0-9]+)");
        const std::string refused = refusal(create);
        std::smatch found;
        REQUIRE(std::regex_search(refused, found, sizes));
        const std::size_t excess = std::stoul(found[1]) - std::stoul(found[2]);  // they are stored twice
        create.config.features.resize(create.config.features.size() - (excess + 1) / 2);
        return create;
    }
    static ServiceEntry service(std::uint16_t number) {
        ServiceEntry entry;
        entry.name = std::string(60, 'a') + std::to_string(number);
        entry.port = static_cast<std::uint16_t>(60000 + number);
        entry.protocols = {"tcp", "udp"};
        return entry;
    }
    std::size_t stored_size(const std::string& id) { return sqlite.get("instances/" + id)->value.size(); }
    Revision revision(const std::string& id) { return sqlite.get("instances/" + id)->revision; }

    InstanceId begin_bootstrap() {
        guests_report = false;
        const auto image = images().get("base");
        BaseLaunch launch;
        launch.id = InstanceId(ids.object_id());
        launch.app_id = "c5pvhr3fbn40000000c0";
        launch.app_name = "candy";
        launch.app.change([](AppSetup& app) { app.name = "candy"; });
        launch.image_id = image->id.str();
        launch.layers = {image->versions[0].layer()};
        launch.resources = *instance_type_resources("a2.3");
        launch.architecture = "x86_64";
        instances().base().launch(launch);
        await_told(launch.id.str(), "started");
        return launch.id;
    }
    void note(const InstanceId& id, const std::vector<std::string>& notes) {
        InstanceReport report;
        report.notes = notes;
        this->report(id.str(), id.str(), report);
    }
    const std::vector<std::string>& notes(const InstanceId& id) {
        last = records().get(id.str());
        return last->notes;
    }
    std::shared_ptr<const Instance> last;
};

}  // namespace

TEST_CASE_METHOD(ReportFixture,
                 "the largest launch is stopped, fails and is deleted, whatever its guest says") {
    const std::string id = launched(largest());
    REQUIRE(stored_size(id) > Batch::max_value_bytes - room_to_grow);
    stop(id);
    REQUIRE(status(id) == InstanceStatus::stopped);
    wait(instances().set_desired_status(id, "running", false, PathWord::containers, "test"));
    REQUIRE(status(id) == InstanceStatus::running);
    report(id, "error", worst);
    await_told(id, "failed");
    settle(id);
    CHECK(status(id) == InstanceStatus::error);
    CHECK(records().get(id)->error_message.size() <= max_error_bytes);
    CHECK_THAT(*records().get(id)->error_message, Catch::EndsWith("... [cut, 1048576 bytes in all]"));
    CHECK(stored_size(id) <= Batch::max_value_bytes);
    SECTION("deleted as it is") {
        CHECK(wait(instances().remove(id, false, PathWord::containers, "test"))->err.empty());
        CHECK_FALSE(exists(id));
    }
    SECTION("its deletion fails first") {
        wait(instances().set_desired_status(id, "running", false, PathWord::containers, "test"));
        runtime.fail("remove", worst);
        const auto failed = wait(instances().remove(id, false, PathWord::containers, "test"));
        CHECK(failed->status == OperationStatus::failure);
        CHECK(status(id) == InstanceStatus::error);
        runtime.before("remove", nullptr);
        CHECK(wait(instances().remove(id, false, PathWord::containers, "test"))->err.empty());
    }
    SECTION("its boot fails") {
        guests_report = false;
        const auto start = instances().set_desired_status(id, "running", false, PathWord::containers, "test");
        await_told(id, "started");
        report(id, "error", worst);
        CHECK(wait(start)->status == OperationStatus::failure);
        CHECK(status(id) == InstanceStatus::error);
    }
}

TEST_CASE_METHOD(ReportFixture, "the largest growth of a record is within its room") {
    Instance launched;
    for (std::uint16_t i = 0; i < 1000; ++i) launched.services.push_back(service(i));
    Instance grown = launched;
    for (ServiceEntry& entry : grown.services) entry.node_port = entry.node_port_end = 65535;
    grown.node = std::string(63, 'n');
    grown.address = grown.public_address = std::string(64, '1');
    grown.gpus = std::vector<int>(64, 100);
    for (const char* log : {"console.log", "container.log", "system.log", "android.log"})
        grown.stored_logs.push_back({log, std::string(64, 'd')});
    grown.error_message = clipped(worst, max_error_bytes);
    std::vector<std::string> flood;
    for (int i = 0; i < 1000; ++i) flood.push_back(std::to_string(i) + std::string(1000, '\x01'));
    grown.notes = joined_notes({}, flood);
    const auto size = [](const Instance& record) { return instance_to_store(record).dump().size(); };
    CHECK(size(grown) - size(launched) < room_to_grow * 9 / 10);
}

TEST_CASE_METHOD(ReportFixture, "notes of a bootstrap are bounded, and told of") {
    const InstanceId id = begin_bootstrap();
    note(id, {std::string(2000, 'x'), "short"});
    REQUIRE(notes(id).size() == 2);
    CHECK(notes(id)[0].size() <= max_note_bytes);
    CHECK_THAT(notes(id)[0], Catch::EndsWith("... [cut, 2000 bytes in all]"));
    SECTION("many") {
        for (int i = 0; i < 200; ++i) note(id, {"note " + std::to_string(i)});
        CHECK(notes(id).size() == max_notes);
    }
    SECTION("long") {
        for (int i = 0; i < 200; ++i) note(id, {std::to_string(i) + std::string(400, 'y')});
        std::size_t bytes = 0;
        for (const std::string& kept : notes(id)) bytes += kept.size();
        CHECK(bytes <= max_notes_bytes);
        CHECK(bytes > max_notes_bytes - 1000);
    }
    CHECK(notes(id).back() == "further notes are not kept");
    const Revision full = revision(id.str());
    note(id, {"another"});
    CHECK(revision(id.str()) == full);
}

TEST_CASE_METHOD(ReportFixture, "a report that says nothing new stores nothing") {
    const InstanceId base = begin_bootstrap();
    note(base, {"updates skipped", std::string(2000, 'x')});
    const Revision noted = revision(base.str());
    note(base, {"updates skipped", std::string(2000, 'x')});
    CHECK(revision(base.str()) == noted);
    guests_report = true;
    const InstanceId regular(launched());
    const Revision running = revision(regular.str());
    report(regular.str(), "running");
    note(regular, {"only bootstraps have notes"});
    CHECK(revision(regular.str()) == running);
}

TEST_CASE_METHOD(ReportFixture,
                 "a record that an earlier version let a guest fill is cut and can be stopped") {
    const std::string id = launched();
    end_life();
    Instance stored = *Instances(store).get(id);
    for (int i = 0; i < 100; ++i) stored.notes.push_back(std::to_string(i) + std::string(6'000, 'x'));
    stored.error_message =
        std::string(Batch::max_value_bytes - instance_to_store(stored).dump().size() - 40, 'x');
    sqlite.commit(Batch().put("instances/" + id, instance_to_store(stored).dump()));
    restart();
    instances().reconciler().reconcile();
    settle(id);
    stop(id);
    CHECK(status(id) == InstanceStatus::stopped);
    CHECK(stored_size(id) < 20'000);
    CHECK(wait(instances().remove(id, false, PathWord::containers, "test"))->err.empty());
}

TEST_CASE_METHOD(ReportFixture, "twenty reports may come at once, then one every five seconds") {
    InstanceCreate create = request();
    create.name = "web-1";
    const std::string id = launched(create), other = launched();
    const auto admitted = [&] {
        int count = 0;
        while (code_of([&] { instances().reports().admit(id); }) != ErrorCode::busy) ++count;
        return count;
    };
    LogLines log;
    CHECK(admitted() == 20);
    CHECK(message_of([&] { instances().reports().admit(id); }) ==
          "too many reports of container " + id + ": try again in a minute");
    CHECK_NOTHROW(instances().reports().admit(other));
    CHECK(code_of([&] { instances().reports().admit("web-1"); }) == ErrorCode::busy);
    instances().reconciler().reconcile();  // forgets only those that are gone
    clock.advance(std::chrono::seconds(5));
    CHECK(admitted() == 1);
    CHECK(log.count("container reports too often") == 1);
    clock.advance(std::chrono::hours(1));
    CHECK(admitted() == 20);
}

TEST_CASE_METHOD(ReportFixture, "in development mode the log has what has changed, once") {
    InstanceCreate create = request();
    create.config.devmode = true;
    const std::string id = launched(create);
    LogLines log;
    for (int i = 0; i < 100; ++i) report(id, "error", "watchdog");
    report(id, "stopped");
    CHECK(log.count("container is kept: development mode") == 2);
    CHECK(status(id) == InstanceStatus::running);
}

TEST_CASE_METHOD(ReportFixture, "however often a guest reports while it is stopped, one look at it is due") {
    const std::string id = launched();
    Gate gate;
    runtime.before("stop", [&] { gate.pass(); });
    const auto stopping = instances().set_desired_status(id, "stopped", false, PathWord::containers, "test");
    gate.await();
    LogLines log;
    for (int i = 0; i < 100; ++i) report(id, "error", "watchdog");
    CHECK(log.count("container is looked at again later") == 0);
    gate.open();
    wait(stopping);
    // The boot timeout comes from the same timer, behind every look that is due.
    std::atomic<int> looks{0};
    runtime.before("inspect", [&] { ++looks; });
    const std::string late = records().get(booting())->launch_operation;
    turn_clock_until("the launch has timed out", std::chrono::minutes(1),
                     [&] { return is_final(engine().get(late)->status); });
    CHECK(looks < 10);  // those of the launch that has failed among them
    end_life();
}
