#pragma once
// The calls of a node by name: what a leader asks the Runtime and the LayerStore of this machine for.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <stop_token>
#include <string>

#include "libsvc/base/json.h"
#include "libsvc/cluster/peer.h"
#include "libsvc/runtime/runtime.h"

namespace svc::node {

// What surrounds a call: it ends early when nobody waits for it any more.
struct CallContext {
    std::stop_token stop;
    std::function<void(std::uint64_t bytes, std::uint64_t total)> progress;
};

struct Call {
    std::function<Json(const JsonFields& arguments, const CallContext& context)> run;
    bool reads = false;  // changes nothing: not fenced
};
using Calls = std::map<std::string, Call, std::less<>>;

struct CallParts {
    Runtime& runtime;
    LayerStore& layers;
    PeerIdentity identity;           // to fetch layers from other nodes
    std::filesystem::path packages;  // where packages wait for the call that adds them
};

// Thread-safe to call. `parts` must outlive the calls.
Calls make_calls(const CallParts& parts);

// Makes the layer from what the node at `address` tells of it.
void fetch_layer(const CallParts& parts, const std::string& name, const std::string& address,
                 const CallContext& context);

}  // namespace svc::node
