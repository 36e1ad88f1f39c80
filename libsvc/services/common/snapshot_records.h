#pragma once
// How snapshots are kept in the store.
#include <string>
#include <string_view>

#include "libsvc/model/instances/snapshot.h"
#include "libsvc/store/collection.h"

namespace svc {

template <>
struct RecordTraits<Snapshot> {
    static constexpr std::string_view noun = "snapshot";
    static constexpr std::string_view prefix = "snapshots/";
    static const std::string& id(const Snapshot& s) { return s.id.str(); }
    static std::string name(const Snapshot&) { return ""; }  // names are unique within an instance alone
    static Json to_store(const Snapshot& s) { return snapshot_to_store(s); }
    static Snapshot from_store(const Json& j) { return snapshot_from_store(j); }
};
using Snapshots = Collection<Snapshot>;

}  // namespace svc
