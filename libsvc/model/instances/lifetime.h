#pragma once
// When an instance is deleted by itself (docs/management.md, "Time to live").
#include <optional>
#include <string>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/base/json.h"

namespace svc {

// The limits of an instance, as its record has them.
struct Lifetime {
    Time expires_at{};      // Time{}: never
    Duration idle_after{};  // 0: however long nobody uses it
    Time used_at{};         // with idle_after: a use, and no other use was a quarter of idle_after later
    bool is_limited() const { return expires_at != Time{} || idle_after != Duration::zero(); }
    bool operator==(const Lifetime&) const = default;
};

// What a launch or a PATCH asks for. What is not there stays as it is; 0: never.
struct LifetimeWish {
    std::optional<Duration> expires_after;  // from the request on
    std::optional<Duration> idle_after;

    // The fields of a body. Throws invalid_argument with the name of the field.
    static LifetimeWish from_json(const JsonFields& fields);
    bool empty() const { return !expires_after && !idle_after; }
    Lifetime applied_to(Lifetime lifetime, Time now) const;
};

// Body of POST /1.0/uses: instances that somebody uses at this moment.
struct UseReport {
    std::vector<std::string> instances;            // ids, at most 1000
    static UseReport from_json(const Json& body);  // throws invalid_argument
};

}  // namespace svc
