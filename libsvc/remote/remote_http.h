#pragma once
// Internal to this folder: calls to a server of somebody else, which may be hostile, with limits.
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "libsvc/net/client/client.h"

namespace svc {

// Thread-safe. All throw unavailable "<what> cannot be reached: ...", forbidden, not_found, conflict, or
// invalid_argument as the server's status says; a redirect is refused. Exceptions of sinks pass through.
class RemoteHttp {
  public:
    // `what`: "registry", for messages.
    RemoteHttp(std::string what, Target target, std::string authorization = "");
    ClientReply call(ClientRequest request) const;  // returns 2xx alone
    std::string get(const std::string& path, std::size_t max_bytes) const;
    ClientReply get(const std::string& path, const std::function<void(std::string_view)>& write) const;

  private:
    ClientReply reach(const ClientRequest& request) const;
    [[noreturn]] void refuse(const ClientReply& reply) const;

    std::string what_;
    Target target_;
    std::string authorization_;
};

}  // namespace svc
