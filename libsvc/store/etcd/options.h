#pragma once
// Where etcd is, and how long is waited for it. docs/store-etcd.md tells what each number means to callers.
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/net/tls/tls.h"

namespace svc {

struct EtcdOptions {
    std::vector<std::string> endpoints{"http://127.0.0.1:2379"};
    std::filesystem::path authorities;  // PEM; "": the system's
    std::optional<KeyPair> identity;    // client certificate
    std::string root = "/svc/";         // of all keys
    std::string manager;                // id in the keys of its own; no other process has it
    std::string host;                   // for people: where the manager runs; its name among the managers
    std::string version;                // of the program, for other managers
    int schema = 0;                     // the newest one of records that the program reads and writes
    bool exclusive = true;              // false: everybody may commit, there is no leader
    // What sets `host`, for people: join() refuses the name of another manager that lives. "": names do not
    // matter.
    std::string name_setting;
    // The highest term that this machine has heard of: a backup of etcd that was restored has a lower one.
    // Called by the store's thread, must not use the store. Empty: it knows of none.
    std::function<std::uint64_t()> known_term;
    // This manager leads, in that term. Called by the store's thread, which keeps the lease: must be quick,
    // and must not use the store.
    std::function<void(std::uint64_t term)> on_leading;
    // Called once, after on_leading, by any thread that uses the store or by one of its own: another manager
    // leads now. Must be quick, and must not use the store.
    std::function<void()> on_lost;
    // A member has answered a request, after that time. Any thread of the store; must be quick.
    std::function<void(Duration)> on_answer;
    std::chrono::milliseconds attempt{2000};     // of one request at one member, without a byte
    std::chrono::milliseconds patience{10'000};  // of a call of the store
    std::chrono::milliseconds silence{2000};     // of the watch, until it is checked
    std::chrono::seconds lease{6};
};

}  // namespace svc
