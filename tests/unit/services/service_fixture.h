#pragma once
// Images, instances and nodes with their lifecycle events.
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/eventually.h"
#include "tests/support/service_world.h"

namespace svc::test {

// Thread-safe. A value that a test waits for.
template <class T>
class Watched {
  public:
    template <class F>
    void change(F&& f) {
        std::lock_guard lock(mutex_);
        f(value_);
        changed_.notify_all();  // while it is locked: who awaits it may end it at once
    }
    template <class Predicate>
    T await(Predicate&& holds) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return holds(value_); });
        return value_;
    }
    T get() {
        std::lock_guard lock(mutex_);
        return value_;
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    T value_{};
};

struct ServiceFixture : ServiceWorld {
    FailingStore& store = failing_store;
    Watched<std::vector<std::string>> actions;  // of the lifecycle events, with their source
    std::unique_ptr<EventBus::Handle> subscription =
        bus.subscribe({EventType::lifecycle}, [this](const Event& event) {
            const Json metadata = Json::parse(*event.text).at("metadata");
            actions.change([&](auto& all) {
                all.push_back(metadata.at("action").as_string() + " " + metadata.at("source").as_string());
            });
            return true;
        });

    explicit ServiceFixture(WorldOptions given = {}) : ServiceWorld(std::move(given)) {}

    // Of a machine that had another name: the runtime's own cannot be removed.
    void launch_on_old_node() {
        Node old = *nodes().get("node0");
        old.name = "old";
        life->nodes.create(old);
        NodePatch closed;
        closed.unschedulable = true;
        wait(nodes().patch("node0", closed, "test"));
        restart();
    }

    // Turns the clock by `step` until `condition` holds: a timer may just have been set when it is turned.
    template <class Condition>
    void turn_clock_until(std::string_view what, Duration step, Condition condition) {
        eventually(what, [&] {
            if (condition()) return true;
            clock.advance(step);
            return false;
        });
    }

    static InstanceCreate request(const std::string& image = "base") {
        InstanceCreate create;
        create.image_id = image;
        create.instance_type = "a2.3";
        return create;
    }
    Started launch(const InstanceCreate& create = request(), bool no_wait = false) {
        return instances().launch(create, no_wait, PathWord::containers, "test");
    }
    static std::string id_of(const Started& started) { return started->arguments.at("instance").as_string(); }
    std::string launched(const InstanceCreate& create = request()) {
        const Started started = launch(create);
        REQUIRE(wait(started)->err.empty());
        return id_of(started);
    }
    InstanceStatus status(const std::string& id) { return records().get(id)->status; }
    // Lifecycle actions of one container, without the prefix.
    static std::vector<std::string> of(const std::vector<std::string>& all, const std::string& id) {
        std::vector<std::string> own;
        for (const std::string& action : all)
            if (action.ends_with("/" + id)) own.push_back(action.substr(10, action.find(' ') - 10));
        return own;
    }
    std::vector<std::string> told(const std::string& id) { return of(actions.get(), id); }
    std::vector<std::string> await_told(const std::string& id, const std::string& last) {
        return of(actions.await([&](const auto& all) {
            const auto own = of(all, id);
            return !own.empty() && own.back() == last;
        }),
                  id);
    }
    // Nothing claims the instance any more: what events started is over.
    void settle(const std::string& id) {
        for (const auto& operation : engine().list())
            for (const std::string& claim : operation->claims)
                if (claim == "instances/" + id) engine().wait(operation->id.str(), std::nullopt);
    }
};

}  // namespace svc::test
