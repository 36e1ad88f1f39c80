#pragma once
// How the sessions of browsers are kept in the store, and who hears that one has ended.
#include <functional>
#include <string>
#include <string_view>

#include "libsvc/base/guarded.h"
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

// Tells that a session has gone, whoever has stored that: this process, or another manager. Thread-safe.
// Outlives the collection that it observes.
class BrowserSessionEnds {
  public:
    // For the constructor of the collection.
    BrowserSessions::Observer observer() {
        return [this](const BrowserSession*, const BrowserSession* after) {
            if (after) return;
            listener_.with([](const auto& listener) {
                if (listener) listener();
            });
        };
    }
    // Called with the collection's lock held: must be quick and not use it. Not called any more once it was
    // set anew.
    void on_end(std::function<void()> listener) {
        listener_.with([&](auto& present) { present = std::move(listener); });
    }

  private:
    Guarded<std::function<void()>> listener_;
};

}  // namespace svc
