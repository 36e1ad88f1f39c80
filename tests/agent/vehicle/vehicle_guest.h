#pragma once
// A guest's session without a socket: keeps what it is sent.
#include <atomic>
#include <condition_variable>
#include <mutex>

#include "instance-agent/agent/guest/guest_server.h"

namespace svc::test {

// Thread-safe.
class VehicleGuest final : public agent::GuestSession {
  public:
    explicit VehicleGuest(std::uint64_t id, bool may_control = true) : id_(id), may_control_(may_control) {}

    std::uint64_t id() const override { return id_; }
    uid_t uid() const override { return may_control_ ? 0 : 10000; }
    bool may_control() const override { return may_control_; }
    void send_event(const Json& event) override {
        {
            std::lock_guard lock(mutex_);
            messages_.push_back(Json::parse(event.dump()));
        }
        changed_.notify_all();
    }
    bool send_frame(std::uint16_t, std::string_view) override { return false; }
    bool open() const override { return is_open; }

    // The message of this number, counted from 0; blocks until it is there.
    Json message(std::size_t number) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return messages_.size() > number; });
        return messages_[number];
    }
    std::size_t messages() const {
        std::lock_guard lock(mutex_);
        return messages_.size();
    }

    std::atomic<bool> is_open{true};

  private:
    const std::uint64_t id_;
    const bool may_control_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<Json> messages_;
};

}  // namespace svc::test
