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

namespace {

std::vector<std::string> digests_of(const std::vector<StoredLog>& logs) {
    std::vector<std::string> digests;
    for (const StoredLog& log : logs)
        if (!log.digest.empty()) digests.push_back(log.digest);
    return digests;
}

std::vector<std::string> names_of(const std::vector<LogFile>& sources) {
    std::vector<std::string> names;
    for (const LogFile& source : sources)
        if (std::ranges::find(names, source.name) == names.end()) names.push_back(source.name);
    return names;
}

void warn_of(const std::string& instance, const std::string& name, const std::exception& reason) {
    log::warning("log cannot be kept", {{"container", instance}, {"log", name}, {"error", reason.what()}});
}

}  // namespace

StoredLogs::StoredLogs(Content& content, std::filesystem::path former, std::uint64_t max_bytes)
    : content_(content), former_(std::move(former)), max_bytes_(max_bytes) {}

std::vector<StoredLog> StoredLogs::collect(const std::string& instance,
                                           const std::vector<LogFile>& sources) const {
    std::vector<StoredLog> logs;
    for (const std::string& name : names_of(sources)) try {
            if (const auto text = text_of(instance, name, sources)) logs.push_back({name, keep(*text)});
        } catch (const std::exception& e) {
            warn_of(instance, name, e);
        }
    return logs;
}

// Nothing where none of the sources can be read.
std::optional<std::string> StoredLogs::text_of(const std::string& instance, const std::string& name,
                                               const std::vector<LogFile>& sources) const {
    std::optional<std::string> text;
    for (const LogFile& source : sources) try {
            if (source.name == name) text = joined(text.value_or(""), read_tail(source));
        } catch (const std::exception& e) {
            warn_of(instance, name, e);
        }
    return text;
}

std::string StoredLogs::keep(const std::string& text) const {
    const auto blob = content_.blobs().create(text.size());
    blob->write(text);
    std::string digest = blob->finish().digest;
    content_.hold_blobs({digest});
    try {
        blob->commit_even_alone();
    } catch (...) {
        content_.drop_blobs({digest});
        throw;
    }
    return digest;
}

// The later text in full, of the earlier one its tail.
std::string StoredLogs::joined(const std::string& earlier, const std::string& later) const {
    const std::uint64_t room = max_bytes_ - std::min<std::uint64_t>(later.size(), max_bytes_);
    return (earlier.size() <= room ? earlier : earlier.substr(earlier.size() - room)) + later;
}

void StoredLogs::hold(const std::vector<StoredLog>& logs) const {
    content_.hold_blobs(digests_of(logs));
}

void StoredLogs::drop(const std::string& instance, const std::vector<StoredLog>& logs) const {
    const std::vector<std::string> digests = digests_of(logs);
    if (digests.size() < logs.size()) drop_former(instance);
    try {
        content_.drop_blobs(digests);
    } catch (const std::exception& e) {
        log::warning("logs cannot be removed yet", {{"container", instance}, {"error", e.what()}});
    }
}

void StoredLogs::drop_former(const std::string& instance) const {
    if (!former_.empty()) remove_tree(former_ / instance);
}

std::filesystem::path StoredLogs::path(const std::string& instance, const StoredLog& log) const {
    return log.digest.empty() ? former_ / instance / log.name : content_.blobs().path(log.digest);
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
