#pragma once
// Trying again what lost a race for a record.
#include <utility>

#include "libsvc/base/error.h"

namespace svc {

// Each conflict needs another writer to have won; beyond that something is broken.
template <class F>
auto retry_on_conflict(F&& start) {
    constexpr int max_attempts = 20;
    for (int attempt = 1;; ++attempt) {
        try {
            return start();
        } catch (const Error& e) {
            if (e.code() != ErrorCode::conflict || attempt == max_attempts) throw;
        }
    }
}

}  // namespace svc
