#pragma once
// What a page shows besides its session's cookie. Browsers send a cookie to every port of its host, so that
// programs on other ports get it as well; the key is in storage that belongs to the page's origin alone.
#include <string>
#include <string_view>

#include "libsvc/model/cluster/browser_session.h"

namespace svc {

bool is_key_of(const BrowserSession& session, std::string_view key);

// In place of the key where a browser sends no header: for GET of one path, with the session's cookie, until
// `end`. All managers can check it: nothing is stored.
std::string make_ticket(const BrowserSession& session, std::string_view path, Time end);
bool is_ticket_of(const BrowserSession& session, std::string_view path, std::string_view ticket, Time now);

}  // namespace svc
