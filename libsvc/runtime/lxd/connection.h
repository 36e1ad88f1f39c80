#pragma once
// Calls of LXD's REST API (docs/runtime-lxd.md has the faults of LXD that callers must know).
#include <chrono>
#include <optional>
#include <string>

#include "libsvc/base/clock.h"
#include "libsvc/base/error.h"
#include "libsvc/base/guarded.h"
#include "libsvc/base/json.h"
#include "libsvc/net/client/client.h"

namespace svc::lxd {

// Thread-safe. Blocks. Throws unavailable where LXD does not answer; its refusals become Errors without the
// paths they name. A member of a cluster without a quorum takes 10 s to say so: calls of the next seconds
// throw unavailable at once.
class Connection {
  public:
    Connection(const Target& target, Clock& clock) : client_(target), clock_(clock) {}

    Json get(const std::string& path);  // the answer's metadata
    // The same of what this member of a cluster has, as it would tell another member: over its Unix socket it
    // does not ask the others, which takes 20 s where one has just died. Over HTTPS it tells of all.
    Json get_own(const std::string& path);
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
    ClientReply call(const ClientRequest& request);

    HttpClient client_;
    Clock& clock_;
    Guarded<SteadyTime> no_quorum_until_{SteadyTime{}};
};

// Throws what the failed operation tells.
void check_operation(const Json& operation);
// The Error that a refusal means. Pure.
Error refusal(int status, std::string_view text);
std::string text_of(const Json& object, std::string_view key);  // "" when absent

}  // namespace svc::lxd
