#pragma once
// The version of the stored records.

namespace svc {

// Grows by one with each change of any record that an older program must not read or write over: a new field
// that it would drop, a new meaning. The changed noun writes this number into its records ("schema"); the
// others keep theirs. A record with a higher number than this one is not read (docs/store.md).
inline constexpr int records_schema = 7;

}  // namespace svc
