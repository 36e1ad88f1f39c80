#include "server/http/refusal.h"

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/model/values/api.h"
#include "libsvc/store/store_unavailable.h"

namespace svc::server {

Refusal refusal_of(const std::exception& error) {
    const auto* known = dynamic_cast<const Error*>(&error);
    if (dynamic_cast<const TryLater*>(&error)) return {503, known->what()};
    const bool elsewhere = dynamic_cast<const StoreUnavailable*>(&error) != nullptr;
    const int status = elsewhere ? 503 : known ? http_status(known->code()) : 500;
    const bool ours = !known || known->code() == ErrorCode::internal;
    if (status >= 500) (ours ? log::error : log::warning)("request failed", {{"error", error.what()}});
    return {status, known ? known->what() : "internal error"};
}

}  // namespace svc::server
