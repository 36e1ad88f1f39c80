#include "libsvc/blobs/dir_blob_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/failpoint.h"
#include "libsvc/base/file.h"
#include "libsvc/base/strings.h"

namespace svc {

namespace fs = std::filesystem;

namespace {

// Written back in steps of this size while more comes in, so that the final sync has little left to wait for.
constexpr std::uint64_t writeback_bytes = std::uint64_t{8} << 20;

fs::path blob_path(const fs::path& root, std::string_view digest) {
    return root / digest.substr(0, 2) / digest;
}

std::optional<std::uint64_t> blob_size(const fs::path& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) {
        if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
        throw system_error("cannot look at a stored package", errno);
    }
    if (!S_ISREG(status.st_mode)) return std::nullopt;
    return static_cast<std::uint64_t>(status.st_size);
}

Error blob_not_found(std::string_view digest) {
    return {ErrorCode::not_found, "blob " + quoted(digest) + " not found"};
}

// An upload on its way: hashed and written at once, renamed into its place at the end.
class DirBlobWriter final : public BlobWriter {
  public:
    explicit DirBlobWriter(DirBlobStoreOptions options)
        : options_(std::move(options)),
          path_(options_.root / options_.incoming / to_hex(random_bytes(16))),
          file_(open_file(path_, O_WRONLY | O_CREAT | O_EXCL)) {
        failpoint("blob.begun");
    }
    ~DirBlobWriter() override {
        if (!committed_) ::unlink(path_.c_str());
    }
    DirBlobWriter(const DirBlobWriter&) = delete;
    DirBlobWriter& operator=(const DirBlobWriter&) = delete;

    void write(std::string_view data) override;
    BlobInfo finish() override;
    const fs::path& path() const override { return path_; }
    void commit() override;

  private:
    void write_back();

    DirBlobStoreOptions options_;
    fs::path path_;
    FileDescriptor file_;
    Sha256 hash_;
    std::string digest_;  // empty until finish()
    std::uint64_t size_ = 0;
    std::uint64_t written_back_ = 0;
    bool committed_ = false;
};

void DirBlobWriter::write(std::string_view data) {
    if (!file_) throw Error(ErrorCode::internal, "the blob is finished already");
    if (data.size() > options_.max_blob_bytes - size_)
        throw Error(ErrorCode::invalid_argument,
                    "upload is larger than " + std::to_string(options_.max_blob_bytes) + " bytes");
    with_context("cannot store the upload", [&] { write_all(file_.get(), data); });
    hash_.update(data);
    size_ += data.size();
    if (size_ - written_back_ >= writeback_bytes) write_back();
}

void DirBlobWriter::write_back() {
    // Only a hint: where a file system has no such call, finish() does all the waiting.
    ::sync_file_range(file_.get(), static_cast<off64_t>(written_back_),
                      static_cast<off64_t>(size_ - written_back_), SYNC_FILE_RANGE_WRITE);
    written_back_ = size_;
    // Many uploads that each fitted when they began must not eat the reserve together.
    if (const auto free = free_bytes(options_.root); free < options_.reserve_bytes)
        throw Error(ErrorCode::exhausted, "not enough space for the upload after " + std::to_string(size_) +
                                              " bytes: " + std::to_string(free) + " free, " +
                                              std::to_string(options_.reserve_bytes) + " kept in reserve");
}

BlobInfo DirBlobWriter::finish() {
    if (file_) {
        if (::fdatasync(file_.get()) != 0) throw system_error("cannot store the upload", errno);
        failpoint("blob.synced");
        digest_ = hash_.hex();
        file_.reset();
    }
    return {digest_, size_};
}

void DirBlobWriter::commit() {
    if (committed_) return;
    if (digest_.empty()) throw Error(ErrorCode::internal, "the blob is not finished");
    const fs::path target = blob_path(options_.root, digest_);
    make_directories(target.parent_path());
    sync_directory(options_.root);
    // Also where a blob is there: its bytes may not be those that were written, and these are known to be
    // right. Whoever reads the former one keeps its file.
    if (std::rename(path_.c_str(), target.c_str()) != 0) throw system_error("cannot store the upload", errno);
    committed_ = true;
    path_ = target;
    failpoint("blob.renamed");
    sync_directory(target.parent_path());
}

}  // namespace

DirBlobStore::DirBlobStore(DirBlobStoreOptions options) : options_(std::move(options)) {
    const fs::path incoming = options_.root / options_.incoming;
    remove_tree(incoming);
    make_directories(incoming);
    sync_directory(options_.root);
}

std::unique_ptr<BlobWriter> DirBlobStore::create(std::uint64_t expected_size) {
    const std::string upload = "an upload of " + std::to_string(expected_size) + " bytes";
    if (expected_size > options_.max_blob_bytes)
        throw Error(ErrorCode::invalid_argument,
                    upload + " is larger than " + std::to_string(options_.max_blob_bytes) + " bytes");
    const std::uint64_t free = free_bytes(options_.root);
    if (free < options_.reserve_bytes || free - options_.reserve_bytes < expected_size)
        throw Error(ErrorCode::exhausted,
                    "not enough space for " + upload + ": " + std::to_string(free) + " free");
    return std::make_unique<DirBlobWriter>(options_);
}

ScratchFile DirBlobStore::scratch() {
    return {options_.root / options_.incoming, options_.reserve_bytes};
}

fs::path DirBlobStore::path(std::string_view digest) {
    if (!contains(digest)) throw blob_not_found(digest);
    return blob_path(options_.root, digest);
}

bool DirBlobStore::contains(std::string_view digest) {
    return is_sha256_hex(digest) && blob_size(blob_path(options_.root, digest));
}

void DirBlobStore::remove(std::string_view digest) {
    if (!is_sha256_hex(digest)) return;
    if (::unlink(blob_path(options_.root, digest).c_str()) != 0 && errno != ENOENT)
        throw system_error("cannot remove blob " + quoted(digest), errno);
    failpoint("blob.removed");
}

std::vector<BlobInfo> DirBlobStore::list() {
    std::vector<BlobInfo> blobs;
    for (const auto& folder : fs::directory_iterator(options_.root)) {
        if (folder.path().filename().native().size() != 2) continue;
        std::error_code gone;  // an entry may be removed while we look
        for (const auto& file : fs::directory_iterator(folder.path(), gone)) {
            std::string digest = file.path().filename();
            const auto size = blob_size(file.path());
            if (size && is_sha256_hex(digest)) blobs.push_back({std::move(digest), *size});
        }
    }
    std::sort(blobs.begin(), blobs.end(), [](const auto& a, const auto& b) { return a.digest < b.digest; });
    return blobs;
}

}  // namespace svc
