#pragma once
// The agent's control API (docs/guest-interface.md), asked from a thread of its own so that nobody waits.
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

#include "libsvc/base/json.h"
#include "libsvc/net/client/client.h"
#include "libsvc/net/client/target.h"

namespace svc::streamer {

// One call after the other; blocks.
class ControlApi {
  public:
    explicit ControlApi(const std::filesystem::path& socket);
    // The answer's metadata (null: none). Throws what the API refuses with its text: invalid_argument for
    // 400, internal for the rest; unavailable when nobody answers.
    Json call(Method method, const std::string& path, const Json& body = {}) const;

  private:
    Target target_;
};

// Thread-safe. Tasks run one at a time in the order they came; a newer one with the same key takes the place
// of one that waits. What they throw is logged. The destructor drops what waits.
class ControlApiWorker {
  public:
    static constexpr std::size_t max_waiting = 256;
    using Task = std::function<void(const ControlApi& api)>;

    ControlApiWorker(const std::filesystem::path& socket, std::string name);
    ~ControlApiWorker();
    ControlApiWorker(const ControlApiWorker&) = delete;
    ControlApiWorker& operator=(const ControlApiWorker&) = delete;
    bool submit(Task task);                          // false: too many wait already, dropped
    bool submit(const std::string& key, Task task);  // replaces one of the same key

  private:
    struct Waiting {
        std::string key;
        Task task;
    };
    void run(const std::stop_token& stop);

    ControlApi api_;
    std::string name_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::deque<Waiting> waiting_;
    std::jthread thread_;  // last: starts when all else is there
};

}  // namespace svc::streamer
