#include "instance-agent/streamer/metrics/rtc_log.h"

#include <fcntl.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"

namespace svc::streamer {

namespace {

constexpr std::string_view prefix = "rtc_log.";
constexpr unsigned directory_mode = 0755;
constexpr unsigned file_mode = 0600;  // session descriptions contain secrets

std::optional<unsigned> number_of(const std::filesystem::path& path) {
    const std::string name = path.filename();
    unsigned number = 0;
    if (!name.starts_with(prefix)) return std::nullopt;
    const char* const end = name.data() + name.size();
    const auto read = std::from_chars(name.data() + prefix.size(), end, number);
    return read.ec == std::errc() && read.ptr == end ? std::optional(number) : std::nullopt;
}

std::vector<unsigned> numbers_in(const std::filesystem::path& directory) {
    std::vector<unsigned> numbers;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(directory, ignored))
        if (const auto number = number_of(entry.path())) numbers.push_back(*number);
    std::sort(numbers.begin(), numbers.end());
    return numbers;
}

}  // namespace

RtcLog::RtcLog(std::filesystem::path directory, Clock& clock)
    : directory_(std::move(directory)), clock_(clock) {}

void RtcLog::enable(bool enabled) {
    if (!enabled) end();
    enabled_ = enabled;
}

void RtcLog::note(const std::string& event, JsonMembers members) try {
    if (!enabled_) return;
    if (!std::exchange(begun_, true)) open();
    if (!file_) return;
    members.insert(members.begin(), {{"time", to_rfc3339(clock_.now())}, {"event", event}});
    const std::string line = Json::object(std::move(members)).dump() + "\n";
    written_ += line.size();
    if (written_ > max_file) return file_.reset();
    write_all(file_.get(), line);
} catch (const Error& e) {
    log::warning("log of the stream cannot be written", {{"error", e.what()}});
    file_.reset();
}

void RtcLog::end() {
    if (file_) note("end");
    file_.reset();
    begun_ = false;
}

void RtcLog::open() {
    make_directories(directory_, directory_mode);
    remove_old();
    const auto numbers = numbers_in(directory_);
    const unsigned number = numbers.empty() ? 0 : numbers.back() + 1;
    file_ = open_file(directory_ / (std::string(prefix) + std::to_string(number)),
                      O_WRONLY | O_CREAT | O_EXCL | O_APPEND, file_mode);
    written_ = 0;
}

void RtcLog::remove_old() const {
    const auto numbers = numbers_in(directory_);
    std::error_code ignored;
    for (std::size_t i = 0; i + max_files <= numbers.size(); ++i)
        std::filesystem::remove(directory_ / (std::string(prefix) + std::to_string(numbers[i])), ignored);
}

}  // namespace svc::streamer
