#pragma once
// Bearer tokens of instances: JWT, HS256 with a 64-byte secret kept in the state directory (docs/trust.md).
#include <filesystem>
#include <string>
#include <string_view>

#include "libsvc/base/clock.h"

namespace svc {

// Thread-safe. The secret file is made at first use, mode 0600.
class AgentTokens {
  public:
    AgentTokens(const std::filesystem::path& secret_file, const Clock& clock);
    std::string issue(std::string_view instance_id) const;  // valid for a year; scope artifacts, status
    // Throws unauthenticated "missing token" for "", forbidden "Not Authorized" for any other text that is
    // not a valid token.
    std::string check(std::string_view authorization_header) const;  // the instance id it was issued for

    // A secret for another purpose, derived from that of the tokens: all managers of a cluster have it.
    std::string secret_for(std::string_view purpose) const;

  private:
    std::string secret_;
    const Clock& clock_;
};

}  // namespace svc
