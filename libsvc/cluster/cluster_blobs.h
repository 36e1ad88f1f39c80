#pragma once
// The packages of a cluster: each manager keeps some on its own disk, and every package that a record needs
// is kept by two of them (docs/managers.md, "Packages and layers").
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "libsvc/blobs/blob_store.h"
#include "libsvc/cluster/blob_peers.h"
#include "libsvc/cluster/transfer_turns.h"
#include "libsvc/store/membership.h"

namespace svc {

// How many packages the records need, and of how many there are too few copies. Plain value.
struct PackageCopies {
    std::uint64_t needed = 0;
    std::uint64_t single = 0;  // kept by one manager alone
    std::uint64_t none = 0;    // kept by no manager that can be asked
};

struct ClusterBlobsOptions {
    // Of a commit, until a manager that does not answer is known to live no more, or answers.
    std::chrono::milliseconds patience{10'000};
    std::size_t fetches_at_once = 4;
    // Before a removal, in the term of this leader: it runs while the returned value exists. Throws where
    // this manager may not lead any more.
    std::function<std::shared_ptr<void>(std::uint64_t term)> enter = {};
};

// Thread-safe. Calls that need other managers block. `local` and `membership` must outlive it.
class ClusterBlobs final : public BlobStore {
  public:
    ClusterBlobs(BlobStore& local, Membership& membership, PeerIdentity identity,
                 const ClusterBlobsOptions& options = {});
    ~ClusterBlobs() override;

    // commit() of the writer returns when two managers have the package; a manager that lives alone says so
    // in its log. Throws unavailable where others live and none of them takes it.
    std::unique_ptr<BlobWriter> create(std::uint64_t expected_size) override;
    ScratchFile scratch() override { return local_.scratch(); }
    // Fetches it from a manager that has it where this one does not. Throws not_found when none has it, and
    // unavailable when one that may have it cannot be asked.
    std::filesystem::path path(std::string_view digest) override;
    bool contains(std::string_view digest) override;  // any manager that can be asked
    // Here and at all managers that can be reached; for the leader alone, others get unavailable.
    void remove(std::string_view digest) override;
    std::vector<BlobInfo> list() override;  // of all managers that can be reached
    void keep_copies(const std::set<std::string, std::less<>>& wanted) override;
    // As the last keep_copies() has found them, before it copied; zeros before the first one.
    PackageCopies copies() const;

  private:
    class Writer;
    std::vector<Manager> others(std::string_view digest) const;
    void keep_second(const std::string& digest, const std::filesystem::path& file);
    void offer_second(const std::string& digest, const std::filesystem::path& file) const;
    bool is_taken_by_one(const std::vector<Manager>& managers, const std::string& digest,
                         const std::filesystem::path& file, std::string& failure) const;
    std::uint64_t changes();  // of the membership, so far
    bool await_change(std::uint64_t seen, std::chrono::steady_clock::time_point end);
    void offer(const Manager& manager, const std::string& digest, const std::filesystem::path& file) const;
    void fetch(const std::string& digest);
    std::map<std::string, std::set<std::string>> holders() const;
    void copy(const std::string& digest, const std::set<std::string>& having);
    std::uint64_t own_term() const;

    BlobStore& local_;
    Membership& membership_;
    const BlobPeers peers_;
    const ClusterBlobsOptions options_;
    TransferTurns fetches_;
    mutable std::mutex mutex_;
    PackageCopies copies_;
    std::condition_variable changed_;
    std::uint64_t changes_ = 0;
    std::shared_ptr<void> following_;  // last: its calls use the rest
};

}  // namespace svc
