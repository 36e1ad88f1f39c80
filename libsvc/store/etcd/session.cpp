#include "libsvc/store/etcd/session.h"

#include <pthread.h>

#include <random>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"
#include "libsvc/store/etcd/members_json.h"
#include "libsvc/store/etcd/records_schema.h"

namespace svc::etcd {

namespace {

constexpr std::chrono::milliseconds retry_pause{100};
constexpr int max_takes = 10;  // each needs somebody else to have come and gone

// Of several managers that want to lead, one is a little ahead.
std::chrono::milliseconds head_start() {
    static thread_local std::minstd_rand random(std::random_device{}());
    return std::chrono::milliseconds(std::uniform_int_distribution<int>(0, 100)(random));
}

}  // namespace

Session::Session(Cluster& cluster, const EtcdOptions& options, Clock& clock, Members& members, Lease& lease,
                 Leadership& leadership, Counters& counters)
    : options_(options),
      clock_(clock),
      members_(members),
      lease_(lease),
      leadership_(leadership),
      presence_(cluster, options, members, lease),
      counters_(counters) {}

Session::~Session() {
    watching_.reset();
    if (!thread_.joinable()) return;
    thread_.request_stop();
    thread_.join();
}

void Session::lead() {
    lease_.grant();
    for (int i = 0; i < max_takes; ++i) {
        if (leadership_.take()) return begin();
        members_.read();
        const Lead lead = members_.lead();
        if (!lead.holder.empty() && lead.holder != options_.manager)
            throw Error(ErrorCode::busy,
                        "the records in etcd are in use by another svcd, on host " + quoted(lead.host));
        const std::string reason = reason_not_to_lead(members_.schema(), options_.schema);
        if (!reason.empty()) throw Error(ErrorCode::unsupported, reason);
    }
    throw Error(ErrorCode::busy, "several managers want the same records in etcd");
}

void Session::join(std::string address, std::vector<std::string> api) {
    members_.set_addresses(std::move(address), std::move(api));
    leadership_.heed_time();
    lease_.grant();
    presence_.announce();
    members_.read();  // whoever raises the schema from now on knows of this manager
    refuse_newer_records(members_.schema(), options_.schema);
    begin();
}

void Session::campaign() {
    campaigning_ = true;
    wake();
}

void Session::begin() {
    watching_ = members_.on_change([this] {
        leadership_.look();
        wake();
    });
    leadership_.look();
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void Session::wake() {
    std::lock_guard lock(mutex_);
    wake_ = true;
    woken_.notify_all();
}

void Session::run(const std::stop_token& stop) {
    ::pthread_setname_np(::pthread_self(), "etcd-session");
    while (pause(stop)) {
        try {
            step(stop);
            failing_ = false;
        } catch (const Error& e) {
            failing_ = true;
            ++counters_.renewals_failed;
            log::debug("the session in etcd could not be kept", {{"error", e.what()}});
        }
    }
}

// Until something is to be done; false: nothing any more.
bool Session::pause(const std::stop_token& stop) {
    if (failing_) return clock_.wait(stop, retry_pause);
    std::unique_lock lock(mutex_);
    woken_.wait_for(lock, stop, lease_.until_due(), [this] { return wake_; });
    wake_ = false;
    return !stop.stop_requested();
}

// The keys are read with each renewal, since a watch that has died without a word tells of no change.
void Session::step(const std::stop_token& stop) {
    if (failing_ || lease_.until_due() == Duration::zero()) {
        keep();
        members_.read();
        leadership_.look();
        if (placed_ && leadership_.leading() && members_.lead().holder != options_.manager)
            leadership_.restore();
    }
    if (placed_ && campaigning_ && leadership_.following() && may_lead()) try_to_lead(stop);
}

void Session::keep() {
    if (!lease_.renew()) {
        placed_ = false;
        lease_.grant();
    }
    if (presence_.is_outdated()) placed_ = false;
    if (placed_ || !is_announced()) return;
    if (leadership_.leading()) leadership_.restore();
    placed_ = true;
}

// False while somebody else has taken the name, when this manager was away: with the next renewal it tries
// again.
bool Session::is_announced() {
    try {
        presence_.announce();
        not_here_.clear();
        return true;
    } catch (const Error& e) {
        if (e.code() != ErrorCode::conflict) throw;
        if (not_here_ != e.what()) log::error("this manager is none of the cluster", {{"reason", e.what()}});
        not_here_ = e.what();
        return false;
    }
}

bool Session::may_lead() {
    std::string reason = reason_not_to_lead(members_.schema(), options_.schema);
    if (!reason.empty() && reason != told_) log::warning("this manager cannot lead", {{"reason", reason}});
    told_ = std::move(reason);
    return told_.empty();
}

void Session::try_to_lead(const std::stop_token& stop) {
    const auto is_free = [this] {
        const std::string holder = members_.lead().holder;
        return holder.empty() || holder == options_.manager;
    };
    if (!is_free() || !clock_.wait(stop, head_start())) return;
    for (int i = 0; i < max_takes && is_free(); ++i) {
        if (leadership_.take()) return;
        members_.read();
    }
}

}  // namespace svc::etcd
