#include "server/cluster/front.h"

#include "server/cluster/local_reads.h"
#include "server/http/response.h"
#include "server/login/session_cookie.h"

namespace svc::server {

namespace {

Response failure_of(const Request&, const std::exception& error) {
    return failure(error);
}

}  // namespace

Front::Front(FrontParts parts, Duration patience)
    : parts_(std::move(parts)),
      forwarder_({parts_.leadership,
                  parts_.candidacy.progress(),
                  &parts_.rows.events,
                  parts_.clock,
                  parts_.metrics,
                  parts_.identity,
                  {[this](const Request& request) { return is_served_here(request); }, failure_of}},
                 {.patience = patience}),
      event_follower_({parts_.rows.events, ""}, parts_.leadership, parts_.clock, parts_.identity),
      audit_follower_({parts_.rows.audit, "type=audit&"}, parts_.leadership, parts_.clock, parts_.identity),
      pace_(parts_.pacer, parts_.candidacy.membership(), parts_.clock, parts_.identity) {
    parts_.metrics.add_collector([this](std::string& out) { event_follower_.render_lag(out); });
    for (EventBus* row : {&parts_.rows.events, &parts_.rows.audit}) row->follow();
}

Front::~Front() {
    stop();
}

// A read that keeps a session alive goes to the leader about once a minute: only the leader stores that.
bool Front::is_served_here(const Request& request) const {
    if (!is_local_read(request) || is_own_read(request)) return is_local_read(request);
    const auto identity = parts_.authenticator.identify(request);
    return !identity || !identity->session || !is_use(request) ||
           !parts_.sessions.use_is_due(*identity->session);
}

HttpService& Front::before(HttpService& inner) {
    forwarded_ = std::make_unique<ForwardedRequests>(ForwardedRequestsParts{
        inner, parts_.leadership, parts_.candidacy.progress(),
        [this](const Peer& peer) { return parts_.authenticator.is_manager(peer); }, failure_of});
    return *forwarded_;
}

void Front::start(const std::string& address, const std::vector<std::string>& api,
                  std::function<void(std::uint64_t)> recover, std::function<void()> begin) {
    event_follower_.start();
    audit_follower_.start();
    pace_.start();
    parts_.candidacy.campaign(
        address, api, [this, recover = std::move(recover), begin = std::move(begin)](std::uint64_t term) {
            for (EventBus* row : {&parts_.rows.events, &parts_.rows.audit}) row->lead(term);
            recover(term);
            parts_.leadership.take_over();
            begin();
        });
}

void Front::resign() {
    parts_.candidacy.resign();
}

void Front::stop() {
    pace_.stop();
    audit_follower_.stop();
    event_follower_.stop();
    forwarder_.stop();
}

}  // namespace svc::server
