#pragma once
// The seam to storage of bytes under the SHA-256 of their content: uploaded packages, logs of failed
// instances. A blob is visible only
// when it is complete, checked and synced.
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/blobs/scratch_file.h"

namespace svc {

struct BlobInfo {
    std::string digest;  // SHA-256, lower-case hex
    std::uint64_t size = 0;
};

// Receives the bytes of one new blob. One thread at a time. Destroyed without commit(): nothing is left. Part
// of the seam: each kind of blob store has its own commit.
class BlobWriter {
  public:
    virtual ~BlobWriter() = default;
    virtual void write(std::string_view data) = 0;  // throws exhausted when the disk is full
    // Ends the hash and syncs the bytes. The blob is not visible yet, so that the caller may compare the
    // digest and read the file at path().
    virtual BlobInfo finish() = 0;
    virtual const std::filesystem::path& path() const = 0;
    // After finish(), where a store keeps several copies: sends the others. commit() then only looks whether
    // they are there, so that a caller need not hold a lock for as long as a transfer takes.
    virtual void send_copies() {}
    virtual void commit() = 0;  // after finish(): visible from here on; a blob that exists already is kept
    // As commit(), for what is not worth an error or a pause: where a store keeps several copies, and cannot
    // make another one at once, there is one until keep_copies() makes up for it.
    virtual void commit_even_alone() { commit(); }
};

// Thread-safe.
class BlobStore {
  public:
    virtual ~BlobStore() = default;
    // Throws exhausted "not enough space for an upload of N bytes: M free" when `expected_size` (0: not
    // known) and a reserve do not fit.
    virtual std::unique_ptr<BlobWriter> create(std::uint64_t expected_size) = 0;
    // Beside the uploads, and within the same reserve.
    virtual ScratchFile scratch() = 0;
    virtual std::filesystem::path path(std::string_view digest) = 0;  // a readable file; throws not_found
    virtual bool contains(std::string_view digest) = 0;
    virtual void remove(std::string_view digest) = 0;  // absent is fine
    virtual std::vector<BlobInfo> list() = 0;
    // Makes up for copies of these that were lost, where a store keeps several of each. Called now and then.
    virtual void keep_copies(const std::set<std::string, std::less<>>& wanted) { static_cast<void>(wanted); }
};

}  // namespace svc
