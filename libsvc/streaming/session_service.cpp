#include "libsvc/streaming/session_service.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/streaming/session_implementation.h"

namespace svc {

namespace {

constexpr std::size_t event_threads = 4;
constexpr std::size_t call_threads = 8;      // of each region
constexpr std::size_t removal_threads = 16;  // likewise: deletions wait for guests to stop
constexpr std::size_t max_queued = 1'000'000;

constexpr std::size_t few = 8;  // one of so many

using Record = std::shared_ptr<const StreamSession>;

bool sees(const SessionOwner& owner, const StreamSession& session) {
    return !session.forgotten && (owner.empty() || session.account == owner);
}

using Order = int (*)(const StreamSession&, const StreamSession&);

template <auto member>
int by(const StreamSession& a, const StreamSession& b) {
    return a.*member < b.*member ? -1 : b.*member < a.*member ? 1 : 0;
}

int by_status(const StreamSession& a, const StreamSession& b) {
    return to_text(a.status).compare(to_text(b.status));
}

Order order_of(const std::string& field) {
    static const std::map<std::string, Order> orders{
        {"app", by<&StreamSession::app>},
        {"region", by<&StreamSession::region>},
        {"cluster_id", by<&StreamSession::region>},
        {"container_id", by<&StreamSession::container_id>},
        {"joinable", by<&StreamSession::joinable>},
        {"status", by_status},
        {"status_message", by<&StreamSession::status_message>},
        {"created_at", by<&StreamSession::created_at>},
        {"client_connected", by<&StreamSession::client_connected>}};
    const auto found = orders.find(field);
    return found == orders.end() ? by<&StreamSession::id> : found->second;
}

// The first `count`; those that are equal in the field are in the order of their ids.
void sort(std::vector<Record>& records, const SessionQuery& query, std::size_t count) {
    const Order order = order_of(query.sort_by);
    const auto before = [order, descending = query.descending](const Record& one, const Record& other) {
        const StreamSession& a = descending ? *other : *one;
        const StreamSession& b = descending ? *one : *other;
        const int first = order(a, b);
        return first != 0 ? first < 0 : a.id < b.id;
    };
    const auto end = records.begin() + static_cast<std::ptrdiff_t>(count);
    if (std::is_sorted(records.begin(), records.end(), before)) return;
    if (count < records.size() / few)
        std::partial_sort(records.begin(), end, records.end(), before);
    else
        std::sort(records.begin(), records.end(), before);
}

}  // namespace

SessionService::Implementation::Implementation(Parts parts, SessionServiceConfig config)
    : store_(parts.store),
      records_(parts.store, [this](const auto* before, const auto* after) { index_.note(before, after); }),
      clock_(parts.clock),
      ids_(parts.ids),
      regions_(parts.regions),
      relay_(parts.relay),
      mint_(parts.mint),
      config_(std::move(config)),
      fingerprint_(config_.fingerprint),
      self_(parts.ids.uuid()),
      calls_("session-calls", call_threads),
      removals_("session-ends", removal_threads) {
    for (std::size_t i = 0; i < event_threads; ++i)
        events_.push_back(std::make_unique<ThreadPool>("session-events", 1, max_queued));
}

SessionService::Implementation::~Implementation() {
    stop();
}

// What has an instance is compared with it as soon as its region answers.
void SessionService::Implementation::start() {
    for (const Ptr& session : records_.list()) {
        if (session->removal_due)
            schedule(session->id);
        else if (session->status != SessionStatus::terminated)
            open_again(*session);
    }
}

// Whoever was connected is not any more; who watches goes on watching, and who was let in may still come.
void SessionService::Implementation::open_again(const StreamSession& session) {
    relay_.open(session.id);
    if (session.expected && session.expected->until > clock_.now()) let_in(session.id, *session.expected);
    if (session.status == SessionStatus::created && session.container_id.empty()) schedule(session.id);
    if (!session.joinable && !session.client_connected) expect_client(session.id, false);
}

void SessionService::Implementation::stop() {
    stopping_ = true;
    stop_.request_stop();
    tell_all_waiting();
    calls_.stop();
    removals_.stop();
    for (const auto& thread : events_) thread->stop();
}

SessionService::Implementation::Ptr SessionService::Implementation::find_owned(const SessionOwner& owner,
                                                                               std::string_view id) const {
    if (!is_object_id(id))
        throw Error(ErrorCode::invalid_argument, "session id " + quoted(id) + " is invalid");
    Ptr session = records_.find(id);
    if (!session || !sees(owner, *session)) throw Error(ErrorCode::not_found, "session not found");
    return session;
}

StreamSession SessionService::Implementation::get(const SessionOwner& owner, std::string_view id) const {
    return *find_owned(owner, id);
}

SessionService::Page SessionService::Implementation::list(const SessionOwner& owner,
                                                          const SessionQuery& query) const {
    std::vector<Record> records = records_.list();
    std::erase_if(records, [&](const Record& session) {
        return !sees(owner, *session) || (query.status && session->status != *query.status);
    });
    Page page;
    page.total = records.size();
    const std::size_t first = std::min(query.offset, page.total);
    const std::size_t count = std::min(query.limit.value_or(page.total), page.total - first);
    sort(records, query, first + count);
    page.sessions.reserve(count);
    for (std::size_t i = first; i < first + count; ++i) page.sessions.push_back(*records[i]);
    return page;
}

void SessionService::Implementation::use_fingerprint(std::string fingerprint) {
    fingerprint_.with([&](std::string& present) { present = std::move(fingerprint); });
}

std::map<SessionStatus, std::size_t> SessionService::Implementation::counts() const {
    return index_.counts();
}

SessionService::SessionService(Parts parts, SessionServiceConfig config)
    : implementation_(std::make_unique<Implementation>(parts, std::move(config))) {}

SessionService::~SessionService() = default;

void SessionService::start() {
    implementation_->start();
}

void SessionService::stop() {
    implementation_->stop();
}

SessionGrant SessionService::create(const SessionOwner& owner, const SessionCreate& request) {
    return implementation_->create(owner, request);
}

SessionGrant SessionService::join(const SessionOwner& owner, std::string_view id,
                                  const SessionJoin& request) {
    return implementation_->join(owner, id, request);
}

StreamSession SessionService::get(const SessionOwner& owner, std::string_view id) const {
    return implementation_->get(owner, id);
}

SessionService::Page SessionService::list(const SessionOwner& owner, const SessionQuery& query) const {
    return implementation_->list(owner, query);
}

void SessionService::remove(const SessionOwner& owner, std::string_view id, Deletion how) {
    implementation_->remove(owner, id, how);
}

SessionDeletions SessionService::remove_all(const SessionOwner& owner, const std::vector<std::string>& ids,
                                            Deletion how) {
    return implementation_->remove_all(owner, ids, how);
}

void SessionService::remove_later(const SessionOwner& owner, const std::vector<std::string>& ids, bool force,
                                  Deleted done) {
    implementation_->remove_later(owner, ids, force, std::move(done));
}

std::shared_ptr<WebSocketHandler> SessionService::socket(std::string_view id, SocketRole role,
                                                         std::string_view token) {
    return implementation_->socket(id, role, token);
}

void SessionService::use_fingerprint(std::string fingerprint) {
    implementation_->use_fingerprint(std::move(fingerprint));
}

std::map<SessionStatus, std::size_t> SessionService::counts() const {
    return implementation_->counts();
}

void SessionService::end_ownerless() {
    implementation_->end_ownerless();
}

void SessionService::tick() {
    implementation_->tick();
}

void SessionService::instance_registered(const std::string& session) {
    implementation_->hand_over(session, [this, session] { implementation_->activate(session); });
}

void SessionService::instance_lost(const std::string& session) {
    implementation_->hand_over(session, [this, session] { implementation_->schedule(session); });
}

void SessionService::instance_status(const std::string& session, bool error, const std::string& message) {
    implementation_->hand_over(session, [this, session, error, message] {
        if (!error) return implementation_->activate(session);
        implementation_->fail(session, message.empty() ? "Container reported an error" : message);
    });
}

void SessionService::stream_changed(const std::string& session, bool active) {
    implementation_->hand_over(session, [this, session, active] {
        if (active) return implementation_->stream_began(session);
        implementation_->stream_ended(session, {"Client left", end_code::client_left});
    });
}

void SessionService::client_connected(const std::string& session) {
    implementation_->client_came(session);
}

void SessionService::client_disconnected(const std::string& session) {
    implementation_->client_went(session);
}

void SessionService::region_answers(const std::string& region) {
    implementation_->region_answers(region);
}

void SessionService::instance_changed(const std::string& region, const std::string& instance_id) {
    implementation_->instance_changed(region, instance_id);
}

}  // namespace svc
