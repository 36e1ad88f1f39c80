#pragma once
// What a manager offers the others about its packages:
//   GET    blobs            [{"digest", "size"}, ...]
//   GET    blobs/<digest>   the bytes, from ?from=N on; HEAD tells whether it is there, and its size
//   PUT    blobs/<digest>   keeps the body, if it is what the digest says
//   DELETE blobs/<digest>   in the name of the leader, as a call of a node: `Svc-Term` is its term
#include <string>
#include <vector>

#include "libsvc/blobs/blob_store.h"
#include "libsvc/cluster/peer.h"
#include "libsvc/cluster/term_guard.h"
#include "libsvc/net/http/router.h"

namespace svc {

inline constexpr std::string_view peer_blobs_path = "/internal/1.0/blobs";

// Both must outlive the routes. Who may call them is for the listener to check.
std::vector<Route> blob_routes(BlobStore& local, TermGuard& guard);

}  // namespace svc
