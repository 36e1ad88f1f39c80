#pragma once
// The members of an etcd cluster as one server: a call goes to a member that answers.
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/base/json.h"
#include "libsvc/net/client/kept_client.h"
#include "libsvc/store/etcd/options.h"

namespace svc::etcd {

enum class Refusal { none, compacted, too_large, no_space, no_lease, forbidden, other };

struct Reply {
    Json body;
    Refusal refusal = Refusal::none;
    std::string reason;       // etcd's words
    bool after_loss = false;  // an earlier attempt had no answer: it may have been done, or be done later
};

// Thread-safe.
class Cluster {
  public:
    // Asks each member once until one answers. Throws invalid_argument for addresses and certificates that
    // cannot be used, unavailable with what is wrong with each member, unsupported where waiting mends
    // nothing: an etcd that is too old, what is no etcd, certificates that one side does not accept.
    Cluster(const EtcdOptions& options, Clock& clock);

    // Goes on at the next member when one fails. The request must be safe to repeat: it may have been done
    // by a member whose answer was lost. Throws unavailable when `patience` is over, and after close().
    Reply ask(const std::string& path, const Json& body);
    // The same; a refusal is thrown, too.
    Json call(const std::string& path, const Json& body);
    void close();                                         // waits no longer; for the end
    std::uint64_t failures() const { return failures_; }  // requests that a member did not answer
    std::uint64_t newest() const { return newest_; }      // revision of etcd, as the answers tell

    const Target& member(std::size_t number) const { return members_[number % members_.size()]->target(); }
    std::size_t preferred() const { return preferred_ % members_.size(); }
    std::stop_token closing() const { return closing_.get_token(); }

  private:
    void find_member();
    Reply ask_member(std::size_t number, const std::string& path, const std::string& body);
    void avoid(std::size_t number);
    void note_revision(const Json& answer);

    const std::chrono::milliseconds attempt_, patience_;
    Clock& clock_;
    std::vector<std::unique_ptr<KeptClient>> members_;
    std::atomic<std::size_t> preferred_{0};
    std::atomic<std::uint64_t> failures_{0}, newest_{0};
    const std::function<void(Duration)> on_answer_;
    std::stop_source closing_;
};

// Every request has it: a member that has lost the others says so at once.
inline constexpr const char* wants_leader = "Grpc-Metadata-hasleader";

[[noreturn]] void throw_refusal(const Reply& reply);

}  // namespace svc::etcd
