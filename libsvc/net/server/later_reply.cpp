#include "libsvc/net/server/later_reply.h"

#include <atomic>
#include <boost/asio/post.hpp>

#include "libsvc/base/error.h"

namespace svc::net {

// Shared by the copies of one Responder: the first call counts, and when none came, the end of the last copy.
class LaterReply::Ticket {
  public:
    Ticket(std::shared_ptr<LaterReply> reply, std::shared_ptr<IoLoop> loop)
        : reply_(std::move(reply)), loop_(std::move(loop)) {}
    ~Ticket() { deliver(nullptr); }
    Ticket(const Ticket&) = delete;
    Ticket& operator=(const Ticket&) = delete;

    void deliver(std::shared_ptr<Response> response) {
        if (used_.exchange(true)) return;
        boost::asio::post(loop_->context, [reply = reply_, response = std::move(response)] {
            reply->arrive(response.get());
        });
    }

  private:
    std::shared_ptr<LaterReply> reply_;
    std::shared_ptr<IoLoop> loop_;
    std::atomic<bool> used_{false};
};

Responder LaterReply::responder(std::shared_ptr<LaterReply> reply, std::shared_ptr<IoLoop> loop) {
    return [ticket = std::make_shared<Ticket>(std::move(reply), std::move(loop))](Response response) {
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
