#include "libsvc/net/server/later_reply.h"

#include <boost/asio/post.hpp>

#include "libsvc/base/error.h"
#include "libsvc/base/once.h"

namespace svc::net {

// Shared by the copies of one Responder. The first call delivers its response; when there was no call, the
// end of the last copy delivers that there is none.
class LaterReply::Ticket {
  public:
    Ticket(std::shared_ptr<LaterReply> reply, const std::shared_ptr<IoLoop>& loop)
        : deliver_([reply = std::move(reply), loop](const std::shared_ptr<Response>& response) {
              boost::asio::post(loop->context, [reply, response] { reply->arrive(response.get()); });
          }) {}
    ~Ticket() { deliver_(nullptr); }
    Ticket(const Ticket&) = delete;
    Ticket& operator=(const Ticket&) = delete;

    void deliver(std::shared_ptr<Response> response) { deliver_(std::move(response)); }

  private:
    Once<std::shared_ptr<Response>> deliver_;
};

Responder LaterReply::responder(std::shared_ptr<LaterReply> reply, const std::shared_ptr<IoLoop>& loop) {
    return [ticket = std::make_shared<Ticket>(std::move(reply), loop)](Response response) {
        ticket->deliver(std::make_shared<Response>(std::move(response)));
    };
}

void LaterReply::arrive(Response* response) {
    if (response)
        response_ = std::move(*response);
    else
        fault_ = std::make_exception_ptr(Error(ErrorCode::internal, "request was dropped"));
    if (const auto connection = connection_.lock()) connection->interrupt();
}

std::exception_ptr LaterReply::take(Response& out) {
    if (response_) out = std::move(*response_);
    return fault_;
}

}  // namespace svc::net
