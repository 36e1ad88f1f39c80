#pragma once
// Where etcd is, and how long is waited for it. docs/store-etcd.md tells what each number means to callers.
#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "libsvc/net/tls/tls.h"

namespace svc {

struct EtcdOptions {
    std::vector<std::string> endpoints{"http://127.0.0.1:2379"};
    std::filesystem::path authorities;  // PEM; "": the system's
    std::optional<KeyPair> identity;    // client certificate
    std::string root = "/svc/";         // of all keys
    std::string manager;                // id in the keys of its own; no other process has it
    std::string host;                   // for people: where the manager runs
    bool exclusive = true;              // refuses to start beside another manager of the same root
    std::function<void()> on_lost;      // called once, by a thread of the store: another manager took over
    std::chrono::milliseconds attempt{2000};     // of one request at one member, without a byte
    std::chrono::milliseconds patience{10'000};  // of a call of the store
    std::chrono::milliseconds silence{2000};     // of the watch, until it is checked
    std::chrono::seconds lease{10};
};

}  // namespace svc
