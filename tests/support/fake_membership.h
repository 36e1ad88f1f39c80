#pragma once
// A membership that a test changes.
#include <map>
#include <utility>

#include "libsvc/base/guarded.h"
#include "libsvc/store/membership.h"

namespace svc::test {

// Thread-safe. Listeners are called on the thread that makes the change.
class FakeMembership final : public Membership {
  public:
    explicit FakeMembership(Manager self) : self_(std::move(self)) {
        managers_.with([&](auto& all) { all[self_.id] = self_; });
    }

    Manager self() const override { return self_; }
    std::vector<Manager> managers() const override {
        std::map<std::string, Manager> by_name;
        managers_.with([&](const auto& all) {
            for (const auto& [id, manager] : all) by_name[manager.name] = manager;
        });
        std::vector<Manager> sorted;
        for (auto& [name, manager] : by_name) sorted.push_back(std::move(manager));
        return sorted;
    }
    std::optional<Leader> leader() const override {
        return leader_.with([](const auto& leader) { return leader; });
    }
    std::shared_ptr<void> on_change(std::function<void()> listener) override {
        auto kept = std::make_shared<std::function<void()>>(std::move(listener));
        listeners_.with([&](auto& all) { all.push_back(kept); });
        return kept;
    }

    void join(Manager manager) {
        managers_.with([&](auto& all) { all[manager.id] = manager; });
        tell();
    }
    void leave(const std::string& id) {
        managers_.with([&](auto& all) { all.erase(id); });
        tell();
    }
    void lead(std::optional<Leader> leader) {
        leader_.with([&](auto& now) { now = std::move(leader); });
        tell();
    }

  private:
    void tell() {
        std::vector<std::weak_ptr<std::function<void()>>> listeners;
        listeners_.with([&](const auto& all) { listeners = all; });
        for (const auto& each : listeners)
            if (const auto listener = each.lock()) (*listener)();
    }

    const Manager self_;
    mutable Guarded<std::map<std::string, Manager>> managers_;
    mutable Guarded<std::optional<Leader>> leader_;
    Guarded<std::vector<std::weak_ptr<std::function<void()>>>> listeners_;
};

}  // namespace svc::test
