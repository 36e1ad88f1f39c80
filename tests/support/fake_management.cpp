#include "tests/support/fake_management.h"

#include <algorithm>

#include "libsvc/base/error.h"

namespace svc::test {

class FakeManagement::Connection final : public Management {
  public:
    explicit Connection(FakeManagement& service) : service_(service) {}

    std::vector<StreamApplication> applications() override {
        const auto lock = service_.answering();
        return service_.applications_;
    }
    RegionLoad load() override {
        const auto lock = service_.answering();
        return {service_.cpus_};
    }
    StreamLaunched launch(const StreamLaunch& launch) override { return service_.launch(launch); }
    std::string launch_failure(const std::string& operation) override {
        const auto lock = service_.answering();
        const auto found = service_.launch_failures_.find(operation);
        return found == service_.launch_failures_.end() ? "" : found->second;
    }
    std::vector<StreamInstance> instances() override {
        const auto lock = service_.answering();
        std::vector<StreamInstance> result;
        for (const auto& [id, instance] : service_.instances_) result.push_back(instance);
        return result;
    }
    std::vector<StreamInstance> instances_of(const std::string& session) override {
        const auto lock = service_.answering();
        std::vector<StreamInstance> result;
        for (const auto& [id, instance] : service_.instances_)
            if (instance.session == session) result.push_back(instance);
        return result;
    }
    std::optional<StreamInstance> instance(const std::string& id) override { return service_.look_at(id); }
    void remove(const std::string& id, bool force, std::stop_token stop) override {
        service_.remove(id, force, stop);
    }
    void note_uses(const std::vector<std::string>& instances) override {
        const auto lock = service_.answering();
        service_.uses_.push_back(instances);
        service_.changed_.notify_all();
    }
    void follow(std::stop_token stop, const std::function<void(const std::string&)>& changed) override {
        service_.follow(stop, changed);
    }

  private:
    FakeManagement& service_;
};

std::unique_ptr<Management> FakeManagement::connect() {
    return std::make_unique<Connection>(*this);
}

std::unique_lock<std::mutex> FakeManagement::answering() const {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !hangs_; });
    require_answers();
    return lock;
}

void FakeManagement::require_answers() const {
    if (!answers_) throw Error(ErrorCode::unavailable, "the management service does not answer");
}

void FakeManagement::set_applications(std::vector<std::string> names) {
    std::lock_guard lock(mutex_);
    applications_.clear();
    for (std::string& name : names) applications_.push_back({std::move(name), {{0, true}}});
}

void FakeManagement::add_application(StreamApplication application) {
    std::lock_guard lock(mutex_);
    applications_.push_back(std::move(application));
}

void FakeManagement::set_cpus(int cpus) {
    std::lock_guard lock(mutex_);
    cpus_ = cpus;
}

void FakeManagement::set_answers(bool answers) {
    std::lock_guard lock(mutex_);
    answers_ = answers;
    changed_.notify_all();
}

void FakeManagement::set_hangs(bool hangs) {
    std::lock_guard lock(mutex_);
    hangs_ = hangs;
    changed_.notify_all();
}

void FakeManagement::set_removes(bool removes) {
    std::lock_guard lock(mutex_);
    removes_ = removes;
    changed_.notify_all();
}

void FakeManagement::on_launch(std::function<void(const StreamLaunch&)> hook) {
    std::lock_guard lock(mutex_);
    on_launch_ = std::move(hook);
}

void FakeManagement::on_remove(std::function<void(const std::string&, bool)> hook) {
    std::lock_guard lock(mutex_);
    on_remove_ = std::move(hook);
}

void FakeManagement::on_launched(std::function<void(const StreamLaunch&)> hook) {
    std::lock_guard lock(mutex_);
    on_launched_ = std::move(hook);
}

void FakeManagement::on_look(std::function<void(const std::string&)> hook) {
    std::lock_guard lock(mutex_);
    on_look_ = std::move(hook);
}

void FakeManagement::tell_all(const std::string& id) {
    for (Follower* follower : followers_) follower->told.push_back(id);
    changed_.notify_all();
}

void FakeManagement::add(StreamInstance instance) {
    std::lock_guard lock(mutex_);
    const std::string id = instance.id;
    instances_[id] = std::move(instance);
    tell_all(id);
}

void FakeManagement::move(const std::string& id, const std::string& status,
                          const std::string& error_message) {
    std::lock_guard lock(mutex_);
    const auto found = instances_.find(id);
    if (found == instances_.end()) throw Error(ErrorCode::not_found, "instance not found");
    found->second.status = status;
    found->second.error_message = error_message;
    tell_all(id);
}

void FakeManagement::vanish(const std::string& id) {
    std::lock_guard lock(mutex_);
    instances_.erase(id);
    tell_all(id);
}

void FakeManagement::fail_launch(const std::string& id, const std::string& reason) {
    std::lock_guard lock(mutex_);
    launch_failures_[operation_of(id)] = reason;
    instances_.erase(id);
    tell_all(id);
}

void FakeManagement::set_full(std::string reason) {
    std::lock_guard lock(mutex_);
    full_ = std::move(reason);
}

void FakeManagement::tell(const std::string& id) {
    std::lock_guard lock(mutex_);
    tell_all(id);
}

std::string FakeManagement::instance_of(const std::string& session) const {
    std::lock_guard lock(mutex_);
    for (const auto& [id, instance] : instances_)
        if (instance.session == session) return id;
    return "";
}

std::vector<StreamLaunch> FakeManagement::launches() const {
    std::lock_guard lock(mutex_);
    return launches_;
}

std::vector<std::string> FakeManagement::removals() const {
    std::lock_guard lock(mutex_);
    return removals_;
}

std::vector<std::vector<std::string>> FakeManagement::uses() const {
    std::lock_guard lock(mutex_);
    return uses_;
}

std::size_t FakeManagement::instances() const {
    std::lock_guard lock(mutex_);
    return instances_.size();
}

template <class Test>
void FakeManagement::await(Test test) const {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, std::chrono::minutes(1), test))
        throw Error(ErrorCode::internal, "what the test waits for did not happen");
}

void FakeManagement::await_launches(std::size_t count) const {
    await([&] { return launches_.size() >= count; });
}

void FakeManagement::await_removals(std::size_t count) const {
    await([&] { return removals_.size() >= count; });
}

void FakeManagement::await_uses(std::size_t count) const {
    await([&] { return uses_.size() >= count; });
}

void FakeManagement::await_followers(std::size_t count) const {
    await([&] { return followers_.size() >= count; });
}

std::string FakeManagement::operation_of(const std::string& instance) {
    return "launch of " + instance;
}

StreamLaunched FakeManagement::launch(const StreamLaunch& launch) {
    auto lock = answering();
    if (const auto hook = on_launch_) {
        lock.unlock();
        hook(launch);
        lock.lock();
        require_answers();
    }
    launches_.push_back(launch);
    const std::string id = "instance-" + std::to_string(launches_.size());
    if (full_.empty())
        instances_[id] = {id, launch.session, "created", ""};
    else
        launch_failures_[operation_of(id)] = full_;
    tell_all(id);
    const auto done = on_launched_;
    lock.unlock();
    if (done) done(launch);
    return {id, operation_of(id)};
}

void FakeManagement::remove(const std::string& id, bool force, const std::stop_token& stop) {
    auto lock = answering();
    if (const auto hook = on_remove_) {
        lock.unlock();
        hook(id, force);
        lock.lock();
        require_answers();
    }
    if (!changed_.wait(lock, stop, [this] { return removes_; }))
        throw Error(ErrorCode::unavailable, "nobody waits for the removal any more");
    removals_.push_back(id);
    instances_.erase(id);
    tell_all(id);
}

std::optional<StreamInstance> FakeManagement::look_at(const std::string& id) const {
    auto lock = answering();
    const auto found = instances_.find(id);
    const auto answer = found == instances_.end() ? std::nullopt : std::optional(found->second);
    const auto hook = on_look_;
    lock.unlock();
    if (hook) hook(id);
    return answer;
}

void FakeManagement::follow(std::stop_token stop, const std::function<void(const std::string&)>& changed) {
    auto lock = answering();
    Follower follower;
    followers_.insert(&follower);
    changed_.notify_all();
    try {
        while (answers_ && changed_.wait(lock, stop, [&] { return !follower.told.empty() || !answers_; })) {
            std::vector<std::string> told;
            told.swap(follower.told);
            lock.unlock();
            for (const auto& id : told) changed(id);
            lock.lock();
        }
    } catch (...) {
        if (!lock.owns_lock()) lock.lock();
        followers_.erase(&follower);
        throw;
    }
    followers_.erase(&follower);
    if (!answers_) throw Error(ErrorCode::unavailable, "the management service is gone");
}

}  // namespace svc::test
