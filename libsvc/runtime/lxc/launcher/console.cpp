#include "libsvc/runtime/lxc/launcher/console.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>

namespace svc::lxc {

ConsoleLog::ConsoleLog(const std::string& file, std::uint64_t limit)
    : file_(::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)), limit_(limit) {
    if (!file_) fail("cannot open '" + file + "'");
}

// A log that cannot be written does not stop the guest.
void ConsoleLog::take(int console) {
    std::array<char, 4096> text{};
    const ssize_t got = ::read(console, text.data(), text.size());
    struct stat info {};
    if (got <= 0 || ::fstat(file_.get(), &info) != 0) return;
    const auto size = static_cast<std::uint64_t>(info.st_size) + static_cast<std::uint64_t>(got);
    if (limit_ > 0 && size > limit_ && ::ftruncate(file_.get(), 0) != 0) return;
    if (::write(file_.get(), text.data(), static_cast<std::size_t>(got)) < 0) return;
}

}  // namespace svc::lxc
