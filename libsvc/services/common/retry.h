#pragma once
// Trying again what lost a race for a record.
#include <utility>

#include "libsvc/base/error.h"

namespace svc {

// Each conflict needs another writer to have won; beyond that something is broken. `check` comes before each
// attempt, and what it throws is final: a name that is taken is a conflict too, but not one of writers.
template <class Check, class Start>
auto retry_on_conflict(Check&& check, Start&& start) {
    constexpr int max_attempts = 20;
    for (int attempt = 1;; ++attempt) {
        check();
        try {
            return start();
        } catch (const Error& e) {
            if (e.code() != ErrorCode::conflict || attempt == max_attempts) throw;
        }
    }
}

template <class Start>
auto retry_on_conflict(Start&& start) {
    return retry_on_conflict([] {}, std::forward<Start>(start));
}

}  // namespace svc
