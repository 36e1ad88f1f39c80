#include "libsvc/events/event_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "libsvc/base/error.h"
#include "libsvc/base/failpoint.h"
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"
#include "libsvc/base/unfinished_files.h"

namespace svc {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t reserve_step = 1'000'000;
constexpr std::size_t segments_in_window = 8;
constexpr std::size_t appends_between_retries = 1000;
constexpr std::string_view segment_suffix = ".events";
constexpr std::string_view clean = "clean";

std::uint64_t to_number(std::string_view text) {
    std::uint64_t number = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
    return end.ec == std::errc() && end.ptr == text.data() + text.size() ? number : 0;
}

// "": there is none, or it is not what this program has written. Logs nothing: that may publish an event.
std::string read_small(const fs::path& path) try {
    return fs::exists(path) ? std::string(trim(read_file(path, 4096))) : std::string();
} catch (const std::exception&) {
    return {};
}

// Without text: no event. A failure of the machine may leave half a line, or a hole of NULs.
Event parse_line(std::string_view line) {
    constexpr std::string_view head = R"({"type":")";
    constexpr std::string_view number = R"(,"sequence":)";
    const auto at = line.rfind(number);
    if (!line.starts_with(head) || !line.ends_with('}') || at == std::string_view::npos) return {};
    if (std::ranges::any_of(line, [](char c) { return static_cast<unsigned char>(c) < ' '; })) return {};
    const auto digits = line.substr(at + number.size(), line.size() - at - number.size() - 1);
    Event event;
    event.sequence = to_number(digits);
    if (event.sequence == 0) return {};
    const auto type = event_type(line.substr(head.size(), line.find('"', head.size()) - head.size()));
    if (!type) return {};
    event.type = *type;
    event.text = std::make_shared<const std::string>(line);
    return event;
}

}  // namespace

EventLog::EventLog(const EventWindowOptions& options, const Taker& take)
    : options_(options), boot_id_(options.boot_id) {
    make_directories(options_.directory);
    remove_unfinished_files(options_.directory);
    if (boot_id_.empty()) boot_id_ = read_small("/proc/sys/kernel/random/boot_id");
    load(take);
    try {
        begin();
    } catch (const Error& e) {
        fail(e.what());
    }
}

EventLog::~EventLog() {
    if (failed_) return;
    try {
        sync();
        failpoint("events.synced");
        write_file_atomically(file("complete"), fmt::format("{} {}", clean, last_));
    } catch (const Error&) {
        return;  // the next process takes it for an unclean end
    }
}

fs::path EventLog::file(std::string_view name) const {
    return options_.directory / name;
}

void EventLog::load(const Taker& take) {
    for (const auto& entry : fs::directory_iterator(options_.directory)) {
        const fs::path& path = entry.path();
        const std::uint64_t first = path.extension() == segment_suffix ? to_number(path.stem().native()) : 0;
        if (first > 0) segments_.push_back({first, path});
    }
    std::ranges::sort(segments_, {}, &Segment::first);
    std::uint64_t newest = 0;
    for (const Segment& segment : segments_) newest = std::max(newest, load_segment(segment, take));
    last_ = first_number(newest);
}

// The rest of a file behind the first line that is none counts as lost.
std::uint64_t EventLog::load_segment(const Segment& segment, const Taker& take) {
    std::string content;
    try {
        content = read_file(segment.path, options_.max_bytes + (std::size_t{64} << 20U));
    } catch (const Error& e) {
        log::error("events are lost", {{"file", segment.path.filename().string()}, {"error", e.what()}});
        return segment.first;
    }
    std::uint64_t newest = 0;
    for (std::size_t at = 0; at < content.size();) {
        const auto end = content.find('\n', at);
        if (end == std::string::npos) break;
        Event event = parse_line(std::string_view(content).substr(at, end - at));
        if (!event.text || event.sequence <= newest) break;
        newest = event.sequence;
        take(std::move(event));
        at = end + 1;
    }
    return newest;
}

// The number to go on after. Files that are complete tell it; else whatever may have been taken is skipped.
std::uint64_t EventLog::first_number(std::uint64_t newest) const {
    const auto words = split(read_small(file("complete")), ' ');
    const std::uint64_t reserved = to_number(read_small(file("numbers")));
    if (words.size() == 2 && (words[0] == clean || words[0] == boot_id_))
        return std::max(newest, to_number(words[1]));
    if (reserved == 0 && newest > 0) return newest + reserve_step;
    return std::max(newest, reserved);
}

void EventLog::begin() {
    reserved_ = to_number(read_small(file("numbers")));
    if (last_ + reserve_step / 2 > reserved_) reserve();
    failpoint("events.begins");
    write_file_atomically(file("complete"), fmt::format("{} {}", boot_id_, last_));
}

void EventLog::reserve() {
    write_file_atomically(file("numbers"), std::to_string(last_ + reserve_step));
    reserved_ = last_ + reserve_step;
}

void EventLog::append(const Event& event) {
    last_ = event.sequence;
    if (failed_ && until_retry_-- > 0) return;
    try {
        if (failed_) begin();
        if (last_ + reserve_step / 2 > reserved_) reserve();
        write(event);
        failed_ = false;
    } catch (const Error& e) {
        fail(e.what());
    }
}

void EventLog::write(const Event& event) {
    const bool full = open_bytes_ >= options_.max_bytes / segments_in_window ||
                      open_events_ >= std::max<std::size_t>(options_.max_events / segments_in_window, 1);
    if (!open_ || full) open_segment(event.sequence);
    line_.assign(*event.text).push_back('\n');
    write_all(open_.get(), line_);
    failpoint("events.written");
    open_bytes_ += line_.size();
    ++open_events_;
}

void EventLog::open_segment(std::uint64_t first) {
    const auto path = file(fmt::format("{:020}{}", first, segment_suffix));
    open_ = open_file(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND);
    failpoint("events.segment_opened");
    open_bytes_ = open_events_ = 0;
    if (segments_.empty() || segments_.back().first != first) segments_.push_back({first, path});
}

void EventLog::forget_before(std::uint64_t sequence) {
    while (segments_.size() > 1 && segments_[1].first <= sequence) {
        ::unlink(segments_.front().path.c_str());
        failpoint("events.segment_removed");
        segments_.pop_front();
    }
}

// What is missing now must not be taken for complete. Removing works on a full disk, too.
void EventLog::fail(const std::string& reason) {
    if (!failed_) fault_ = reason;
    failed_ = true;
    until_retry_ = appends_between_retries;
    open_.reset();
    ::unlink(file("complete").c_str());
}

std::string EventLog::take_fault() {
    return std::exchange(fault_, {});
}

void EventLog::sync() {
    for (const Segment& segment : segments_) {
        const FileDescriptor written = open_file(segment.path, O_WRONLY);
        if (::fdatasync(written.get()) != 0) throw system_error("cannot sync events", errno);
    }
}

}  // namespace svc
