#include "libsvc/streaming/regions/region_threads.h"

#include <utility>
#include <vector>

namespace svc {

namespace {

constexpr std::size_t max_queued = 1'000'000;

}  // namespace

RegionThreads::RegionThreads(std::string name, std::size_t of_each)
    : name_(std::move(name)), of_each_(of_each) {}

RegionThreads::~RegionThreads() {
    stop();
}

bool RegionThreads::post(const std::string& region, ThreadPool::Job job) {
    ThreadPool* pool = state_.with([&](State& state) -> ThreadPool* {
        if (state.stopping) return nullptr;
        auto& known = state.pools[region];
        if (!known) known = std::make_unique<ThreadPool>(name_, of_each_, max_queued);
        return known.get();
    });
    return pool != nullptr && pool->post(std::move(job));
}

// Without the lock: jobs post others.
void RegionThreads::stop() {
    const auto pools = state_.with([](State& state) {
        state.stopping = true;
        std::vector<ThreadPool*> all;
        for (const auto& [region, pool] : state.pools) all.push_back(pool.get());
        return all;
    });
    for (ThreadPool* pool : pools) pool->stop();
}

}  // namespace svc
