#pragma once
// How the sessions of browsers are kept in the store.
#include <string>
#include <string_view>

#include "libsvc/model/cluster/browser_session.h"
#include "libsvc/store/collection.h"

namespace svc {

// The hash of the secret is the unique name: a request's session is found by it.
template <>
struct RecordTraits<BrowserSession> {
    static constexpr std::string_view noun = "session";
    static constexpr std::string_view prefix = "sessions/";
    static const std::string& id(const BrowserSession& s) { return s.id; }
    static std::string name(const BrowserSession& s) { return s.secret_hash; }
    static Json to_store(const BrowserSession& s) { return browser_session_to_store(s); }
    static BrowserSession from_store(const Json& j) { return browser_session_from_store(j); }
};
using BrowserSessions = Collection<BrowserSession>;

}  // namespace svc
