#pragma once
// The queue of bootstraps that wait to begin. They hold nothing while they wait.
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <string>

namespace svc {

// Thread-safe. At most `places` bootstraps run at a time, and one of each application, in the order of
// enter(). `start` is called on the thread that makes room, so it must be quick.
class BootstrapQueue {
  public:
    explicit BootstrapQueue(std::size_t places) : places_(places) {}
    // `id` is that of the bootstrap. Calls `start` when it may begin: at once, or from leave() of another.
    void enter(std::string id, std::string application, std::function<void()> start);
    void leave(const std::string& id);  // it has ended, or is not to begin any more; unknown ids are ignored

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
