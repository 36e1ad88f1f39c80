#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/formats/archive_reader.h"
#include "libsvc/formats/entry_path.h"
#include "libsvc/formats/tree_stream.h"
#include "libsvc/formats/tree_writer.h"

namespace svc {

namespace {

constexpr unsigned plain_bits = 0777, all_bits = 07777;

// Makes a new file in the place of an old one, in one step.
std::filesystem::path beside(const std::filesystem::path& target) {
    return target.parent_path() / (".svc-" + std::to_string(::getpid()) + "-" + target.filename().string());
}

class TreeTaker {
  public:
    TreeTaker(FileDescriptor stream, std::filesystem::path target, const TakeOptions& options)
        : reader_(std::move(stream)), target_(std::move(target)), options_(options) {}

    void take() {
        ArchiveEntry entry;
        if (!reader_.next(entry)) return;  // nothing had to be sent
        if (entry.kind == EntryKind::directory) return take_folder(entry);
        // A sender follows a link that is asked for itself, so this one leads where somebody else wants.
        if (entry.kind == EntryKind::symbolic_link) throw_malformed_archive("it is a link, not a file");
        take_single(entry);
        if (reader_.next(entry)) throw_malformed_archive("it holds more than one file");
    }

  private:
    FileAttributes attributes_of(const ArchiveEntry& entry) const {
        FileAttributes attributes;
        attributes.mode = entry.mode & (options_.keep_special_bits ? all_bits : plain_bits);
        attributes.uid = options_.owner.value_or(TreeOwner()).uid;
        attributes.gid = options_.owner.value_or(TreeOwner()).gid;
        attributes.modified = entry.modified;
        return attributes;
    }

    void copy_bytes(const ArchiveEntry& entry, int file) {
        std::uint64_t at = 0;
        while (const auto block = reader_.next_block()) {
            if (block->offset != at) throw_malformed_archive("a file has holes");
            write_all(file, block->bytes);
            at += block->bytes.size();
        }
        if (at != entry.size) throw_malformed_archive("a file is shorter than it says");
    }

    void take_folder(ArchiveEntry& entry) {
        if (::mkdir(target_.c_str(), 0700) != 0 && errno != EEXIST)
            throw system_error("cannot make folder " + quoted(target_.string()), errno);
        struct stat info {};
        if (::lstat(target_.c_str(), &info) != 0 || !S_ISDIR(info.st_mode))
            throw Error(ErrorCode::conflict, quoted(target_.string()) + " is no folder");
        TreeWriter writer(target_, options_.owner.has_value(), options_.owner.value_or(TreeOwner()).uid);
        do take_into(writer, entry);
        while (reader_.next(entry));
        writer.finish();
    }

    void take_into(TreeWriter& writer, const ArchiveEntry& entry) {
        const std::string path = clean_entry_path(entry.path, entry.path);
        switch (entry.kind) {
            case EntryKind::directory:
                return writer.make_directory(path, attributes_of(entry));
            case EntryKind::symbolic_link:
                return writer.make_symbolic_link(path, entry.link_target, attributes_of(entry));
            case EntryKind::file: {
                const FileDescriptor file = writer.create_file(path);
                copy_bytes(entry, file.get());
                return writer.finish_file(path, file.get(), attributes_of(entry));
            }
            default:
                throw_malformed_archive("it holds something else than files, folders and links");
        }
    }

    void take_single(const ArchiveEntry& entry) {
        const std::filesystem::path folder = target_.has_parent_path() ? target_.parent_path() : ".";
        if (!std::filesystem::is_directory(folder))
            throw Error(ErrorCode::not_found, "folder " + quoted(folder.string()) + " is not there");
        const std::filesystem::path made = beside(target_);
        try {
            make_single(entry, made);
            if (::rename(made.c_str(), target_.c_str()) != 0) throw_not_placed(errno);
        } catch (...) {
            ::unlink(made.c_str());
            throw;
        }
    }

    [[noreturn]] void throw_not_placed(int number) const {
        if (number == EISDIR || number == EEXIST || number == ENOTEMPTY)
            throw Error(ErrorCode::conflict, quoted(target_.string()) + " is a folder");
        throw system_error("cannot place " + quoted(target_.string()), number);
    }

    void make_single(const ArchiveEntry& entry, const std::filesystem::path& made) {
        const FileAttributes attributes = attributes_of(entry);
        ::unlink(made.c_str());
        if (entry.kind != EntryKind::file) throw_malformed_archive("it holds no file");
        const FileDescriptor file = open_file(made, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
        copy_bytes(entry, file.get());
        const timespec times[] = {{0, UTIME_OMIT}, attributes.modified.value_or(timespec{0, UTIME_OMIT})};
        if ((options_.owner && ::fchown(file.get(), attributes.uid, attributes.gid) != 0) ||
            ::fchmod(file.get(), attributes.mode) != 0 || ::futimens(file.get(), times) != 0 ||
            ::fsync(file.get()) != 0)
            throw system_error("cannot finish " + quoted(target_.string()), errno);
    }

    ArchiveReader reader_;
    const std::filesystem::path target_;
    const TakeOptions& options_;
};

}  // namespace

void take_tree(FileDescriptor stream, const std::filesystem::path& target, const TakeOptions& options) {
    TreeTaker(std::move(stream), target, options).take();
}

}  // namespace svc
