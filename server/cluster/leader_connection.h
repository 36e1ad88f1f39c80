#pragma once
// The way to the leader: who it is, and calls of it in the name of clients.
#include <memory>
#include <mutex>

#include "libsvc/cluster/peer.h"
#include "libsvc/net/client/piecewise_call.h"
#include "libsvc/net/http/response.h"
#include "libsvc/store/progress.h"
#include "server/cluster/leadership.h"

namespace svc::server {

// Nothing reached the leader, or it was none: another try is safe.
class NotSent : public Error {
  public:
    explicit NotSent(const std::string& why) : Error(ErrorCode::unavailable, why) {}
};

// Thread-safe. Of one leader in one term.
class LeaderConnection {
  public:
    LeaderConnection(const Leadership& leadership, Progress& progress, LeadingManager leader, Target target);
    // Sends header and body; of an upload the header. Throws NotSent, and unavailable when the connection
    // broke later.
    std::shared_ptr<PiecewiseCall> send(const Request& request, bool upload);
    // The leader's answer, once this manager's memory has what it tells. Throws NotSent when it does not
    // lead, unavailable when the connection breaks.
    Response answer(std::shared_ptr<PiecewiseCall> call);
    Headers headers_for(const Request& request) const;  // with the client's identity
    const Target& target() const { return client_.target(); }
    const LeadingManager& leader() const { return leader_; }

  private:
    bool still_leads() const;
    void await_revision(const ClientReply& reply);

    const Leadership& leadership_;
    Progress& progress_;
    const LeadingManager leader_;
    PiecewiseClient client_;
};

// Thread-safe. Keeps the connections to the leader of the day.
class LeaderConnections {
  public:
    LeaderConnections(const Leadership& leadership, Progress& progress,
                      std::function<PeerIdentity()> identity);
    std::shared_ptr<LeaderConnection> to(const LeadingManager& leader);

  private:
    const Leadership& leadership_;
    Progress& progress_;
    const std::function<PeerIdentity()> identity_;
    std::mutex mutex_;
    std::shared_ptr<LeaderConnection> newest_;
};

}  // namespace svc::server
