#pragma once
// A runtime whose calls can be made to fail or to wait; what it does otherwise is the simulation's.
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "libsvc/base/error.h"
#include "libsvc/base/guarded.h"
#include "libsvc/runtime/simulated/simulated_runtime.h"

namespace svc::test {

// Thread-safe. `before("start", f)` calls f before each start; what f throws is what the call throws.
class FakeRuntime final : public Runtime {
  public:
    explicit FakeRuntime(SimulatedRuntime& inner) : inner_(inner) {}

    void before(const std::string& call, std::function<void()> work) {
        plans_.with([&](auto& plans) { plans[call] = std::move(work); });
    }
    void fail(const std::string& call, const std::string& message) {
        before(call, [message] { throw Error(ErrorCode::internal, message); });
    }
    void add_log(LogFile log) {
        logs_.with([&](auto& logs) { logs.push_back(std::move(log)); });
    }
    ContainerSpec last_spec() const {
        return last_spec_.with([](const auto& spec) { return spec; });
    }

    void create(const ContainerSpec& spec) override {
        obey("create");
        last_spec_.with([&](auto& last) { last = spec; });
        inner_.create(spec);
    }
    void start(std::string_view id) override {
        obey("start");
        inner_.start(id);
    }
    void stop(std::string_view id, Duration grace) override {
        obey("stop");
        inner_.stop(id, grace);
    }
    void remove(std::string_view id) override {
        obey("remove");
        inner_.remove(id);
    }
    std::optional<ContainerInfo> inspect(std::string_view id) override { return inner_.inspect(id); }
    std::vector<ContainerInfo> list() override { return inner_.list(); }
    std::unique_ptr<ExecProcess> exec(std::string_view id, const ExecSpec& spec) override {
        obey("exec");
        return inner_.exec(id, spec);
    }
    std::vector<LogFile> logs(std::string_view) override {
        return logs_.with([](const auto& logs) { return logs; });
    }
    Capacity capacity() override { return inner_.capacity(); }
    void on_event(std::function<void(const RuntimeEvent&)> listener) override {
        inner_.on_event(std::move(listener));
    }

  private:
    void obey(const std::string& call) {
        const auto work = plans_.with([&](auto& plans) {
            const auto found = plans.find(call);
            return found == plans.end() ? std::function<void()>() : found->second;
        });
        if (work) work();
    }

    SimulatedRuntime& inner_;
    Guarded<std::map<std::string, std::function<void()>>> plans_;
    Guarded<std::vector<LogFile>> logs_;
    Guarded<ContainerSpec> last_spec_;
};

// Layers whose unpacking can be made to wait or to fail.
class FakeLayers final : public LayerStore {
  public:
    explicit FakeLayers(LayerStore& inner) : inner_(inner) {}
    void before_add(std::function<void()> work) {
        before_add_.with([&](auto& before) { before = std::move(work); });
    }
    void add(std::string_view name, const std::filesystem::path& package, const Progress& progress) override {
        if (const auto work = before_add_.with([](const auto& before) { return before; })) work();
        inner_.add(name, package, progress);
    }
    void remove(std::string_view name) override { inner_.remove(name); }
    bool contains(std::string_view name) override { return inner_.contains(name); }
    std::uint64_t size(std::string_view name) override { return inner_.size(name); }
    std::vector<std::string> list() override { return inner_.list(); }

  private:
    LayerStore& inner_;
    Guarded<std::function<void()>> before_add_;
};

// Work waits in it until the test opens it, and the test can wait until work has come. Thread-safe.
class Gate {
  public:
    void pass() {
        std::unique_lock lock(mutex_);
        arrived_ = true;
        changed_.notify_all();
        changed_.wait(lock, [this] { return open_; });
    }
    void open() {
        std::lock_guard lock(mutex_);
        open_ = true;
        changed_.notify_all();
    }
    void await() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return arrived_; });
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool arrived_ = false;
    bool open_ = false;
};

}  // namespace svc::test
