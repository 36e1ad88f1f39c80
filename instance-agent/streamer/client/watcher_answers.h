#pragma once
// What a client that only watches is told on the channels of clipboard and files (docs/exchange.md): both are
// the steering client's.
#include <optional>
#include <string>

#include "libsvc/base/json.h"

namespace svc::streamer {

constexpr const char* only_watches = "this client only watches";

Json nothing_allowed();  // a message of both channels
// To a message of the client. Nothing: it gets none.
std::optional<Json> answer_to_watcher(const std::string& label, const std::string& text);

}  // namespace svc::streamer
