#pragma once
// Retrying a commit that another writer of the record was faster than.
#include <utility>

#include "libsvc/base/error.h"

namespace svc {

// Each conflict means that another writer was faster; after 20 attempts the conflict is thrown. `check` runs
// before each attempt, and what it throws is not retried: a name that is taken is a conflict, too.
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
