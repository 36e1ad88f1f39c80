#pragma once
// A management service that a test plays: it records what it is asked, and its instances move when the test
// says so.
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "libsvc/streaming/regions/management.h"

namespace svc::test {

// Thread-safe. Outlives its connections. What waits gives up after a minute with an Error.
class FakeManagement {
  public:
    // One client of it; any number of them may follow at the same time.
    std::unique_ptr<Management> connect();

    void set_applications(std::vector<std::string> names);  // that stream; at first: "app"
    void add_application(StreamApplication application);
    void set_cpus(int cpus);  // at first: 4
    // False: calls throw unavailable, and who follows is disconnected.
    void set_answers(bool answers);
    // True: it takes calls and answers none of them, until false. Whoever ends a connection meanwhile waits.
    void set_hangs(bool hangs);
    // False: removals take until true, or until they are asked to stop.
    void set_removes(bool removes);
    // Called without a lock before a launch or a removal is done: may block, or throw what is to be answered.
    void on_launch(std::function<void(const StreamLaunch&)> hook);
    void on_remove(std::function<void(const std::string& id, bool force)> hook);
    // Called without a lock when a launch is done but not answered yet.
    void on_launched(std::function<void(const StreamLaunch&)> hook);
    // Called without a lock when the answer about one instance is made up but not told yet.
    void on_look(std::function<void(const std::string& id)> hook);

    // Of instances. Each of these tells those that follow.
    void add(StreamInstance instance);  // that nobody here launched
    // Throws not_found.
    void move(const std::string& id, const std::string& status, const std::string& error_message = "");
    void vanish(const std::string& id);  // deleted by somebody else
    // Its launch has failed before it had a node, which leaves nothing of it.
    void fail_launch(const std::string& id, const std::string& reason);
    void set_full(std::string reason);  // this becomes of all launches; "": they go well
    void tell(const std::string& id);   // "changed", although it was not; "": look at all
    std::string instance_of(const std::string& session) const;  // the id; "": none

    std::vector<StreamLaunch> launches() const;
    std::vector<std::string> removals() const;           // ids, in their order
    std::vector<std::vector<std::string>> uses() const;  // ids of each report, in their order
    std::size_t instances() const;
    void await_launches(std::size_t count) const;
    void await_removals(std::size_t count) const;
    void await_followers(std::size_t count) const;
    void await_uses(std::size_t count) const;

  private:
    class Connection;
    struct Follower {
        std::vector<std::string> told{""};
    };
    std::unique_lock<std::mutex> answering()
        const;                     // the lock, once it does not hang; throws when it is away
    void require_answers() const;  // with the lock held
    void tell_all(const std::string& id);
    template <class Test>
    void await(Test test) const;
    static std::string operation_of(const std::string& instance);
    StreamLaunched launch(const StreamLaunch& launch);
    void remove(const std::string& id, bool force, const std::stop_token& stop);
    std::optional<StreamInstance> look_at(const std::string& id) const;
    void follow(std::stop_token stop, const std::function<void(const std::string&)>& changed);

    mutable std::mutex mutex_;
    mutable std::condition_variable_any changed_;
    std::vector<StreamApplication> applications_{{"app", {{0, true}}}};
    int cpus_ = 4;
    bool answers_ = true;
    bool hangs_ = false;
    bool removes_ = true;
    std::function<void(const StreamLaunch&)> on_launch_;
    std::function<void(const StreamLaunch&)> on_launched_;
    std::function<void(const std::string&, bool)> on_remove_;
    std::function<void(const std::string&)> on_look_;
    std::map<std::string, StreamInstance> instances_;
    std::map<std::string, std::string> launch_failures_;  // by operation
    std::string full_;
    std::vector<StreamLaunch> launches_;
    std::vector<std::string> removals_;
    std::vector<std::vector<std::string>> uses_;
    std::set<Follower*> followers_;
};

}  // namespace svc::test
