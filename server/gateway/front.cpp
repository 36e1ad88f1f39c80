#include "server/gateway/front.h"

#include <algorithm>
#include <array>

#include "libsvc/base/log.h"
#include "libsvc/net/http/router.h"
#include "server/gateway/response.h"
#include "server/login/authenticate.h"

namespace svc::gateway {

namespace {

constexpr std::size_t relayed_websockets = 1024;  // each holds two threads

// By the paths of the routes. What is not here needs the leader: it alone asks the regions.
constexpr std::array<std::string_view, 3> local_reads{"/1.0/sessions", "/1.0/sessions/{id}", "/1.0/accounts"};
constexpr std::string_view page_label = "web_page";

bool is_local_read(const Request& request) {
    if (request.method == Method::options) return true;
    if (request.method != Method::get && request.method != Method::head) return false;
    return request.route->label == page_label ||
           std::ranges::find(local_reads, request.route->path) != local_reads.end();
}

// Such a deletion waits until the instances are gone.
bool waits_long(const Request& request) {
    return request.method == Method::delete_ && !request.query_value("sync").empty();
}

}  // namespace

Front::Front(FrontParts parts)
    : parts_(std::move(parts)),
      leadership_(parts_.candidacy.membership()),
      forwarder_({leadership_,
                  parts_.candidacy.progress(),
                  nullptr,
                  parts_.clock,
                  parts_.metrics,
                  parts_.identity,
                  {is_local_read,
                   [this](const Request& request, const std::exception& error) {
                       Response response = failure(error);
                       parts_.cors.decorate(request, response);
                       return response;
                   },
                   "gateway", "stream_gateway", waits_long}},
                 {.websockets = relayed_websockets, .patience = parts_.patience}) {
    parts_.metrics.add_collector([this](std::string& out) {
        MetricFamily(out, "stream_gateway_leads", "1 for the gateway that works for the sessions", "gauge")
            .add("", std::uint64_t{leadership_.here()});
    });
}

Front::~Front() {
    stop();
}

HttpService& Front::before(HttpService& inner) {
    const auto failed = [](const Request&, const std::exception& error) { return failure(error); };
    forwarded_ = std::make_unique<server::ForwardedRequests>(
        server::ForwardedRequestsParts{inner, leadership_, parts_.candidacy.progress(),
                                       [this](const Peer& peer) { return is_gateway(peer); }, failed});
    return *forwarded_;
}

bool Front::is_gateway(const Peer& peer) const {
    return peer.listener == server::managers_listener && peer.certificate &&
           peer.certificate->fingerprint == parts_.identity().fingerprint;
}

void Front::start(const std::string& address, const std::string& instance_url, std::function<void()> lead) {
    parts_.candidacy.campaign(address, {instance_url}, [this, lead = std::move(lead)](std::uint64_t term) {
        lead();
        leadership_.take_over();
        log::info("this gateway leads", {{"term", std::to_string(term)}});
    });
}

std::vector<std::string> Front::other_gateways() const {
    const Membership& membership = leadership_.membership();
    std::vector<std::string> urls;
    for (const Manager& gateway : membership.managers())
        if (gateway.id != membership.self().id)
            urls.insert(urls.end(), gateway.api.begin(), gateway.api.end());
    return urls;
}

void Front::resign() {
    parts_.candidacy.resign();
}

void Front::stop() {
    forwarder_.stop();
}

}  // namespace svc::gateway
