#include "server/cluster/leader_connection.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"
#include "server/cluster/client_identity.h"
#include "server/login/session_cookie.h"

namespace svc::server {

namespace {

constexpr std::chrono::seconds connect_limit{2};
constexpr std::chrono::seconds longest_lag{5};        // of what is done the client hears in any case
constexpr std::uint64_t whole_body_bytes = 1U << 20;  // longer ones are streamed

// They are about one connection.
bool is_of_connection(std::string_view name) {
    constexpr std::array<std::string_view, 12> names{"connection",
                                                     "content-length",
                                                     "date",
                                                     "expect",
                                                     "host",
                                                     "keep-alive",
                                                     "te",
                                                     "trailer",
                                                     "upgrade",
                                                     "transfer-encoding",
                                                     "proxy-connection",
                                                     "server"};
    return std::ranges::any_of(names, [&](std::string_view each) { return iequals(each, name); });
}

bool is_of_handshake(std::string_view name) {
    constexpr std::string_view prefix = "Sec-WebSocket-";
    return name.size() > prefix.size() && iequals(name.substr(0, prefix.size()), prefix);
}

// The body of a leader's answer, read when the client takes more.
class ReplySource final : public BodySource {
  public:
    ReplySource(std::shared_ptr<PiecewiseCall> call, std::optional<std::uint64_t> length)
        : call_(std::move(call)), length_(length) {}
    std::string read(std::size_t at_most) override { return call_->read(at_most); }
    std::optional<std::uint64_t> length() const override { return length_; }

  private:
    std::shared_ptr<PiecewiseCall> call_;
    std::optional<std::uint64_t> length_;
};

std::optional<std::uint64_t> number(const std::string* text) {
    std::uint64_t value = 0;
    if (!text || std::from_chars(text->data(), text->data() + text->size(), value).ec != std::errc())
        return {};
    return value;
}

}  // namespace

LeaderConnection::LeaderConnection(const Leadership& leadership, Progress& progress, LeadingManager leader,
                                   Target target)
    : leadership_(leadership), progress_(progress), leader_(std::move(leader)), client_(std::move(target)) {}

Headers LeaderConnection::headers_for(const Request& request) const {
    Headers headers;
    for (const auto& [name, value] : request.headers)
        if (!is_of_connection(name) && !is_of_handshake(name) && !is_between_managers(name))
            headers.add(name, value);
    if (const std::string key = session_key(request); !key.empty()) headers.set(session_key_header, key);
    headers.set(client_host_header, request.headers.get("Host"));
    add_client(headers, *request.peer, leadership_.membership().self().name);
    return headers;
}

// A HEAD goes as the GET that it asks about: our server leaves the body out.
std::shared_ptr<PiecewiseCall> LeaderConnection::send(const Request& request, bool upload) {
    ClientRequest sent;
    sent.method = request.method == Method::head ? Method::get : request.method;
    sent.path = request.target;
    sent.headers = headers_for(request);
    sent.body = upload ? std::string() : request.body;
    if (upload) sent.source = [](std::size_t) { return std::string(); };
    if (upload) sent.length = request.content_length;
    std::shared_ptr<PiecewiseCall> call;
    try {
        call = client_.begin(std::move(sent), connect_limit);
    } catch (const Error& e) {
        throw NotSent(e.what());
    }
    call->send_head();
    return call;
}

bool LeaderConnection::still_leads() const {
    const auto now = leadership_.elsewhere();
    return now && now->term == leader_.term;
}

void LeaderConnection::await_revision(const ClientReply& reply) {
    const auto revision = number(reply.headers.find(revision_header));
    if (!revision) return;
    try {
        progress_.await(*revision, longest_lag);
    } catch (const Error& e) {
        log::warning("this manager lags behind what it tells its client", {{"error", e.what()}});
    }
}

Response LeaderConnection::answer(std::shared_ptr<PiecewiseCall> call) {
    const ClientReply& reply = call->reply([this] { return still_leads(); });
    if (reply.headers.find(not_leader_header)) throw NotSent("this manager does not lead");
    Response response;
    response.status = reply.status;
    for (const auto& [name, value] : reply.headers)
        if (!is_of_connection(name) && !is_between_managers(name)) response.headers.add(name, value);
    await_revision(reply);
    const auto length = number(reply.headers.find("Content-Length"));
    if (length.value_or(whole_body_bytes + 1) > whole_body_bytes) {
        response.source = std::make_unique<ReplySource>(std::move(call), length);
        return response;
    }
    for (std::string piece = call->read(whole_body_bytes); !piece.empty();
         piece = call->read(whole_body_bytes))
        response.body += piece;
    return response;
}

LeaderConnections::LeaderConnections(const Leadership& leadership, Progress& progress,
                                     std::function<PeerIdentity()> identity)
    : leadership_(leadership), progress_(progress), identity_(std::move(identity)) {}

std::shared_ptr<LeaderConnection> LeaderConnections::to(const LeadingManager& leader) {
    std::lock_guard lock(mutex_);
    if (!newest_ || newest_->leader() != leader)
        newest_ = std::make_shared<LeaderConnection>(leadership_, progress_, leader,
                                                     peer_target(identity_(), leader.manager.address));
    return newest_;
}

}  // namespace svc::server
