#pragma once
// Browsers that are logged in (extension `sessions`; docs/trust.md).
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/base/guarded.h"
#include "libsvc/base/id.h"
#include "libsvc/base/thread_pool.h"
#include "libsvc/net/server/try_limit.h"
#include "libsvc/services/configuration/config_service.h"
#include "libsvc/services/trust/browser_session_ends.h"
#include "libsvc/services/trust/certificate_service.h"
#include "libsvc/services/trust/login_links.h"

namespace svc {

// Where a browser logs in from.
struct BrowserPlace {
    std::string address;
    std::string user_agent;  // cut to 200 bytes
};

// A session as its maker sees it, once: secret and key are stored as hashes only.
struct OpenedSession {
    std::shared_ptr<const BrowserSession> session;
    std::string secret;  // the value of the cookie
    std::string key;     // what the page shows with it
};

struct IssuedTicket {
    std::string text;
    Time expires_at{};
};

// Thread-safe. find(), find_by_id(), use_is_due() read memory only, which follows what other managers store;
// all that changes something is for the manager that leads.
class BrowserSessionService {
  public:
    BrowserSessionService(BrowserSessions& sessions, BrowserSessionEnds& ends, const ConfigService& config,
                          const CertificateService& certificates, const Clock& clock, IdSource& ids);
    ~BrowserSessionService();
    BrowserSessionService(const BrowserSessionService&) = delete;
    BrowserSessionService& operator=(const BrowserSessionService&) = delete;

    // Logs a browser in: whoever calls it has found out who that is. At most 1000 sessions; throws exhausted.
    // Of a user, who is a name with its certificate and method, the one that was not used for longest ends
    // when there are 50.
    OpenedSession open(LoginMethod method, LinkGrant grant, BrowserPlace place);

    // A link for the user of `maker`. Throws forbidden for a higher role than the maker's, and for another
    // name unless the maker is an admin; exhausted.
    IssuedLink invite(const LinkRequest& request, LinkGrant maker);
    // Opens the session of a link. Throws forbidden "Not Authorized" for one that is wrong, used or expired,
    // or of a session that has ended; forbidden "try again in ..." instead while the address is blocked.
    // `former`: the session that the browser has had, which ends; null: none.
    OpenedSession follow(std::string_view link, BrowserPlace place, const BrowserSession* former = nullptr);

    // A ticket for a download of `path`, for a minute; see session_keys.h.
    IssuedTicket ticket(const BrowserSession& session, std::string_view path) const;
    bool takes_ticket(const BrowserSession& session, std::string_view path, std::string_view ticket) const;

    // The session of a cookie, or of an id, if it has not ended; its role is at most that of its certificate
    // at this moment. Null: there is none. A cookie alone lets nobody in: see session_keys.h. Called for each
    // request.
    std::shared_ptr<const BrowserSession> find(std::string_view secret) const;
    std::shared_ptr<const BrowserSession> find_by_id(std::string_view id) const;
    std::vector<std::shared_ptr<const BrowserSession>> list() const;  // that have not ended
    // Ends the session, and what it has made: its open links, and the sessions that were opened by its links.
    // Throws not_found.
    void end(std::string_view id);

    // True: the stored time of the last use is a minute old, so the leader has to hear of this one.
    bool use_is_due(const BrowserSession& session) const;
    // Stores that the session is used now, on a thread of this service. For the leader alone.
    void note_use(const BrowserSession& session);
    // Called when sessions have ended, also by the work of another manager, so that their connections are
    // closed; on a thread of this service.
    void on_end(std::function<void()> listener);
    void remove_ended();  // a periodic job
    // Forgets the listeners; uses are not stored any more.
    void stop();

  private:
    std::shared_ptr<const BrowserSession> checked(std::shared_ptr<const BrowserSession> session) const;
    void make_room_for(const BrowserSession& session);
    void remove_with_children(const std::string& id);
    void hand_on_children(const BrowserSession& session);
    bool is_over(const BrowserSession& session) const;
    void store_use(const std::string& id);
    void hear_of_end();
    void tell_listeners();

    BrowserSessions& sessions_;
    BrowserSessionEnds& ends_;
    const ConfigService& config_;
    const CertificateService& certificates_;
    const Clock& clock_;
    IdSource& ids_;
    LoginLinks links_;
    TryLimit tries_;
    std::mutex opening_;
    Guarded<std::set<std::string>> uses_to_store_;  // ids
    std::atomic<bool> end_to_tell_{false};
    Guarded<std::vector<std::function<void()>>> listeners_;
    ThreadPool worker_;  // last: its thread ends first
};

}  // namespace svc
