#include "libsvc/store/etcd/ownership.h"

#include <pthread.h>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"

namespace svc::etcd {

namespace {

constexpr const char* transaction_path = "/v3/kv/txn";
constexpr int max_takes = 10;  // each needs somebody else to have come and gone

std::string member_text(const std::string& description, std::string_view key) {
    try {
        return Json::parse(description).at(key).as_string();
    } catch (const Error&) {
        return "";
    }
}

}  // namespace

Ownership::Ownership(Cluster& cluster, const EtcdOptions& options, Clock& clock)
    : cluster_(cluster), options_(options), keys_(options.root), clock_(clock) {
    take();
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

Ownership::~Ownership() {
    thread_.request_stop();
    thread_.join();
    try {
        cluster_.call("/v3/lease/revoke", Json::object({{"ID", std::to_string(lease_)}}));
    } catch (const Error& e) {
        log::debug("the lease of this manager ends by itself", {{"error", e.what()}});
    }
}

std::string Ownership::described() const {
    return Json::object({{"id", options_.manager}, {"host", options_.host}}).dump();
}

std::uint64_t Ownership::grant() {
    const Json reply =
        cluster_.call("/v3/lease/grant", Json::object({{"TTL", std::to_string(options_.lease.count())}}));
    return number(reply, "ID");
}

void Ownership::take() {
    lease_ = grant();
    for (int i = 0; i < max_takes; ++i)
        if (take_from(read_range(cluster_, range_request({keys_.manager(), ""})))) return;
    throw Error(ErrorCode::busy, "several managers want the same records in etcd");
}

// False when the holder is another one by now.
bool Ownership::take_from(const Page& holder) {
    if (!holder.entries.empty() && member_text(holder.entries[0].value, "id") != options_.manager)
        throw Error(ErrorCode::busy, "the records in etcd are in use by another svcd, on host " +
                                         quoted(member_text(holder.entries[0].value, "host")));
    Transaction transaction;
    transaction.expect(keys_.manager(), revision_of_first(holder));
    transaction.put(keys_.manager(), described(), lease_);
    transaction.put(keys_.owner(), options_.manager);
    const auto reply = read_transaction(cluster_.call(transaction_path, transaction.request()));
    if (reply.succeeded) fence_ = reply.revision;
    return reply.succeeded;
}

void Ownership::run(const std::stop_token& stop) {
    ::pthread_setname_np(::pthread_self(), "etcd-lease");
    while (!lost_ && clock_.wait(stop, options_.lease / 3)) {
        try {
            renew();
        } catch (const Error& e) {
            log::debug("the lease in etcd could not be renewed", {{"error", e.what()}});
        }
    }
}

// A lease that has ended is answered without a time to live.
void Ownership::renew() {
    const Json reply = cluster_.call("/v3/lease/keepalive", Json::object({{"ID", std::to_string(lease_)}}));
    const Json* const result = reply.find("result");
    if (result == nullptr || number(*result, "TTL") == 0) take_again();
}

// Whoever came in between would have become the owner.
void Ownership::take_again() {
    lease_ = grant();
    Transaction transaction;
    transaction.expect(keys_.owner(), fence_);
    transaction.put(keys_.manager(), described(), lease_);
    if (!read_transaction(cluster_.call(transaction_path, transaction.request())).succeeded) lose();
}

void Ownership::lose() {
    if (!lost_.exchange(true) && options_.on_lost) options_.on_lost();
}

}  // namespace svc::etcd
