#pragma once
// HTTP client of the control API of this instance's agent. One thread.
#include <filesystem>

#include "libsvc/base/json.h"
#include "libsvc/net/http/request.h"

namespace svc::agent {

class AgentClient {
  public:
    explicit AgentClient(std::filesystem::path socket) : socket_(std::move(socket)) {}

    // The metadata of the answer; null when it has none. Throws `unavailable` when no agent answers, and the
    // answer's error when the agent refuses.
    Json ask(Method method, const std::string& path, const std::string& body = "") const;
    // The same for routes that may answer with plain text, which is returned as `text`.
    struct Answer {
        Json metadata;
        std::string text;
    };
    Answer ask_anything(Method method, const std::string& path, const std::string& body) const;

  private:
    const std::filesystem::path socket_;
};

}  // namespace svc::agent
