#pragma once
// The archive of svcd export: a gzip tarball. docs/state-directory.md has its content.
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>

#include "libsvc/base/digest.h"
#include "libsvc/base/file.h"
#include "libsvc/base/json.h"
#include "libsvc/formats/archive_writer.h"
#include "libsvc/formats/block_compressor.h"
#include "libsvc/runtime/lxc/disk/file_entry.h"

namespace svc::server::state {

inline constexpr int backup_format = 1;
inline constexpr const char* backup_head = "backup.json";               // first: what the archive is
inline constexpr const char* backup_manifest = "manifest.json";         // last: the digest of every file
inline constexpr std::size_t largest_manifest = std::size_t{1} << 30U;  // bytes
// The name of an extended attribute that marks what stands for a whiteout of an overlay. A guest cannot set
// it.
inline constexpr const char* whiteout_mark = "trusted.svc.whiteout";

// One thread. The archive appears under its name with finish(), synced; else nothing is left of it.
class BackupWriter {
  public:
    explicit BackupWriter(const std::filesystem::path& file);
    ~BackupWriter();
    BackupWriter(const BackupWriter&) = delete;
    BackupWriter& operator=(const BackupWriter&) = delete;

    void add_text(const std::string& path, std::string_view text);
    // This and add_tree() throw conflict for a file that became shorter meanwhile: it is not whole in the
    // archive, to which more can be added.
    void add_file(const std::string& path, const std::filesystem::path& source);
    // Everything below `root`, with the owners of the guest: of a layer or a disk. Left out: devices,
    // sockets. Throws unsupported for folders that are nested too deeply.
    void add_tree(const std::string& path, const std::filesystem::path& root, lxc::GuestIds ids);
    void finish(Json manifest);  // to which the digests are added

  private:
    struct Tree;
    void begin(ArchiveEntry entry);
    void write(std::string_view bytes);
    void end_file();
    void flush(std::size_t from);
    void fill(std::uint64_t bytes);
    void copy(int file, std::uint64_t bytes, const std::string& path);
    void add_below(Tree& tree, int folder, const std::string& path, unsigned depth);
    void add_entry(Tree& tree, int folder, const std::string& name, const std::string& path, unsigned depth);

    std::filesystem::path target_, temporary_;
    FileDescriptor file_;
    ArchiveWriter archive_{std::make_unique<BlockCompressor>(Compression::gzip)};
    std::map<std::string, std::string> digests_;
    std::string current_;
    Sha256 hash_;
};

}  // namespace svc::server::state
