// svc-bench commits: durable commits a second of the store, against SQLite's own and the disk's, in turns.
#include <algorithm>
#include <atomic>
#include <iostream>
#include <thread>
#include <vector>

#include "libsvc/base/error.h"
#include "libsvc/base/json.h"
#include "libsvc/store/sqlite/sqlite_store.h"
#include "tests/bench/load/bare_sqlite.h"
#include "tests/bench/load/commands.h"

namespace svc::bench {

namespace {

using Steady = std::chrono::steady_clock;

constexpr std::size_t value_bytes = 700;  // of an instance's record

// As a new record is made: the key must not be there yet.
double store_commits(Store& store, unsigned threads, unsigned round, std::chrono::milliseconds duration) {
    std::atomic<std::uint64_t> done{0};
    const auto begin = Steady::now();
    {
        std::vector<std::jthread> writers;
        for (unsigned t = 0; t < threads; ++t) {
            writers.emplace_back([&, t] {
                const auto prefix = "bench/" + std::to_string(round) + "/" + std::to_string(t) + "/";
                for (std::uint64_t n = 0; Steady::now() < begin + duration; ++n) {
                    const std::string key = prefix + std::to_string(n);
                    store.commit(Batch().expect(key, 0).put(key, std::string(value_bytes, 'v')));
                    ++done;
                }
            });
        }
    }
    return static_cast<double>(done) / std::chrono::duration<double>(Steady::now() - begin).count();
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

Json measure(const std::filesystem::path& directory, unsigned threads, unsigned rounds,
             std::chrono::milliseconds duration) {
    SqliteStore store(directory / ("store-" + std::to_string(threads)));
    std::vector<double> ours, single, grouped, syncs;
    for (unsigned round = 0; round < rounds; ++round) {
        const auto file = [&](const std::string& name) {
            return directory / (name + "-" + std::to_string(threads) + "-" + std::to_string(round));
        };
        ours.push_back(store_commits(store, threads, round, duration));
        single.push_back(bare_sqlite_rows(file("single"), 1, value_bytes, duration));
        if (threads > 1) grouped.push_back(bare_sqlite_rows(file("grouped"), threads, value_bytes, duration));
        syncs.push_back(bare_syncs(file("syncs"), duration));
    }
    return Json::object({{"threads", threads},
                         {"commits_per_second", median(ours)},
                         {"sqlite_per_second", median(single)},
                         {"sqlite_grouped_rows_per_second", threads > 1 ? Json(median(grouped)) : Json()},
                         {"syncs_per_second", median(syncs)}});
}

}  // namespace

int commits_command(const Arguments& arguments) {
    const std::filesystem::path directory = arguments.text("directory");
    const std::chrono::milliseconds duration(arguments.number("milliseconds", 400));
    for (const unsigned threads : arguments.numbers("threads", "1,8,64"))
        std::cout << measure(directory, threads, arguments.number("rounds", 9), duration).dump() << std::endl;
    return 0;
}

}  // namespace svc::bench
