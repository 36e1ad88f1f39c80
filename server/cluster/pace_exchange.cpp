#include "server/cluster/pace_exchange.h"

#include <pthread.h>

#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/json.h"
#include "libsvc/base/log.h"

namespace svc::server {

namespace {

constexpr std::string_view pace_path = "/internal/1.0/pace";
// A source that spreads its requests exceeds its rate for so long before all managers know.
constexpr std::chrono::milliseconds between_tellings{200};
constexpr std::chrono::milliseconds answer_limit{500};
constexpr std::uint64_t largest_telling = 1U << 20U;

std::string text_of(const Pacer::Counts& counts) {
    Json all = Json::object();
    for (const auto& [source, requests] : counts) all.set(source, requests);
    return all.dump();
}

}  // namespace

PaceExchange::PaceExchange(Pacer& pacer, const Membership& membership, Clock& clock,
                           std::function<PeerIdentity()> identity)
    : pacer_(pacer), membership_(membership), clock_(clock), identity_(std::move(identity)) {}

PaceExchange::~PaceExchange() {
    stop();
}

std::vector<Route> PaceExchange::routes() {
    return {{Method::post, std::string(pace_path), Access::admin, Dispatch::on_pool, "pace",
             [this](const Request& request) { return take(request); }, largest_telling}};
}

Response PaceExchange::take(const Request& request) {
    const Json counts = Json::parse(request.body);
    for (const auto& [source, requests] : counts.as_object())
        pacer_.add(std::string(source), static_cast<std::size_t>(requests.as_int()));
    return json_response(200, "{}");
}

void PaceExchange::start() {
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void PaceExchange::stop() {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
}

void PaceExchange::run(const std::stop_token& stop) {
    ::pthread_setname_np(::pthread_self(), "pace-exchange");
    while (clock_.wait(stop, between_tellings))
        if (const Pacer::Counts counts = pacer_.take_counts(); !counts.empty()) tell(text_of(counts));
}

void PaceExchange::tell(const std::string& counts) {
    const std::string self = membership_.self().id;
    for (const Manager& manager : membership_.managers()) {
        if (manager.id == self) continue;
        try {
            tell(manager, counts);
        } catch (const Error& e) {
            log::debug("a manager is not told of the pace of requests",
                       {{"manager", manager.name}, {"error", e.what()}});
        }
    }
}

void PaceExchange::tell(const Manager& manager, const std::string& counts) {
    auto& client = managers_[manager.address];
    if (!client) client = std::make_unique<KeptClient>(peer_target(identity_(), manager.address));
    ClientRequest request;
    request.method = Method::post;
    request.path = pace_path;
    request.headers.set("Content-Type", "application/json");
    request.body = counts;
    request.timeout = answer_limit;
    (void)client->call(std::move(request));
}

}  // namespace svc::server
