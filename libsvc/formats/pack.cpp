#include "libsvc/formats/pack.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/strings.h"

namespace svc {

namespace {

struct FreeWriter {
    void operator()(archive* writer) const { archive_write_free(writer); }
};
struct PackedEntry {
    void operator()(archive_entry* entry) const { archive_entry_free(entry); }
};

class Packer {
  public:
    explicit Packer(const std::filesystem::path& target) : writer_(archive_write_new()) {
        check(archive_write_add_filter_bzip2(writer_.get()));
        check(archive_write_set_format_pax_restricted(writer_.get()));
        check(archive_write_open_filename(writer_.get(), target.c_str()));
    }

    void add(const std::filesystem::path& file, const std::string& name) {
        struct stat status {};
        if (::lstat(file.c_str(), &status) != 0) throw system_error("cannot read " + quoted(name), errno);
        if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode) && !S_ISLNK(status.st_mode))
            throw Error(ErrorCode::invalid_argument,
                        quoted(name) + " is neither a file, a directory nor a symbolic link");
        const std::unique_ptr<archive_entry, PackedEntry> entry(archive_entry_new());
        archive_entry_set_pathname(entry.get(), name.c_str());
        archive_entry_set_mode(entry.get(), status.st_mode);
        archive_entry_set_mtime(entry.get(), status.st_mtime, 0);
        if (S_ISREG(status.st_mode)) archive_entry_set_size(entry.get(), status.st_size);
        if (S_ISLNK(status.st_mode))
            archive_entry_set_symlink(entry.get(), std::filesystem::read_symlink(file).c_str());
        check(archive_write_header(writer_.get(), entry.get()));
        if (S_ISREG(status.st_mode)) copy(file, static_cast<std::uint64_t>(status.st_size));
    }

    void finish() { check(archive_write_close(writer_.get())); }

  private:
    void copy(const std::filesystem::path& file, std::uint64_t left) {
        const FileDescriptor in = open_file(file, O_RDONLY | O_NOFOLLOW);
        std::array<char, 65536> block{};
        while (left > 0) {
            const ssize_t got = ::read(in.get(), block.data(), std::min<std::uint64_t>(block.size(), left));
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) throw system_error("cannot read " + quoted(file.string()), errno);
            if (got == 0)
                throw Error(ErrorCode::invalid_argument,
                            quoted(file.string()) + " became shorter while it was read");
            if (archive_write_data(writer_.get(), block.data(), static_cast<std::size_t>(got)) != got)
                check(ARCHIVE_FATAL);
            left -= static_cast<std::uint64_t>(got);
        }
    }

    void check(int result) const {
        if (result == ARCHIVE_OK || result == ARCHIVE_WARN) return;
        const char* reason = archive_error_string(writer_.get());
        throw Error(ErrorCode::internal,
                    std::string("cannot write the package: ") + (reason ? reason : "unknown"));
    }

    std::unique_ptr<archive, FreeWriter> writer_;
};

}  // namespace

void pack_directory(const std::filesystem::path& directory, const std::filesystem::path& target,
                    const std::function<void()>& entry) {
    std::error_code failure;
    const auto status = std::filesystem::status(directory, failure);
    if (!std::filesystem::exists(status))
        throw Error(ErrorCode::not_found, "directory " + quoted(directory.string()) + " not found");
    if (!std::filesystem::is_directory(status))
        throw Error(ErrorCode::invalid_argument, quoted(directory.string()) + " is not a directory");
    std::vector<std::string> names;
    for (const auto& found : std::filesystem::recursive_directory_iterator(directory))
        names.push_back(found.path().lexically_relative(directory).string());
    std::sort(names.begin(), names.end());
    Packer packer(target);
    for (const std::string& name : names) {
        if (entry) entry();
        packer.add(directory / name, name);
    }
    packer.finish();
}

}  // namespace svc
