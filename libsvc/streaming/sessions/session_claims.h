#pragma once
// Which gateway works for a session: a lease in the session's record.
#include <chrono>
#include <string>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/streaming/sessions/session_records.h"

namespace svc {

// Thread-safe. Only the holder of the lease launches and deletes the session's instance. Other gateways take
// the lease over when it was not renewed for 15 seconds.
class SessionClaims {
  public:
    // `self` names this service object: another process of the same gateway has another name.
    SessionClaims(SessionRecords& records, Clock& clock, std::string self);

    void take(StreamSession& session) const;  // takes the lease of a record that is not stored yet
    // Takes or renews the lease and returns the record, null when it is gone. Throws busy while another
    // gateway holds the lease.
    SessionPtr claim(const std::string& id);
    void renew(const std::vector<std::string>& ids);  // renews the leases that are still ours

    bool is_ours(const StreamSession& session) const { return session.worker == self_; }
    bool is_others(const StreamSession& session) const;
    bool is_due(const StreamSession& session) const;  // ours, and half of its time is over

  private:
    bool is_valid(const StreamSession& session) const;

    SessionRecords& records_;
    Clock& clock_;
    const std::string self_;
};

}  // namespace svc
