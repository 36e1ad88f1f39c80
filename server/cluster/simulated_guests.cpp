#include "server/cluster/simulated_guests.h"

#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/json.h"
#include "libsvc/base/log.h"
#include "libsvc/net/client/direct_call.h"

namespace svc::server {

namespace {

constexpr std::string_view guests_path = "/internal/1.0/simulated-guests";
constexpr std::chrono::milliseconds pause_between_tries{100};
constexpr std::uint64_t largest_report = 16U << 20U;

}  // namespace

SimulatedGuests::SimulatedGuests(const Leadership& leadership, GuestReports& reports, PeerIdentity identity)
    : leadership_(leadership), reports_(reports), identity_(std::move(identity)) {}

SimulatedGuests::~SimulatedGuests() {
    stop();
}

void SimulatedGuests::stop() {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
}

void SimulatedGuests::running(std::string_view instance_id) {
    {
        const std::lock_guard lock(mutex_);
        waiting_.emplace(instance_id);
    }
    changed_.notify_all();
}

void SimulatedGuests::follow(Runtime& runtime) {
    thread_ = std::jthread([this, &runtime](const std::stop_token& stop) { run(runtime, stop); });
}

void SimulatedGuests::run(Runtime& runtime, const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        tell_anew(runtime);
        Ids ids = wait(stop);
        if (ids.empty() || send(ids)) continue;
        const std::lock_guard lock(mutex_);
        waiting_.merge(ids);
    }
}

// A while after the last look, or sooner when a guest has come up: the ids that are to be told.
SimulatedGuests::Ids SimulatedGuests::wait(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    if (leadership_.here() || leadership_.elsewhere())
        changed_.wait_for(lock, stop, pause_between_tries, [this] { return !waiting_.empty(); });
    else
        changed_.wait_for(lock, stop, pause_between_tries, [] { return false; });
    if (!leadership_.here() && !leadership_.elsewhere()) return {};
    return std::exchange(waiting_, {});
}

void SimulatedGuests::tell_anew(Runtime& runtime) {
    const auto leader = leadership_.membership().leader();
    if (!leader || leader->term == told_term_) return;
    told_term_ = leader->term;
    for (const ContainerInfo& container : runtime.list())
        if (container.state == ContainerState::running) running(container.id);
}

bool SimulatedGuests::send(const Ids& ids) try {
    if (!leadership_.here()) {
        const auto leader = leadership_.elsewhere();
        return leader && send_to(leader->manager, ids);
    }
    for (const std::string& id : ids) reports_.running(id);
    return true;
} catch (const Error& e) {
    log::debug("reports of simulated guests are not taken", {{"error", e.what()}});
    return false;
}

bool SimulatedGuests::send_to(const Manager& leader, const Ids& ids) const {
    Json list = Json::array();
    for (const std::string& id : ids) list.push_back(id);
    ClientRequest request;
    request.method = Method::post;
    request.path = guests_path;
    request.headers.set("Content-Type", "application/json");
    request.body = list.dump();
    return call_directly(peer_target(identity_, leader.address), request).status == 200;
}

std::vector<Route> SimulatedGuests::routes() {
    return {{Method::post, std::string(guests_path), Access::admin, Dispatch::on_pool, "simulated_guests",
             [this](const Request& request) { return take(request); }, largest_report}};
}

Response SimulatedGuests::take(const Request& request) {
    if (!leadership_.here()) throw Error(ErrorCode::unavailable, "this manager does not lead");
    const Json ids = Json::parse(request.body);
    for (const Json& id : ids.as_array()) reports_.running(id.as_string());
    return json_response(200, "{}");
}

}  // namespace svc::server
