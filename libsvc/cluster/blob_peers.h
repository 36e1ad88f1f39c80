#pragma once
// What a manager asks other managers about packages: the other side of blob_routes().
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/blobs/blob_store.h"
#include "libsvc/cluster/peer.h"
#include "libsvc/net/http/client_message.h"
#include "libsvc/store/membership.h"

namespace svc {

// Thread-safe; each call is a connection of its own and blocks. All throw unavailable where the manager
// cannot be reached or breaks off, and another Error "manager m2: ..." where it refuses.
class BlobPeers {
  public:
    // `answer` is how long a question may take; a transfer may pause for `pause`.
    explicit BlobPeers(PeerIdentity identity, std::chrono::milliseconds answer = std::chrono::seconds(5),
                       std::chrono::milliseconds pause = std::chrono::seconds(60))
        : identity_(std::move(identity)), answer_(answer), pause_(pause) {}

    std::vector<BlobInfo> list(const Manager& manager) const;
    std::optional<std::uint64_t> size(const Manager& manager, std::string_view digest) const;  // absent: none
    // Gives `take` the bytes from `offset` on, to the last one. What `take` throws passes through.
    void fetch(const Manager& manager, std::string_view digest, std::uint64_t offset,
               const std::function<void(std::string_view)>& take) const;
    // The file is the package; the manager checks that.
    void push(const Manager& manager, std::string_view digest, const std::filesystem::path& file) const;
    // In the name of the leader of that term.
    void remove(const Manager& manager, std::string_view digest, std::uint64_t term) const;

  private:
    ClientReply call(const Manager& manager, const ClientRequest& request) const;

    const PeerIdentity identity_;
    const std::chrono::milliseconds answer_, pause_;
};

}  // namespace svc
