#pragma once
// Unpacks the archive of svcd export and verifies it.
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "libsvc/base/digest.h"
#include "libsvc/base/json.h"
#include "libsvc/formats/archive_reader.h"
#include "libsvc/formats/tree_writer.h"
#include "libsvc/runtime/lxc/disk/file_entry.h"

namespace svc::server::state {

// One thread. Below `target`: the paths of the archive, but with the owners of layers and disks shifted into
// `ids`. Throws invalid_argument for an archive that is damaged, incomplete or of another kind.
class BackupReader {
  public:
    BackupReader(const std::filesystem::path& archive, const std::filesystem::path& target,
                 lxc::GuestIds ids);
    Json unpack();  // the manifest; everything was verified and synced

  private:
    void take(const ArchiveEntry& entry);
    void take_in_tree(const ArchiveEntry& entry, const std::string& root);
    void take_plain(const ArchiveEntry& entry);
    std::string read_text(std::uint64_t most);
    void copy_to(int file);
    void open_tree(const std::string& root);
    void close_tree();
    void make_whiteout(const std::string& path) const;
    void verify(const Json& manifest) const;
    FileAttributes attributes_of(const ArchiveEntry& entry) const;

    ArchiveReader reader_;
    const std::filesystem::path target_;
    const lxc::GuestIds ids_;
    std::map<std::string, std::string> digests_;
    std::string tree_;  // "layers/<name>/rootfs", "disks/<id>"; "": none
    std::optional<TreeWriter> writer_;
    std::vector<std::string> whiteouts_;  // of the tree, made at its end
    std::optional<Json> manifest_;
};

}  // namespace svc::server::state
