#pragma once
// The progress of unpacking and downloading as operations show it.
#include <cstdint>

#include "libsvc/base/json.h"
#include "libsvc/operations/engine.h"
#include "libsvc/runtime/runtime.h"

namespace svc {

// {"percent", "processed", "total"}, the last two in bytes; percent is 0 while `total` is unknown (0).
Json progress_json(std::uint64_t bytes, std::uint64_t total);
// For LayerStore::add(): shows its progress in the metadata of the operation and stops with it. Use it no
// longer than `context`.
LayerStore::Progress unpack_progress(OperationContext& context);

}  // namespace svc
