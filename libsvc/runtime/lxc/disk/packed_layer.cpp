#include "libsvc/runtime/lxc/disk/packed_layer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <string>
#include <vector>

#include "libsvc/base/error.h"
#include "libsvc/base/failpoint.h"
#include "libsvc/base/file.h"
#include "libsvc/base/processes/process.h"
#include "libsvc/base/strings.h"

namespace svc::lxc {

namespace {

constexpr const char* tar_program = "/bin/tar";
constexpr std::size_t packed_block = std::size_t{128} << 10;
constexpr std::size_t longest_head = 100;

std::string packed_head(std::uint32_t id_base) {
    return fmt::format("svc-layer 1 ids from {}\n", id_base);
}

std::vector<std::string> tar_command(const char* what, const std::filesystem::path& folder) {
    return {tar_program,
            what,
            "--file=-",
            "--numeric-owner",
            "--xattrs",
            "--xattrs-include=*",
            "--acls",
            "--force-local",
            "--directory=" + folder.native()};
}

// Its standard error goes to a file in memory, so that it never waits for us to read.
FileDescriptor make_complaints() {
    FileDescriptor file(::memfd_create("complaints", MFD_CLOEXEC));
    if (!file) throw system_error("cannot follow an archiver", errno);
    return file;
}

std::string first_complaint(const FileDescriptor& complaints) {
    std::string text(1000, '\0');
    const ssize_t count = ::pread(complaints.get(), text.data(), text.size(), 0);
    text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    const std::string first(trim(text.substr(0, text.find('\n'))));
    return first.empty() ? "tar failed" : first;
}

struct StreamEnds {
    FileDescriptor ours, theirs;
};

// A socket and no pipe: writing to one whose reader has gone raises no signal.
StreamEnds make_stream_ends() {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
        throw system_error("cannot make a stream", errno);
    return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

class PackedFolder final : public ArchiveStream {
  public:
    PackedFolder(const std::filesystem::path& folder, std::uint32_t id_base)
        : head_(packed_head(id_base)), complaints_(make_complaints()) {
        StreamEnds ends = make_stream_ends();
        SpawnOptions options;
        options.arguments = tar_command("--create", folder);
        for (const char* each : {"--format=posix", "--sparse", "--one-file-system", "rootfs", "layer.json"})
            options.arguments.emplace_back(each);
        options.environment = {"LC_ALL=C", "PATH=/usr/bin:/bin"};
        options.descriptors = {{ends.theirs.get(), STDOUT_FILENO}, {complaints_.get(), STDERR_FILENO}};
        archiver_.emplace(options);
        from_ = std::move(ends.ours);
    }
    ~PackedFolder() override {
        archiver_.reset();
        if (released_) released_();
    }
    PackedFolder(const PackedFolder&) = delete;
    PackedFolder& operator=(const PackedFolder&) = delete;

    void on_end(std::function<void()> released) { released_ = std::move(released); }

    std::string read(std::size_t at_most) override {
        if (!head_.empty()) return take_head(at_most);
        std::string piece(std::min(at_most, packed_block), '\0');
        ssize_t count = 0;
        do {
            count = from_ ? ::recv(from_.get(), piece.data(), piece.size(), 0) : 0;
        } while (count < 0 && errno == EINTR);
        if (count < 0) throw system_error("cannot read a packed layer", errno);
        if (count == 0) finish();
        piece.resize(static_cast<std::size_t>(count));
        return piece;
    }

  private:
    std::string take_head(std::size_t at_most) {
        std::string piece = head_.substr(0, at_most);
        head_.erase(0, piece.size());
        return piece;
    }

    void finish() {
        if (!from_) return;
        from_.reset();
        if (archiver_->wait().code != 0)
            throw Error(ErrorCode::internal, "layer cannot be packed: " + first_complaint(complaints_));
    }

    std::string head_;
    FileDescriptor complaints_, from_;
    std::optional<Child> archiver_;
    std::function<void()> released_;
};

class FolderUnpacker {
  public:
    FolderUnpacker(const std::filesystem::path& folder, const DiskFloor& floor)
        : room_(folder, floor, "unpack a layer"), complaints_(make_complaints()) {
        StreamEnds ends = make_stream_ends();
        SpawnOptions options;
        options.arguments = tar_command("--extract", folder);
        for (const char* each : {"--same-owner", "--same-permissions", "--delay-directory-restore"})
            options.arguments.emplace_back(each);
        options.environment = {"LC_ALL=C", "PATH=/usr/bin:/bin"};
        options.ends_with_us = true;  // or it would go on in a folder that the next daemon removes
        options.descriptors = {{ends.theirs.get(), STDIN_FILENO}, {complaints_.get(), STDERR_FILENO}};
        archiver_.emplace(options);
        to_ = std::move(ends.ours);
    }

    void write(std::string_view bytes) {
        room_.take(bytes.size());
        while (!bytes.empty()) {
            const ssize_t count = ::send(to_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (count < 0 && errno == EINTR) continue;
            if (count < 0) fail();
            bytes.remove_prefix(static_cast<std::size_t>(count));
        }
    }

    void finish() {
        ::shutdown(to_.get(), SHUT_WR);
        if (archiver_->wait().code != 0) fail();
        room_.check();
    }

  private:
    [[noreturn]] void fail() {
        archiver_->wait();
        const std::string complaint = first_complaint(complaints_);
        const bool is_full = complaint.find("No space left") != std::string::npos;
        throw Error(is_full ? ErrorCode::exhausted : ErrorCode::invalid_argument,
                    "layer cannot be unpacked: " + complaint);
    }

    DiskRoom room_;
    FileDescriptor complaints_, to_;
    std::optional<Child> archiver_;
};

// Returns what was read behind the head.
std::string check_head(ArchiveStream& packed, std::uint32_t id_base) {
    std::string text;
    while (text.find('\n') == std::string::npos && text.size() < longest_head) {
        const std::string piece = packed.read(longest_head);
        if (piece.empty()) break;
        text += piece;
    }
    const std::string head = text.substr(0, text.find('\n') + 1);
    if (!head.starts_with("svc-layer 1 "))
        throw Error(ErrorCode::invalid_argument, "these bytes are no packed layer");
    if (head != packed_head(id_base))
        throw Error(ErrorCode::unsupported,
                    "layer is of a node whose containers have other ids: give all nodes the same id base");
    return text.substr(head.size());
}

void sync_unpacked(const std::filesystem::path& path) {
    const FileDescriptor folder = open_file(path, O_RDONLY | O_DIRECTORY);
    if (::syncfs(folder.get()) != 0) throw system_error("cannot sync a layer", errno);
}

}  // namespace

std::unique_ptr<ArchiveStream> pack_folder(const std::filesystem::path& folder, std::uint32_t id_base,
                                           std::function<void()> released) {
    auto packed = std::make_unique<PackedFolder>(folder, id_base);
    packed->on_end(std::move(released));
    return packed;
}

void unpack_folder(ArchiveStream& packed, const std::filesystem::path& folder, std::uint32_t id_base,
                   const DiskFloor& floor, const std::stop_token& stop) {
    std::string piece = check_head(packed, id_base);
    FolderUnpacker unpacker(folder, floor);
    do {
        if (stop.stop_requested()) throw Error(ErrorCode::cancelled, "unpacking a layer was cancelled");
        unpacker.write(piece);
        piece = packed.read(packed_block);
    } while (!piece.empty());
    unpacker.finish();
    sync_unpacked(folder);
    failpoint("layer.packed_unpacked");
}

}  // namespace svc::lxc
