#pragma once
// The user data of a session's instance: what its streamer needs to connect to this gateway.
#include <string>

#include "libsvc/base/guarded.h"
#include "libsvc/base/json.h"
#include "libsvc/model/streaming/stream_session.h"
#include "libsvc/streaming/sessions/session_config.h"
#include "libsvc/streaming/tokens.h"

namespace svc {

// "/1.0/sessions/<id>/sockets/master?token=..."
std::string socket_path(const std::string& session, SocketRole role, const std::string& token);

// Thread-safe.
class InstanceUserData {
  public:
    InstanceUserData(const SessionServiceConfig& config, const TokenMint& mint);
    Json of(const StreamSession& session) const;
    void use_fingerprint(std::string fingerprint);  // for later instances, after a certificate change

  private:
    Json other_gateways() const;

    const SessionServiceConfig& config_;
    const TokenMint& mint_;
    Guarded<std::string> fingerprint_;
};

}  // namespace svc
