#include "libsvc/runtime/lxc/disk/copy.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <string>

#include "libsvc/base/error.h"
#include "libsvc/base/failpoint.h"
#include "libsvc/base/file.h"
#include "libsvc/base/processes/process.h"
#include "libsvc/base/rollback.h"
#include "libsvc/base/strings.h"

namespace svc::lxc {

namespace {

constexpr const char* copy_program = "/bin/cp";
constexpr std::chrono::milliseconds stop_check{20};  // short: it also guards the disk
constexpr std::size_t max_complaint = 4096;

// What the program says on its standard error; the rest beyond a limit is read and dropped, so that it never
// waits.
class Complaints {
  public:
    Complaints() {
        std::array<int, 2> ends{};
        if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0)
            throw system_error("cannot make a pipe", errno);
        read_ = FileDescriptor(ends[0]);
        write_ = FileDescriptor(ends[1]);
    }
    int theirs() const { return write_.get(); }
    void drain() {
        std::array<char, 4096> bytes{};
        for (ssize_t count = 0; (count = ::read(read_.get(), bytes.data(), bytes.size())) > 0;)
            if (text_.size() < max_complaint) text_.append(bytes.data(), static_cast<std::size_t>(count));
    }
    const std::string& text() const { return text_; }

  private:
    FileDescriptor read_, write_;
    std::string text_;
};

Error cancelled_copy() {
    return {ErrorCode::cancelled, "copying the container's files was cancelled"};
}

Error copy_error(const std::string& complaint) {
    const std::string first(trim(complaint.substr(0, complaint.find('\n'))));
    const bool is_full = complaint.find("No space left") != std::string::npos ||
                         complaint.find("quota exceeded") != std::string::npos;
    return {is_full ? ErrorCode::exhausted : ErrorCode::internal,
            "files of the container cannot be copied: " + (first.empty() ? "cp failed" : first)};
}

void sync_copy(const std::filesystem::path& path) {
    const FileDescriptor folder = open_file(path, O_RDONLY | O_DIRECTORY);
    if (::syncfs(folder.get()) != 0) throw system_error("cannot sync copied files", errno);
}

}  // namespace

void copy_tree(const std::filesystem::path& from, const std::filesystem::path& to, const DiskFloor& floor,
               const std::stop_token& stop) {
    if (stop.stop_requested()) throw cancelled_copy();
    const DiskRoom room(to.parent_path(), floor, "copy files of a container");
    Complaints complaints;
    SpawnOptions options;
    options.arguments = {copy_program,
                         "--archive",
                         "--reflink=auto",
                         "--sparse=auto",
                         "--one-file-system",
                         "--no-target-directory",
                         "--",
                         from.native(),
                         to.native()};
    options.environment = {"LC_ALL=C", "PATH=/usr/bin:/bin"};
    options.ends_with_us = true;  // or it would go on in a folder that the next daemon makes anew
    options.descriptors = {{complaints.theirs(), STDERR_FILENO}};
    Child copier(options);
    Rollback undo;
    undo.add("copier", [&] {
        copier.kill(SIGKILL);
        copier.wait();
    });
    std::optional<ExitStatus> status;
    while (!(status = copier.wait_for(stop_check))) {
        complaints.drain();
        if (stop.stop_requested()) throw cancelled_copy();
        room.check();
    }
    undo.dismiss();
    complaints.drain();
    if (status->code != 0) throw copy_error(complaints.text());
    room.check();  // it may have been quicker than we look
    failpoint("copy.copied");
    sync_copy(to);
    failpoint("copy.synced");
}

void exchange(const std::filesystem::path& one, const std::filesystem::path& other) {
    if (::syscall(SYS_renameat2, AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE) != 0)
        throw system_error("cannot exchange a container's files", errno);
    failpoint("copy.exchanged");
    sync_directory(other.parent_path());
}

}  // namespace svc::lxc
