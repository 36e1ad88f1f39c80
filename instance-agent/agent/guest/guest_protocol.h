#pragma once
// The protocol of the guest interface: hello first, then ops and their answers. Knows no sockets.
#include "instance-agent/agent/guest/guest_session.h"
#include "instance-agent/agent/guest/message.h"

namespace svc::agent {

// Called on the guest server's thread alone.
class GuestProtocol {
  public:
    explicit GuestProtocol(std::vector<GuestFeature> features);

    struct Reply {
        std::optional<GuestAnswer> answer{};  // complete, with id and ok; nothing: send none
        bool greeted = false;                 // this message was an accepted hello
        bool close = false;                   // close the connection after the answer
    };
    // `greeted`: this session's hello was accepted before. Throws invalid_argument for a message that closes
    // the connection without an answer: it is not an object, or its id is not an integer.
    Reply take(const GuestSessionPtr& session, bool greeted, const GuestMessage& message);
    void ended(const GuestSessionPtr& session);  // a session whose hello was accepted

  private:
    Reply take_json(const GuestSessionPtr& session, bool greeted, const std::string& text);
    Reply hello(bool greeted, const JsonFields& request) const;
    GuestAnswer run(const GuestSessionPtr& session, const std::string& op, const JsonFields& request);

    std::vector<GuestFeature> features_;
    std::map<std::string, GuestOp, std::less<>> ops_;
    std::string boot_id_;
};

}  // namespace svc::agent
