#pragma once
// Whose turn it is: bootstraps wait here without holding anything.
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <string>

namespace svc {

// Thread-safe. At most `places` at a time, and one per application, first come first served. What is waiting
// starts on the thread that makes room, so `start` must be quick.
class BootstrapQueue {
  public:
    explicit BootstrapQueue(std::size_t places) : places_(places) {}
    // `id` is that of the bootstrap. Calls `start` when it may begin: at once, or from leave() of another.
    void enter(std::string id, std::string application, std::function<void()> start);
    void leave(const std::string& id);  // ended, or does not want to begin any more; unknown is fine

  private:
    struct Waiting {
        std::string id;
        std::string application;
        std::function<void()> start;
    };
    bool may_begin(const std::string& application) const;
    void begin_next();

    const std::size_t places_;
    std::mutex mutex_;
    std::list<Waiting> waiting_;
    std::map<std::string, std::string> active_;  // id -> application
};

}  // namespace svc
