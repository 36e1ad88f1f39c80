#include "libsvc/model/instances/agent_paths.h"

namespace svc {

const std::vector<std::string>& agent_state_paths() {
    static const std::vector<std::string> paths{
        "var/lib/svc-agent/session.json", "var/lib/svc-agent/userdata", "var/lib/svc-agent/progress.json",
        "var/lib/svc-agent/bin",          "var/lib/svc-agent/host",     "var/lib/svc-agent/logs",
        "var/lib/svc-agent/downloads",    "var/lib/svc-agent/features", "var/lib/svc-agent/fetched",
        "var/lib/svc-agent/state",        "var/lib/svc-agent/traces",   "run/svc",
        "run/user/1000/svc-agent",
    };
    return paths;
}

}  // namespace svc
