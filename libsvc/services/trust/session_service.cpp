#include "libsvc/services/trust/session_service.h"

#include <algorithm>
#include <utility>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"
#include "libsvc/services/trust/log_for_admins.h"
#include "libsvc/services/trust/session_keys.h"

namespace svc {

namespace {

constexpr std::size_t max_sessions = 1000;
constexpr std::size_t max_sessions_of_user = 50;
constexpr std::size_t max_user_agent = 200;
constexpr std::chrono::minutes use_granularity{1};  // a use within it is not stored
constexpr std::chrono::minutes ticket_validity{1};

// Pieces of a character at the cut, and what no terminal should get, are left out.
std::string printable(std::string_view text) {
    std::string kept;
    for (const char c : text.substr(0, max_user_agent))
        if (c >= ' ' && c <= '~') kept += c;
    return kept;
}

}  // namespace

// The worker has room for each session's use, and for the news that some have ended.
BrowserSessionService::BrowserSessionService(BrowserSessions& sessions, BrowserSessionEnds& ends,
                                             const ConfigService& config,
                                             const CertificateService& certificates, const Clock& clock,
                                             IdSource& ids)
    : sessions_(sessions),
      ends_(ends),
      config_(config),
      certificates_(certificates),
      clock_(clock),
      ids_(ids),
      links_(clock, ids),
      tries_(clock),
      worker_("sessions", 1, 2 * max_sessions) {
    ends_.on_end([this] { hear_of_end(); });
}

BrowserSessionService::~BrowserSessionService() {
    ends_.on_end({});
}

OpenedSession BrowserSessionService::open(LoginMethod method, LinkGrant grant, BrowserPlace place) {
    const Time now = clock_.now();
    const Time end = now + config_.values().duration("sessions.lifetime");
    BrowserSession session;
    const std::string secret = ids_.secret(), key = ids_.secret();
    session.id = ids_.object_id();
    session.secret_hash = sha256_hex(secret);
    session.key_hash = sha256_hex(key);
    session.name = std::move(grant.name);
    session.role = grant.role;
    session.method = method;
    session.certificate = std::move(grant.certificate);
    session.parent = std::move(grant.session);
    session.address = std::move(place.address);
    session.user_agent = printable(place.user_agent);
    session.created_at = session.used_at = now;
    session.expires_at = std::min(end, grant.until.value_or(end));
    const std::lock_guard lock(opening_);
    if (!session.parent.empty() && !find_by_id(session.parent))  // it has ended meanwhile, with its links
        throw Error(ErrorCode::forbidden, "Not Authorized");
    make_room_for(session);
    const auto opened = sessions_.create(std::move(session));
    log::info("session opened", {{"session", opened->id},
                                 {"name", opened->name},
                                 {"role", std::string(to_text(opened->role))},
                                 {"method", std::string(to_text(opened->method))},
                                 {"address", opened->address},
                                 for_admins});
    return {opened, secret, key};
}

// Nobody keeps others out: a user has but a part of the room.
void BrowserSessionService::make_room_for(const BrowserSession& session) {
    auto of_user = sessions_.list();
    std::erase_if(of_user, [&](const auto& other) {
        return other->name != session.name || other->certificate != session.certificate ||
               other->method != session.method || is_over(*other);
    });
    if (of_user.size() >= max_sessions_of_user) {
        const auto by_use = [](const auto& a, const auto& b) { return a->used_at < b->used_at; };
        remove_with_children((*std::ranges::min_element(of_user, by_use))->id);
    }
    if (sessions_.size() >= max_sessions) throw Error(ErrorCode::exhausted, "too many sessions");
}

IssuedLink BrowserSessionService::invite(const LinkRequest& request, LinkGrant maker) {
    if (request.role.value_or(maker.role) > maker.role)
        throw Error(ErrorCode::forbidden, "a link cannot give the role " +
                                              std::string(to_text(*request.role)) + ": " + maker.name +
                                              " has " + std::string(to_text(maker.role)));
    if (!request.name.empty() && request.name != maker.name && maker.role != Role::admin)
        throw Error(ErrorCode::forbidden, "only the role admin makes links for others");
    if (request.role) maker.role = *request.role;
    if (!request.name.empty()) maker.name = request.name;
    return links_.issue(std::move(maker));
}

// A right link is never refused for the wrong ones of its address. A browser has one session: where its own
// has made the link, the new one takes the place of that and does not end with it.
OpenedSession BrowserSessionService::follow(std::string_view link, BrowserPlace place,
                                            const BrowserSession* former) {
    auto grant = links_.use(link);
    if (!grant) {
        const auto wrong = tries_.begin(place.address, TryLimit::Secret::token);
        log::warning("wrong login link", {{"address", place.address}, for_admins});
        throw Error(ErrorCode::forbidden, "Not Authorized");
    }
    if (former && grant->session == former->id) grant->session = former->parent;
    OpenedSession opened = open(LoginMethod::link, std::move(*grant), std::move(place));
    if (!former) return opened;
    const std::lock_guard lock(opening_);
    remove_with_children(former->id);
    return opened;
}

IssuedTicket BrowserSessionService::ticket(const BrowserSession& session, std::string_view path) const {
    const Time end = clock_.now() + ticket_validity;
    return {make_ticket(session, path, end), end};
}

bool BrowserSessionService::takes_ticket(const BrowserSession& session, std::string_view path,
                                         std::string_view ticket) const {
    return is_ticket_of(session, path, ticket, clock_.now());
}

std::shared_ptr<const BrowserSession> BrowserSessionService::find(std::string_view secret) const {
    const std::string hash = sha256_hex(secret);
    auto session = sessions_.find(hash);
    return session && session->secret_hash == hash ? checked(std::move(session)) : nullptr;
}

std::shared_ptr<const BrowserSession> BrowserSessionService::find_by_id(std::string_view id) const {
    auto session = sessions_.find(id);
    return session && session->id == id ? checked(std::move(session)) : nullptr;
}

bool BrowserSessionService::is_over(const BrowserSession& session) const {
    if (session.key_hash.empty()) return true;
    const Time now = clock_.now();
    const Duration idle = config_.values().duration("sessions.idle_timeout");
    if (now >= session.expires_at || now >= session.used_at + use_granularity + idle) return true;
    return !session.certificate.empty() && !certificates_.valid(session.certificate);
}

std::shared_ptr<const BrowserSession> BrowserSessionService::checked(
    std::shared_ptr<const BrowserSession> session) const {
    if (is_over(*session)) return nullptr;
    if (session->certificate.empty()) return session;
    const auto certificate = certificates_.valid(session->certificate);
    if (!certificate || certificate->role >= session->role) return certificate ? session : nullptr;
    auto lower = std::make_shared<BrowserSession>(*session);
    lower->role = certificate->role;
    return lower;
}

std::vector<std::shared_ptr<const BrowserSession>> BrowserSessionService::list() const {
    std::vector<std::shared_ptr<const BrowserSession>> all;
    for (auto& session : sessions_.list())
        if (auto present = checked(std::move(session))) all.push_back(std::move(present));
    return all;
}

void BrowserSessionService::end(std::string_view id) {
    const auto session = find_by_id(id);
    if (!session) throw Error(ErrorCode::not_found, "session not found");
    const std::lock_guard lock(opening_);
    remove_with_children(session->id);
    log::info("session ended", {{"session", session->id}, {"name", session->name}, for_admins});
}

// Whoever opens a session holds the same lock: none is opened for a parent that has ended. What another
// request has ended at the same time is no error.
void BrowserSessionService::remove_with_children(const std::string& id) {
    links_.drop_of(id);
    try {
        sessions_.remove(id);
    } catch (const Error& e) {
        if (e.code() != ErrorCode::not_found) throw;
    }
    for (const auto& other : sessions_.list())
        if (other->parent == id) remove_with_children(other->id);
}

bool BrowserSessionService::use_is_due(const BrowserSession& session) const {
    return clock_.now() >= session.used_at + use_granularity;
}

void BrowserSessionService::note_use(const BrowserSession& session) {
    if (!uses_to_store_.with([&](auto& ids) { return ids.insert(session.id).second; })) return;
    if (!worker_.post([this, id = session.id] { store_use(id); }))
        uses_to_store_.with([&](auto& ids) { ids.erase(session.id); });
}

// A use that cannot be stored is stored with the next request. The session may have ended meanwhile.
void BrowserSessionService::store_use(const std::string& id) {
    uses_to_store_.with([&](auto& ids) { ids.erase(id); });  // first: a use from now on is stored again
    try {
        if (sessions_.find(id))
            sessions_.update(
                id, [now = clock_.now()](BrowserSession& s) { s.used_at = std::max(s.used_at, now); });
    } catch (const Error& e) {
        if (e.code() != ErrorCode::not_found)
            log::warning("the use of a session cannot be stored", {{"session", id}, {"error", e.what()}});
    }
}

void BrowserSessionService::hear_of_end() {
    if (end_to_tell_.exchange(true)) return;
    if (!worker_.post([this] { tell_listeners(); })) end_to_tell_ = false;
}

void BrowserSessionService::tell_listeners() {
    end_to_tell_ = false;  // first: what ends from now on is told again
    const auto listeners = listeners_.with([](const auto& all) { return all; });
    for (const auto& listener : listeners) listener();
}

void BrowserSessionService::on_end(std::function<void()> listener) {
    listeners_.with([&](auto& all) { all.push_back(std::move(listener)); });
}

void BrowserSessionService::stop() {
    worker_.stop();
    listeners_.with([](auto& all) { all.clear(); });
}

void BrowserSessionService::remove_ended() {
    const std::lock_guard lock(opening_);
    for (const auto& session : sessions_.list()) {
        if (!is_over(*session)) continue;
        hand_on_children(*session);
        sessions_.remove(session->id);
    }
}

// What a session has made outlives its time-out, but not the end of the session that has made it.
void BrowserSessionService::hand_on_children(const BrowserSession& session) {
    for (const auto& other : sessions_.list())
        if (other->parent == session.id)
            sessions_.update(other->id, [&](BrowserSession& child) { child.parent = session.parent; });
}

}  // namespace svc
