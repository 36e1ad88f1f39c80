// Guests that take their time to shut down.
#include <atomic>

#include "tests/unit/services/instance_fixture.h"

using namespace svc;
using namespace svc::test;

namespace {

constexpr int many = 50;  // more than the engine has workers

struct SlowStopFixture : InstanceFixture {
    SlowStopFixture() : InstanceFixture({.cpus = 64, .disk_bytes = std::uint64_t{1} << 50}) {
        runtime.before("stop", [this] {
            ++stopping;
            gate.pass();
        });
    }
    ~SlowStopFixture() {
        gate.open();
        end_life();
    }

    std::vector<std::string> launched_many() {
        std::vector<std::string> ids;
        for (int i = 0; i < many; ++i) ids.push_back(launched());
        return ids;
    }
    void await_stops(int count) {
        eventually("the guests are asked to shut down", [&] { return stopping == count; });
    }
    Started remove(const std::string& id) {
        return instances().remove(id, false, PathWord::containers, "test");
    }
    Started stop(const std::string& id) {
        return instances().set_desired_status(id, "stopped", false, PathWord::containers, "test");
    }

    Gate gate;
    std::atomic<int> stopping = 0;
};

}  // namespace

TEST_CASE_METHOD(SlowStopFixture, "guests shut down side by side, and a launch does not wait for them") {
    const bool deleted = GENERATE(true, false);
    const auto ids = launched_many();
    std::vector<Started> ends;
    for (const std::string& id : ids) ends.push_back(deleted ? remove(id) : stop(id));
    await_stops(many);
    launched();
    for (const Started& end : ends) CHECK_FALSE(is_final(engine().get(end->id.str())->status));
    gate.open();
    for (const Started& end : ends) CHECK(wait(end)->status == OperationStatus::success);
    for (const std::string& id : ids) CHECK(deleted != exists(id));
}

TEST_CASE_METHOD(SlowStopFixture, "a deletion by force does not wait behind guests that shut down") {
    const std::string forced = launched();
    const auto ids = launched_many();
    std::vector<Started> ends;
    for (const std::string& id : ids) ends.push_back(remove(id));
    await_stops(many);
    CHECK(wait(instances().remove(forced, true, PathWord::containers, "test"))->status ==
          OperationStatus::success);
    gate.open();
    for (const Started& end : ends) CHECK(wait(end)->status == OperationStatus::success);
}

TEST_CASE_METHOD(SlowStopFixture,
                 "guests that the end of the service meets shutting down are deleted after it") {
    const std::string id = launched();
    const Started deletion = remove(id);
    await_stops(1);
    auto stopped = std::async(std::launch::async, [this] { engine().stop(std::chrono::hours(1)); });
    gate.open();
    stopped.wait();
    runtime.before("stop", nullptr);
    restart();
    CHECK(wait(deletion)->status == OperationStatus::success);
    CHECK_FALSE(exists(id));
}
