#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/formats/archive_writer.h"
#include "libsvc/formats/tree_stream.h"

namespace svc {

namespace {

constexpr std::size_t block_bytes = 256U << 10;
// A single file has this name in the stream, whatever it is called; a folder is ".".
constexpr const char* single_name = "file";

class TreeSender {
  public:
    TreeSender(const std::filesystem::path& source, const std::function<void(std::string_view)>& write)
        : source_(source), write_(write) {}

    void send(TreeFile file, bool single) {
        const FileDescriptor bytes = file.type == "file" ? opened(file) : FileDescriptor();
        if (file.type == "file" && !bytes) return;
        archive_.begin(entry_of(file, single));
        if (bytes) send_bytes(file, bytes.get());
        pass_on();
    }
    void finish() {
        archive_.finish();
        pass_on();
    }

  private:
    static ArchiveEntry entry_of(const TreeFile& file, bool single) {
        ArchiveEntry entry;
        entry.path = single ? single_name : file.path.empty() ? "." : file.path;
        entry.kind = file.type == "file"   ? EntryKind::file
                     : file.type == "link" ? EntryKind::symbolic_link
                                           : EntryKind::directory;
        entry.link_target = file.target;
        entry.size = file.size;
        entry.mode = file.mode;
        entry.modified = timespec{file.modified, 0};
        return entry;
    }

    std::filesystem::path path_of(const TreeFile& file) const {
        return file.path.empty() ? source_ : source_ / file.path;
    }

    // With the size that it has now. Nothing: it has gone, or something else has its name.
    FileDescriptor opened(TreeFile& file) const {
        FileDescriptor in(::open(path_of(file).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
        const bool gone = errno == ENOENT || errno == ELOOP || errno == ENXIO;
        if (!in && (file.path.empty() || !gone))
            throw system_error("cannot read " + quoted(path_of(file).string()), errno);
        struct stat info {};
        if (!in || ::fstat(in.get(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
        file.size = static_cast<std::uint64_t>(info.st_size);
        return in;
    }

    // Exactly as many bytes as were announced.
    void send_bytes(const TreeFile& file, int in) {
        std::string block(block_bytes, '\0');
        for (std::uint64_t left = file.size; left > 0;) {
            const ssize_t got = ::read(in, block.data(), std::min<std::uint64_t>(block.size(), left));
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) throw system_error("cannot read " + quoted(path_of(file).string()), errno);
            if (got == 0)
                throw Error(ErrorCode::invalid_argument,
                            quoted(path_of(file).string()) + " became shorter while it was sent");
            archive_.write(std::string_view(block).substr(0, static_cast<std::size_t>(got)));
            pass_on();
            left -= static_cast<std::uint64_t>(got);
        }
    }

    void pass_on() {
        while (archive_.ready() > 0) write_(archive_.take(block_bytes));
    }

    const std::filesystem::path& source_;
    const std::function<void(std::string_view)>& write_;
    ArchiveWriter archive_;
};

bool is_known(const TreeFile& file, const KnownFiles& known) {
    const auto found = known.find(file.path);
    return file.type == "file" && found != known.end() &&
           found->second == std::pair(file.size, file.modified);
}

}  // namespace

void send_tree(const std::filesystem::path& asked, const KnownFiles& known,
               const std::function<void(std::string_view)>& write) {
    std::error_code dangling;  // list_tree() tells what is not there
    const std::filesystem::path followed = std::filesystem::canonical(asked, dangling);
    const std::filesystem::path& source = dangling ? asked : followed;
    const std::vector<TreeFile> files = list_tree(source, TreeDepth::all);
    if (files.front().type == "other")
        throw Error(ErrorCode::invalid_argument,
                    quoted(source.string()) + " is neither a file, a folder nor a link");
    TreeSender sender(source, write);
    for (const TreeFile& file : files)
        if (file.type != "other" && !is_known(file, known))
            sender.send(file, files.front().type != "directory");
    sender.finish();
}

}  // namespace svc
