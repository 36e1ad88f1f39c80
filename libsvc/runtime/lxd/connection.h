#pragma once
// Calls of LXD's REST API (docs/runtime-lxd.md has the faults of LXD that callers must know).
#include <chrono>
#include <optional>
#include <string>

#include "libsvc/base/clock.h"
#include "libsvc/base/error.h"
#include "libsvc/base/json.h"
#include "libsvc/net/client/client.h"

namespace svc::lxd {

// Thread-safe. Blocks. Throws unavailable where LXD does not answer; its refusals become Errors without the
// paths they name.
class Connection {
  public:
    Connection(const Target& target, Clock& clock) : client_(target), clock_(clock) {}

    Json get(const std::string& path);                  // the answer's metadata
    std::optional<Json> find(const std::string& path);  // nothing: 404
    // Makes a change and waits for its operation; the operation's own metadata, null without any. Repeated
    // while the instance is busy with what ends by itself.
    Json change(Method method, const std::string& path, const Json& body);
    void upload(const ClientRequest& request);  // and waits for its operation
    void remove(const std::string& path);       // what is gone already is fine
    // The record of an operation that goes on.
    Json begin(Method method, const std::string& path, const Json& body);
    // Waits for an operation: its record, also when it has failed; nothing after `limit`.
    std::optional<Json> wait(const std::string& operation, Duration limit);
    ClientReply send(const ClientRequest& request);  // throws for a status that is not 2xx
    const Target& target() const { return client_.target(); }

  private:
    Json settle(const Json& answer);

    HttpClient client_;
    Clock& clock_;
};

// Throws what the failed operation tells.
void check_operation(const Json& operation);
// The Error that a refusal means. Pure.
Error refusal(int status, std::string_view text);
std::string text_of(const Json& object, std::string_view key);  // "" when absent

}  // namespace svc::lxd
