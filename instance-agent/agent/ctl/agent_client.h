#pragma once
// Asks the agent that serves in this instance. One thread.
#include <filesystem>

#include "libsvc/base/json.h"
#include "libsvc/net/http/request.h"

namespace svc::agent {

class AgentClient {
  public:
    explicit AgentClient(std::filesystem::path socket) : socket_(std::move(socket)) {}

    // The metadata of the answer, null when it has none. Throws `unavailable` when no agent answers, else
    // the answer's error.
    Json ask(Method method, const std::string& path, const std::string& body = "") const;
    // The same, for answers that may be no JSON: those come as they are.
    struct Answer {
        Json metadata;
        std::string text;
    };
    Answer ask_anything(Method method, const std::string& path, const std::string& body) const;

  private:
    const std::filesystem::path socket_;
};

}  // namespace svc::agent
