#pragma once
// The seam to storage of bytes under the SHA-256 of their content: uploaded packages. A blob is visible only
// when it is complete, checked and synced.
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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
    virtual void commit() = 0;  // after finish(): visible from here on; a blob that exists already is kept
};

// Thread-safe.
class BlobStore {
  public:
    virtual ~BlobStore() = default;
    // Throws exhausted "not enough space for an upload of N bytes: M free" when `expected_size` (0: not
    // known) and a reserve do not fit.
    virtual std::unique_ptr<BlobWriter> create(std::uint64_t expected_size) = 0;
    virtual std::filesystem::path path(std::string_view digest) = 0;  // a readable file; throws not_found
    virtual bool contains(std::string_view digest) = 0;
    virtual void remove(std::string_view digest) = 0;  // absent is fine
    virtual std::vector<BlobInfo> list() = 0;
};

}  // namespace svc
