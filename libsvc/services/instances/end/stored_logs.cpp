#include "libsvc/services/instances/end/stored_logs.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/log.h"

namespace svc {

StoredLogs::StoredLogs(std::filesystem::path directory, std::uint64_t max_bytes)
    : directory_(std::move(directory)), max_bytes_(max_bytes) {}

std::vector<std::string> StoredLogs::collect(const std::string& instance,
                                             const std::vector<LogFile>& sources) const {
    std::vector<std::string> names;
    for (const LogFile& source : sources) {
        try {
            std::string text = read_tail(source);
            const bool more = std::ranges::find(names, source.name) != names.end();
            if (more) text = joined(read_file(path(instance, source.name), max_bytes_), text);
            make_directories(directory_ / instance);
            write_file_atomically(path(instance, source.name), text);
            if (!more) names.push_back(source.name);
        } catch (const std::exception& e) {
            log::warning("log cannot be kept",
                         {{"container", instance}, {"log", source.name}, {"error", e.what()}});
        }
    }
    return names;
}

// The later text in full, of the earlier one its tail.
std::string StoredLogs::joined(const std::string& earlier, const std::string& later) const {
    const std::uint64_t room = max_bytes_ - std::min<std::uint64_t>(later.size(), max_bytes_);
    return (earlier.size() <= room ? earlier : earlier.substr(earlier.size() - room)) + later;
}

void StoredLogs::remove(const std::string& instance) const {
    if (!directory_.empty()) remove_tree(directory_ / instance);
}

std::filesystem::path StoredLogs::path(const std::string& instance, std::string_view name) const {
    return directory_ / instance / name;
}

std::string StoredLogs::read_tail(const LogFile& source) const {
    const FileDescriptor own =
        source.file ? FileDescriptor() : open_file(source.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const int file = source.file ? source.file->get() : own.get();
    struct stat status {};
    if (fstat(file, &status) != 0) throw system_error("reading a log", errno);
    if (!S_ISREG(status.st_mode)) throw Error(ErrorCode::internal, "log is not a regular file");
    const auto size = static_cast<std::uint64_t>(status.st_size);
    std::string tail(std::min(size, max_bytes_), '\0');
    std::size_t filled = 0;
    while (filled < tail.size()) {
        const auto offset = static_cast<off_t>(size - tail.size() + filled);
        const ssize_t count = pread(file, tail.data() + filled, tail.size() - filled, offset);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) throw system_error("reading a log", errno);
        if (count == 0) break;
        filled += static_cast<std::size_t>(count);
    }
    tail.resize(filled);
    return tail;
}

}  // namespace svc
