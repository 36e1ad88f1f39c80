#pragma once
// Where etcd is, as the options of a daemon say it.
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/json.h"
#include "libsvc/store/etcd/options.h"

namespace svc::server {

// Values of the store `etcd` alone.
struct EtcdSettings {
    std::vector<std::string> endpoints{"http://127.0.0.1:2379"};
    std::filesystem::path authorities;       // "": the system's
    std::filesystem::path certificate, key;  // "": none
    bool new_cluster = false;                // takes an etcd that is empty or of another cluster
};

// A list, or text with commas between. Throws invalid_argument.
std::vector<std::string> read_etcd_endpoints(std::string_view key, const Json& value);

// Where etcd is and how to speak to it. Throws invalid_argument.
EtcdOptions etcd_connection(const EtcdSettings& settings);

// Names a state directory among those whose records are in the same etcd: what is in `file`, which is made
// where it is absent. Throws internal when it is damaged.
std::string member_id(const std::filesystem::path& file);

}  // namespace svc::server
