#pragma once
// A runtime whose calls can be made to fail or to wait; what it does otherwise is the simulation's.
#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stop_token>
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
    // From now on what is known of the container cannot be read; "": it can again.
    void set_fault(const std::string& id, const std::string& reason) {
        faults_.with([&](auto& faults) { faults[id] = reason; });
    }
    // The same for want of its specification, until recreate_spec() gives it one.
    void lose_specification(const std::string& id, const std::string& reason) {
        set_fault(id, reason);
        lost_.with([&](auto& lost) { lost.insert(id); });
    }
    void add_log(LogFile log) {
        logs_.with([&](auto& logs) { logs.push_back(std::move(log)); });
    }
    ContainerSpec last_spec() const {
        return last_spec_.with([](const auto& spec) { return spec; });
    }

    void create(const ContainerSpec& spec) override {
        obey("create");
        check_readable(spec.id);
        last_spec_.with([&](auto& last) { last = spec; });
        inner_.create(spec);
    }
    void recreate_spec(const ContainerSpec& spec) override {
        obey("recreate_spec");
        last_spec_.with([&](auto& last) { last = spec; });
        if (lost_.with([&](auto& lost) { return lost.erase(spec.id) != 0; })) set_fault(spec.id, "");
        check_readable(spec.id);
    }
    void start(std::string_view id) override {
        obey("start");
        check_readable(id);
        inner_.start(id);
    }
    void stop(std::string_view id, Duration grace) override {
        obey("stop");
        check_readable(id);
        inner_.stop(id, grace);
    }
    void freeze(std::string_view id) override {
        obey("freeze");
        check_readable(id);
        inner_.freeze(id);
    }
    void thaw(std::string_view id) override {
        obey("thaw");
        check_readable(id);
        inner_.thaw(id);
    }
    int run_once(std::string_view id, const std::vector<std::string>& command, Duration limit,
                 std::stop_token stop) override {
        obey("run_once");
        commands_.with([&](auto& commands) { commands.push_back(command); });
        if (held_) await(stop);
        return inner_.run_once(id, command, limit, std::move(stop));
    }
    // True: run_once() does not go on before it is asked to stop.
    void hold_until_stopped(bool held) { held_ = held; }
    // What run_once() was asked to run. Its answers: SimulatedOptions::run_once.
    std::vector<std::vector<std::string>> commands() const {
        return commands_.with([](const auto& commands) { return commands; });
    }
    void remove(std::string_view id) override {
        obey("remove");
        inner_.remove(id);
    }
    std::optional<ContainerSpec> specification(std::string_view id) override {
        ContainerSpec last = last_spec();
        return last.id == id ? std::optional(std::move(last)) : std::nullopt;
    }
    std::optional<ContainerInfo> inspect(std::string_view id) override {
        obey("inspect");
        auto info = inner_.inspect(id);
        if (info) set_aside(*info);
        return info;
    }
    std::vector<ContainerInfo> list() override {
        auto all = inner_.list();
        for (ContainerInfo& info : all) set_aside(info);
        return all;
    }
    std::vector<ContainerUsage> usage() override { return inner_.usage(); }
    std::unique_ptr<ExecProcess> exec(std::string_view id, const ExecSpec& spec) override {
        obey("exec");
        auto process = inner_.exec(id, spec);
        const auto wrap = wrap_.with([](const auto& wrap) { return wrap; });
        return wrap ? wrap(std::move(process)) : std::move(process);
    }
    using Wrap = std::function<std::unique_ptr<ExecProcess>(std::unique_ptr<ExecProcess>)>;
    // What exec() returns from now on, made of the simulation's.
    void wrap_exec(Wrap wrap) {
        wrap_.with([&](auto& now) { now = std::move(wrap); });
    }
    std::vector<LogFile> logs(std::string_view) override {
        return logs_.with([](const auto& logs) { return logs; });
    }
    Capacity capacity() override { return inner_.capacity(); }
    std::vector<RuntimeNode> nodes() override { return inner_.nodes(); }
    void forward_from(std::string_view node, const std::string& public_address) override {
        obey("forward_from");
        inner_.forward_from(node, public_address);
    }
    void on_nodes_changed(std::function<void()> listener) override {
        inner_.on_nodes_changed(std::move(listener));
    }
    void on_event(std::function<void(const RuntimeEvent&)> listener) override {
        inner_.on_event(std::move(listener));
    }

  private:
    std::string fault_of(std::string_view id) const {
        return faults_.with([&](const auto& faults) {
            const auto found = faults.find(id);
            return found == faults.end() ? std::string() : found->second;
        });
    }
    void check_readable(std::string_view id) const {
        if (const auto fault = fault_of(id); !fault.empty()) throw Error(ErrorCode::unavailable, fault);
    }
    void set_aside(ContainerInfo& info) const {
        if (const auto fault = fault_of(info.id); !fault.empty()) info.fault = fault;
        if (!info.fault.empty()) info.state = ContainerState::unreadable;
        info.specification_lost = lost_.with([&](const auto& lost) { return lost.contains(info.id); });
    }
    static void await(const std::stop_token& stop) {
        std::mutex mutex;
        std::condition_variable_any changed;
        std::unique_lock lock(mutex);
        changed.wait(lock, stop, [] { return false; });
    }
    void obey(const std::string& call) {
        const auto work = plans_.with([&](auto& plans) {
            const auto found = plans.find(call);
            return found == plans.end() ? std::function<void()>() : found->second;
        });
        if (work) work();
    }

    SimulatedRuntime& inner_;
    std::atomic<bool> held_{false};
    Guarded<std::map<std::string, std::function<void()>>> plans_;
    Guarded<std::map<std::string, std::string, std::less<>>> faults_;
    Guarded<std::set<std::string, std::less<>>> lost_;
    Guarded<std::vector<LogFile>> logs_;
    Guarded<ContainerSpec> last_spec_;
    Guarded<Wrap> wrap_;
    Guarded<std::vector<std::vector<std::string>>> commands_;
};

// Layers whose unpacking, capture or export can be made to wait or to fail.
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
    void before_capture(std::function<void()> work) {
        before_capture_.with([&](auto& before) { before = std::move(work); });
    }
    void capture(std::string_view name, std::string_view container,
                 const std::vector<std::string>& leave_out) override {
        if (const auto work = before_capture_.with([](const auto& before) { return before; })) work();
        left_out_.with([&](auto& paths) { paths = leave_out; });
        inner_.capture(name, container, leave_out);
    }
    void snapshot(std::string_view name, std::string_view container,
                  const std::vector<std::string>& leave_out, std::stop_token stop) override {
        if (const auto work = before_capture_.with([](const auto& before) { return before; })) work();
        left_out_.with([&](auto& paths) { paths = leave_out; });
        inner_.snapshot(name, container, leave_out, std::move(stop));
    }
    void restore(std::string_view name, std::string_view container, std::stop_token stop) override {
        if (const auto work = before_capture_.with([](const auto& before) { return before; })) work();
        inner_.restore(name, container, std::move(stop));
    }
    std::vector<std::string> left_out() const {  // of the last capture or snapshot
        return left_out_.with([](const auto& paths) { return paths; });
    }
    void before_export(std::function<void()> work) {
        before_export_.with([&](auto& before) { before = std::move(work); });
    }
    void next_export(std::unique_ptr<ArchiveStream> archive) {  // is this
        next_export_.with([&](auto& next) { next = std::move(archive); });
    }
    std::unique_ptr<ArchiveStream> export_archive(const ExportRequest& request) override {
        if (const auto work = before_export_.with([](const auto& before) { return before; })) work();
        auto given = next_export_.with([](auto& next) { return std::move(next); });
        return given ? std::move(given) : inner_.export_archive(request);
    }
    void remove(std::string_view name) override { inner_.remove(name); }
    bool contains(std::string_view name) override { return inner_.contains(name); }
    std::uint64_t size(std::string_view name) override { return inner_.size(name); }
    std::vector<std::string> list() override { return inner_.list(); }

  private:
    LayerStore& inner_;
    Guarded<std::function<void()>> before_add_, before_capture_, before_export_;
    Guarded<std::unique_ptr<ArchiveStream>> next_export_;
    Guarded<std::vector<std::string>> left_out_;
};

inline std::string read_all(ArchiveStream& archive) {
    std::string all;
    for (std::string part = archive.read(1000); !part.empty(); part = archive.read(1000)) all += part;
    return all;
}

// An export as nodes of earlier versions make it: in a format that they do not tell.
class OldArchive final : public ArchiveStream {
  public:
    explicit OldArchive(std::string bytes) : bytes_(std::move(bytes)) {}
    std::string read(std::size_t) override { return std::exchange(bytes_, {}); }

  private:
    std::string bytes_;
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
