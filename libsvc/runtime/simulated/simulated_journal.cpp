#include "libsvc/runtime/simulated/simulated_journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <limits>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc {

namespace {

constexpr std::size_t spare_lines = 10'000;
constexpr off_t room = off_t{64} << 10;

std::string line_of(std::string_view key, std::string_view value) {
    std::string line(key);
    return line.append(" ").append(value).append("\n");
}

FileDescriptor open_journal(const std::filesystem::path& file) {
    return open_file(file, O_WRONLY | O_CREAT | O_APPEND);
}

}  // namespace

SimulatedJournal::SimulatedJournal(std::filesystem::path file) : file_(std::move(file)) {
    if (!file_.empty()) open_ = open_journal(file_);
}

// Ignores and removes the incomplete last line of a process that was killed, so that the next line starts a
// line.
void SimulatedJournal::read(const Take& take) {
    if (file_.empty()) return;
    const std::string text = read_file(file_, std::numeric_limits<std::size_t>::max());
    std::string_view rest = text;
    for (auto end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
        const std::string_view line = rest.substr(0, end);
        rest.remove_prefix(end + 1);
        const auto space = line.find(' ');
        take(std::string(line.substr(0, space)),
             space == std::string_view::npos ? std::nullopt : std::optional(line.substr(space + 1)));
        ++lines_;
    }
    if (!rest.empty()) std::filesystem::resize_file(file_, text.size() - rest.size());
}

void SimulatedJournal::put(std::string_view key, std::string_view value) {
    append(line_of(key, value));
}

void SimulatedJournal::remove(std::string_view key) {
    append(std::string(key) + "\n");
}

void SimulatedJournal::append(const std::string& line) {
    if (file_.empty()) return;
    const off_t end = ::lseek(open_.get(), 0, SEEK_END);
    try {
        write_all(open_.get(), line);
    } catch (...) {
        std::error_code ignored;  // half a line would spoil the next one
        std::filesystem::resize_file(file_, static_cast<std::uintmax_t>(end), ignored);
        throw;
    }
    keep_room(end + static_cast<off_t>(line.size()));
    ++lines_;
}

void SimulatedJournal::sync() {
    if (!file_.empty() && ::fdatasync(open_.get()) != 0)
        throw system_error("cannot sync " + quoted(file_.native()), errno);
}

// Blocks behind the end: containers can be stopped and removed on a full disk.
void SimulatedJournal::keep_room(off_t end) {
    if (end + room / 2 < room_until_) return;
    if (::fallocate(open_.get(), FALLOC_FL_KEEP_SIZE, end, room) == 0) room_until_ = end + room;
}

bool SimulatedJournal::is_long(std::size_t keys) const {
    return lines_ > 4 * keys + spare_lines;
}

void SimulatedJournal::Copy::put(std::string_view key, std::string_view value) {
    text_ += line_of(key, value);
    ++lines_;
}

void SimulatedJournal::replace(const Copy& copy) {
    if (file_.empty()) return;
    write_file_atomically(file_, copy.text_);
    open_ = open_journal(file_);
    lines_ = copy.lines_;
    room_until_ = 0;
}

}  // namespace svc
