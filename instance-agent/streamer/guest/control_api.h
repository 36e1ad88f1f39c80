#pragma once
// A client of the agent's control API (docs/guest-interface.md), and a worker thread that makes its calls.
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

// Blocks during a call. One thread.
class ControlApi {
  public:
    explicit ControlApi(const std::filesystem::path& socket);
    // Returns the answer's metadata (null: none). Throws an Error with the API's text: invalid_argument for
    // 400, internal for any other refusal; unavailable when the agent does not answer.
    Json call(Method method, const std::string& path, const Json& body = {}) const;

  private:
    Target target_;
};

// Thread-safe. Tasks run one at a time, in order; a task replaces a waiting one with the same key. Errors of
// a task are logged. The destructor drops waiting tasks.
class ControlApiWorker {
  public:
    static constexpr std::size_t max_waiting = 256;
    using Task = std::function<void(const ControlApi& api)>;

    ControlApiWorker(const std::filesystem::path& socket, std::string name);
    ~ControlApiWorker();
    ControlApiWorker(const ControlApiWorker&) = delete;
    ControlApiWorker& operator=(const ControlApiWorker&) = delete;
    bool submit(Task task);                          // false: too many tasks wait; dropped
    bool submit(const std::string& key, Task task);  // replaces a waiting task with this key

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
    std::jthread thread_;  // last member: the thread uses the others
};

}  // namespace svc::streamer
