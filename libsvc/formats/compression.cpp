#include "libsvc/formats/compression.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/json.h"
#include "libsvc/base/strings.h"

namespace svc {

namespace {

// The checksum of a tar header: the sum of its 512 bytes with the checksum field read as spaces.
bool is_tar_header(std::string_view block) {
    if (block.size() < 512) return false;
    constexpr std::size_t field = 148;
    constexpr std::size_t field_size = 8;
    unsigned sum = field_size * ' ';
    for (std::size_t i = 0; i < 512; ++i)
        if (i < field || i >= field + field_size) sum += static_cast<unsigned char>(block[i]);
    unsigned written = 0;
    for (char c : trim(block.substr(field, 6)))
        if (c >= '0' && c <= '7') written = written * 8 + static_cast<unsigned>(c - '0');
    return sum == written;
}

std::string read_start(const std::filesystem::path& file) {
    const FileDescriptor source = open_file(file, O_RDONLY);
    std::string start(512, '\0');
    std::size_t size = 0;
    while (size < start.size()) {
        const ssize_t got = ::read(source.get(), start.data() + size, start.size() - size);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) throw system_error("cannot read the archive", errno);
        if (got == 0) break;
        size += static_cast<std::size_t>(got);
    }
    start.resize(size);
    return start;
}

}  // namespace

Compression detect_compression(const std::filesystem::path& file) {
    using namespace std::string_view_literals;
    const std::string start = read_start(file);
    if (start.starts_with("\x1F\x8B"sv)) return Compression::gzip;
    if (start.starts_with("BZh"sv)) return Compression::bzip2;
    if (start.starts_with("\xFD"
                          "7zXZ\0"sv))
        return Compression::xz;
    if (start.starts_with("\x28\xB5\x2F\xFD"sv)) return Compression::zstd;
    return is_tar_header(start) ? Compression::none : Compression::unknown;
}

std::string_view to_text(Compression compression) {
    switch (compression) {
        case Compression::none:
            return "none";
        case Compression::gzip:
            return "gzip";
        case Compression::bzip2:
            return "bzip2";
        case Compression::xz:
            return "xz";
        case Compression::zstd:
            return "zstd";
        case Compression::unknown:
            break;
    }
    return "unknown";
}

Compression written_compression(std::string_view text) {
    if (text == "gzip") return Compression::gzip;
    if (text == "zstd") return Compression::zstd;
    throw_invalid("compression", quoted(text) + " is not one of gzip, zstd");
}

void throw_malformed_archive(const std::string& reason) {
    throw Error(ErrorCode::invalid_argument, "archive is malformed: " + reason);
}

}  // namespace svc
