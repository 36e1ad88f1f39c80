#pragma once
// What is said on the guest interface: hello first, then ops and their answers. Knows no sockets.
#include "instance-agent/agent/guest/guest_server.h"
#include "instance-agent/agent/guest/message.h"

namespace svc::agent {

// The server's thread alone.
class Dialogue {
  public:
    explicit Dialogue(std::vector<GuestFeature> features);

    struct Reply {
        std::optional<GuestAnswer> answer{};  // whole, with id and ok; nothing: none is wanted
        bool greeted = false;                 // hello was said and accepted
        bool close = false;                   // after the answer
    };
    // `greeted`: whether this session has said hello. Throws invalid_argument for a message that closes the
    // connection unanswered: it is no object, or has no integer as id.
    Reply take(const GuestSessionPtr& session, bool greeted, const GuestMessage& message);
    void ended(const GuestSessionPtr& session);  // one that had said hello

  private:
    Reply take_json(const GuestSessionPtr& session, bool greeted, const std::string& text);
    Reply hello(bool greeted, const JsonFields& request) const;
    GuestAnswer run(const GuestSessionPtr& session, const std::string& op, const JsonFields& request);

    std::vector<GuestFeature> features_;
    std::map<std::string, GuestOp, std::less<>> ops_;
    std::string boot_id_;
};

}  // namespace svc::agent
