// What the limits of 100,000 instances cost in an hour in which 100 of them are over: the index of
// InstanceExpiry, against a look at every record every 5 s, as a job would take it. Prints a JSON object: see
// expiry.py. Processor time of the whole process, so that other work on the machine does not count.
#include <ctime>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "libsvc/services/instances/end/instance_expiry.h"
#include "libsvc/store/sqlite/sqlite_store.h"
#include "tests/support/manual_clock.h"

namespace {

using namespace svc;

constexpr int instance_count = 100'000;
constexpr int ends_in_the_hour = 100;
constexpr int scans = 72;  // of 720 in an hour: the others take as long

double processor_seconds() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

struct World {
    test::ManualClock clock;
    SqliteStore store{":memory:"};
    InstanceListener listener;
    Instances instances{store, listener.observer()};
    InstanceUses uses{clock};

    World() {
        Batch batch;
        for (int number = 0; number < instance_count; ++number) {
            Instance instance;
            instance.id = InstanceId(fmt::format("{:020}", number));
            const auto life = number < ends_in_the_hour ? std::chrono::seconds(36 * number + 1)
                                                        : std::chrono::seconds(86'400 + number);
            instance.lifetime.expires_at = clock.now() + life;
            instances.stage_create(batch, instance);
        }
        store.commit(batch);
    }
};

// A job would do what is due; this looks alone.
double seconds_of_scans(const World& world) {
    const double begin = processor_seconds();
    std::size_t due = 0;
    for (int scan = 0; scan < scans; ++scan)
        for (const auto& instance : world.instances.list())
            if (instance->lifetime.is_limited() && instance->lifetime.expires_at <= world.clock.now()) ++due;
    if (due != 0) std::abort();
    return (processor_seconds() - begin) * 720 / scans;
}

// Ends are told and removed as by the service, in memory: more than the scans do.
double seconds_of_index(World& world, double& start) {
    const auto remove = [&](const std::string& id, const std::string&, const Lifetime&) {
        world.instances.remove(id);
        return std::string("operation");
    };
    double begin = processor_seconds();
    const InstanceExpiry expiry({world.instances, world.listener, world.uses, world.clock, remove, {}});
    start = processor_seconds() - begin;
    begin = processor_seconds();
    for (int second = 0; second < 3600; second += 36) {
        world.clock.await_waiters(1);
        world.clock.advance(std::chrono::seconds(36));
    }
    world.clock.await_waiters(1);
    if (expiry.looks() != ends_in_the_hour) std::abort();
    return processor_seconds() - begin;
}

}  // namespace

int main() {
    World world;
    const double scan = seconds_of_scans(world);
    double start = 0;
    const double index = seconds_of_index(world, start);
    std::printf(
        "%s\n",
        fmt::format(R"({{"scan": {:.6f}, "index": {:.6f}, "start": {:.6f}}})", scan, index, start).c_str());
}
