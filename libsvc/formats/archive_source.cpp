#include "libsvc/formats/archive_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

#include "libsvc/base/error.h"

namespace svc {

namespace {

constexpr std::size_t piece_bytes = 256U << 10;
constexpr std::uint64_t max_padding = 16U << 20;        // zeros behind the last entry
constexpr std::uint64_t framing_allowance = 32U << 20;  // bytes of no file: headers and padding
// A stream of bzip2 without content is 14 bytes long, and each costs a new decoder.
constexpr unsigned max_empty_streams = 1000;

std::uint64_t size_of(int file) {
    struct stat info {};
    if (::fstat(file, &info) != 0) throw system_error("cannot read the archive", errno);
    return static_cast<std::uint64_t>(info.st_size);
}

}  // namespace

ArchiveSource::ArchiveSource(const std::filesystem::path& file, Compression compression,
                             const ExpansionLimit& limit)
    : file_(open_file(file, O_RDONLY)),
      file_size_(size_of(file_.get())),
      limit_(limit),
      decoder_(make_decoder(compression)),
      buffer_(piece_bytes, '\0'),
      decoded_(decoder_ ? piece_bytes : 0, '\0') {}

ArchiveSource::ArchiveSource(FileDescriptor stream)
    : file_(std::move(stream)),
      limit_{std::numeric_limits<std::uint64_t>::max(), 1},
      buffer_(piece_bytes, '\0') {}

void ArchiveSource::fill() {
    while (!file_ended_ && input_.empty()) {
        const ssize_t got = ::read(file_.get(), buffer_.data(), buffer_.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) throw system_error("cannot read the archive", errno);
        input_ = std::string_view(buffer_).substr(0, static_cast<std::size_t>(got));
        read_ += input_.size();
        file_ended_ = got == 0;
    }
}

std::string_view ArchiveSource::next() {
    fill();
    piece_ = decoder_ ? decode() : std::exchange(input_, {});
    unpacked_ += piece_.size();
    check_expansion(unpacked_ - std::min(unpacked_, framing_allowance));
    return piece_;
}

std::string_view ArchiveSource::decode() {
    for (;; fill()) {
        if (input_.empty() && !in_stream_) return {};
        in_stream_ = true;
        const Decoder::Step step = decoder_->decode(input_, decoded_);
        input_.remove_prefix(step.taken);
        stream_empty_ = stream_empty_ && step.made == 0;
        if (step.ended) end_stream(stream_empty_);
        if (step.made > 0) return std::string_view(decoded_).substr(0, step.made);
        const bool stuck = step.taken == 0 && !step.ended;
        if (stuck && (file_ended_ || !input_.empty())) throw_malformed_archive("it is truncated");
    }
}

void ArchiveSource::end_stream(bool empty) {
    in_stream_ = false;
    stream_empty_ = true;
    empty_streams_ = empty ? empty_streams_ + 1 : 0;
    if (empty_streams_ > max_empty_streams) throw_malformed_archive("it has too many empty streams");
    decoder_->restart();
}

void ArchiveSource::finish(std::uint64_t unused) {
    check_padding(piece_.substr(piece_.size() - std::min<std::uint64_t>(unused, piece_.size())));
    while (!next().empty()) check_padding(piece_);
}

void ArchiveSource::check_padding(std::string_view piece) {
    padding_ += piece.size();
    const bool zeros = std::all_of(piece.begin(), piece.end(), [](char c) { return c == '\0'; });
    if (!zeros || padding_ > max_padding) throw_malformed_archive("bytes follow its end");
}

void ArchiveSource::seek(std::uint64_t offset) {
    if (::lseek(file_.get(), static_cast<off_t>(offset), SEEK_SET) < 0)
        throw system_error("cannot read the archive", errno);
    input_ = {};
    file_ended_ = false;
    read_ = offset;
}

void ArchiveSource::check_expansion(std::uint64_t bytes) const {
    if (bytes <= limit_.always || bytes / limit_.max_times < file_size_) return;
    throw Error(ErrorCode::invalid_argument,
                "archive unpacks to more than " + std::to_string(limit_.max_times) + " times its size");
}

}  // namespace svc
