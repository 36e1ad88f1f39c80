#pragma once
// A tree of merged layers as an archive that is made while it is read.
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "libsvc/base/file.h"
#include "libsvc/formats/archive_writer.h"
#include "libsvc/runtime/lxc/disk/file_entry.h"
#include "libsvc/runtime/runtime.h"

namespace svc::lxc {

// The archive has metadata.yaml, then the tree in order of names, with owners as ids of the container. Left
// out: device nodes, sockets, extended attributes except `user.*` and `security.capability`. Holds in memory
// one block of a file, what BlockCompressor holds, the names in the folders above it, and the first name of
// each file with several. One thread at a time.
class LayerArchive final : public ArchiveStream {
  public:
    // The destructor calls `released`.
    LayerArchive(FileDescriptor tree, GuestIds ids, const ExportRequest& request,
                 std::function<void()> released);
    ~LayerArchive() override;
    LayerArchive(const LayerArchive&) = delete;
    LayerArchive& operator=(const LayerArchive&) = delete;

    std::string read(std::size_t at_most) override;
    std::string format() const override { return "layers, " + writer_.format(); }

  private:
    struct Level {
        FileDescriptor folder;
        std::string path;  // in the archive
        std::vector<std::string> names;
        std::size_t next = 0;
    };
    void advance();
    void enter(FileDescriptor folder, std::string path);
    void add(const Level& level, const std::string& name);
    void add_file(int folder, const std::string& name, ArchiveEntry entry);
    void copy_block();

    GuestIds ids_;
    std::function<void()> released_;
    ArchiveWriter writer_;
    std::vector<Level> levels_;
    FileDescriptor file_;  // being copied
    std::uint64_t left_ = 0;
    std::uint64_t total_ = 0;  // bytes of all files so far
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::string>
        linked_;  // device and number -> first name
    std::string block_;
    bool finished_ = false;
};

}  // namespace svc::lxc
