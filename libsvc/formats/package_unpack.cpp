#include "libsvc/formats/package_unpack.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/formats/archive_reader.h"
#include "libsvc/formats/entry_path.h"
#include "libsvc/formats/tree_writer.h"

namespace svc {

namespace {

[[noreturn]] void refuse_unpacking(const std::string& entry, const std::string& reason) {
    throw Error(ErrorCode::invalid_argument, "entry " + quoted(entry) + " " + reason);
}

ArchiveFormat archive_format_of(const std::filesystem::path& file) {
    const FileDescriptor source = open_file(file, O_RDONLY);
    std::array<char, 2> start{};
    const bool whole = ::pread(source.get(), start.data(), start.size(), 0) == 2;
    return whole && start[0] == 'P' && start[1] == 'K' ? ArchiveFormat::zip : ArchiveFormat::tar;
}

class PackageUnpacker {
  public:
    PackageUnpacker(const std::filesystem::path& package, const std::filesystem::path& target,
                    const PackageUnpackLimits& limits, std::stop_token stop)
        : limits_(limits),
          stop_(std::move(stop)),
          reader_(package, archive_format_of(package)),
          tree_(target, false, 0) {}

    void run() {
        ArchiveEntry entry;
        for (std::uint64_t seen = 1; reader_.next(entry); ++seen) {
            check_stop();
            if (seen > limits_.max_entries)
                throw Error(ErrorCode::invalid_argument,
                            "package has more than " + std::to_string(limits_.max_entries) + " entries");
            create(clean_entry_path(entry.path, entry.path), entry);
        }
        tree_.finish();
    }

  private:
    void check_stop() const {
        if (stop_.stop_requested()) throw Error(ErrorCode::cancelled, "unpacking was cancelled");
    }

    // The owner may always read and enter directories, since the agent runs hooks in them and removes them.
    static FileAttributes attributes_of(const ArchiveEntry& entry) {
        FileAttributes attributes;
        attributes.mode = (entry.mode & 01777U) | (entry.kind == EntryKind::directory ? 0700U : 0400U);
        attributes.modified = entry.modified;
        return attributes;
    }

    void create(const std::string& path, const ArchiveEntry& entry) {
        switch (entry.kind) {
            case EntryKind::directory:
                return tree_.make_directory(path, attributes_of(entry));
            case EntryKind::file:
                return write_file(path, entry);
            case EntryKind::symbolic_link:
                if (!leads_inside(path, entry.link_target))
                    refuse_unpacking(entry.path, "is a link that leaves the package");
                return tree_.make_symbolic_link(path, entry.link_target, attributes_of(entry));
            case EntryKind::hard_link:
                return tree_.make_hard_link(path, clean_entry_path(entry.link_target, entry.path));
            case EntryKind::fifo:
            case EntryKind::other:
                break;
        }
        refuse_unpacking(entry.path, "is neither a file, a directory nor a link");
    }

    void write_file(const std::string& path, const ArchiveEntry& entry) {
        if (path.empty()) refuse_unpacking(entry.path, "takes the place of the top directory");
        if (entry.size > limits_.max_bytes - bytes_)
            throw Error(ErrorCode::invalid_argument,
                        "package holds more than " + std::to_string(limits_.max_bytes) + " bytes");
        bytes_ += entry.size;
        const FileDescriptor file = tree_.create_file(path);
        while (const auto block = reader_.next_block()) {
            check_stop();
            if (block->offset > entry.size || block->bytes.size() > entry.size - block->offset)
                refuse_unpacking(entry.path, "is longer than it says");
            write_block(file.get(), *block, path);
        }
        if (::ftruncate(file.get(), static_cast<off_t>(entry.size)) != 0)
            throw system_error("cannot unpack " + quoted(path), errno);
        tree_.finish_file(path, file.get(), attributes_of(entry));
    }

    static void write_block(int file, const ArchiveBlock& block, const std::string& path) {
        if (::lseek(file, static_cast<off_t>(block.offset), SEEK_SET) < 0)
            throw system_error("cannot unpack " + quoted(path), errno);
        with_context("cannot unpack " + quoted(path), [&] { write_all(file, block.bytes); });
    }

    const PackageUnpackLimits limits_;
    const std::stop_token stop_;
    ArchiveReader reader_;
    TreeWriter tree_;
    std::uint64_t bytes_ = 0;
};

}  // namespace

void unpack_package(const std::filesystem::path& package, const std::filesystem::path& target,
                    const PackageUnpackLimits& limits, std::stop_token stop) {
    PackageUnpacker(package, target, limits, std::move(stop)).run();
}

}  // namespace svc
