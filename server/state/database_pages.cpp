#include "server/state/database_pages.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "libsvc/base/presence.h"

namespace svc::server::state {

namespace {

constexpr std::size_t file_header = 100;  // of the first page
constexpr std::size_t log_header = 32, frame_header = 24;
constexpr unsigned char interior = 2, leaf = 10;  // of tables without row numbers
constexpr std::size_t largest_value = std::size_t{64} << 20U;

std::uint32_t big_endian(std::string_view bytes, std::size_t at, std::size_t count) {
    std::uint32_t number = 0;
    for (std::size_t i = 0; i < count; ++i)
        number = number << 8U | (at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    return number;
}

// SQLite's numbers of one to nine bytes; moves `at` behind it.
std::uint64_t varint(std::string_view bytes, std::size_t& at) {
    std::uint64_t number = 0;
    for (int i = 0; i < 9 && at < bytes.size(); ++i) {
        const auto byte = static_cast<unsigned char>(bytes[at++]);
        if (i == 8) return number << 8U | byte;
        number = number << 7U | (byte & 0x7fU);
        if ((byte & 0x80U) == 0) break;
    }
    return number;
}

std::size_t bytes_of(std::uint64_t type) {
    constexpr std::array<std::size_t, 12> sizes{0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0};
    return type < sizes.size() ? sizes[type] : static_cast<std::size_t>((type - 12) / 2);
}

std::uint64_t number_of(std::string_view bytes, std::uint64_t type) {
    if (type == 9) return 1;
    std::uint64_t number = 0;
    for (const char byte : bytes) number = number << 8U | static_cast<unsigned char>(byte);
    return number;
}

bool is_key(std::string_view text) {
    const std::size_t slash = text.find('/');
    return slash != std::string_view::npos && slash > 0 && text.size() < 1024 &&
           std::ranges::all_of(text.substr(0, slash),
                               [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
}

// A row of three columns: text, text or bytes, number.
void take_row(std::string_view row, const DatabasePages::Take& take) {
    std::size_t at = 0;
    const std::uint64_t header = varint(row, at);
    std::array<std::uint64_t, 3> types{};
    for (std::uint64_t& type : types) type = varint(row, at);
    const bool fits = at == header && types[0] >= 13 && types[0] % 2 == 1 && types[1] >= 12 &&
                      types[2] <= 9 &&
                      at + bytes_of(types[0]) + bytes_of(types[1]) + bytes_of(types[2]) == row.size();
    if (!fits) return;
    const std::string_view key = row.substr(at, bytes_of(types[0]));
    const std::string_view value = row.substr(at + key.size(), bytes_of(types[1]));
    if (is_key(key))
        take(std::string(key), std::string(value),
             number_of(row.substr(at + key.size() + value.size()), types[2]));
}

}  // namespace

DatabasePages::DatabasePages(const std::filesystem::path& file) : file_(open_file(file, O_RDONLY)) {
    std::string header(file_header, '\0');
    const bool whole =
        ::pread(file_.get(), header.data(), header.size(), 0) == static_cast<ssize_t>(header.size());
    const std::uint32_t said = big_endian(header, 16, 2);
    if (whole && header.starts_with("SQLite format 3") && said >= 512 && (said & (said - 1)) == 0)
        page_size_ = said;
    pages_ = static_cast<std::uint32_t>(std::filesystem::file_size(file) / page_size_) + 1;
    std::filesystem::path log = file;
    if (log += "-wal"; is_there(log)) read_log(log);
}

// Frames of one generation have the salt of the log's header.
void DatabasePages::read_log(const std::filesystem::path& path) {
    const std::string log = read_file(path, std::size_t{1} << 30U);
    const auto salt = [&](std::size_t at) { return std::string_view(log).substr(at, 8); };
    for (std::size_t at = log_header; at + frame_header + page_size_ <= log.size();
         at += frame_header + page_size_) {
        if (salt(at + 8) != salt(16)) break;
        const std::uint32_t number = big_endian(log, at, 4);
        newer_[number] = log.substr(at + frame_header, page_size_);
        pages_ = std::max(pages_, number);
    }
}

std::string DatabasePages::page(std::uint32_t number) const {
    if (const auto found = newer_.find(number); found != newer_.end()) return found->second;
    std::string bytes(page_size_, '\0');
    const auto offset = static_cast<off_t>((std::uint64_t{number} - 1) * page_size_);
    const ssize_t got = ::pread(file_.get(), bytes.data(), bytes.size(), offset);
    bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return bytes;
}

void DatabasePages::scan(const Take& take) const {
    for (std::uint32_t number = 1; number <= pages_; ++number)
        scan_page(page(number), number == 1 ? file_header : 0, take);
}

void DatabasePages::scan_page(const std::string& bytes, std::size_t header, const Take& take) const {
    if (bytes.size() < header + 12) return;
    const auto kind = static_cast<unsigned char>(bytes[header]);
    if (kind != interior && kind != leaf) return;
    const std::size_t cells = big_endian(bytes, header + 3, 2);
    const std::size_t pointers = header + (kind == leaf ? 8 : 12);
    for (std::size_t i = 0; i < cells && pointers + 2 * i + 2 <= bytes.size(); ++i) {
        const std::size_t cell = big_endian(bytes, pointers + 2 * i, 2) + (kind == leaf ? 0U : 4U);
        if (const auto row = payload(bytes, cell)) take_row(*row, take);
    }
}

// What does not fit into a page goes on in others, each of which begins with the number of the next.
std::optional<std::string> DatabasePages::payload(const std::string& bytes, std::size_t at) const {
    const std::uint64_t size = varint(bytes, at);
    if (size == 0 || size > largest_value || at >= bytes.size()) return std::nullopt;
    const std::size_t most = (page_size_ - 12) * 64 / 255 - 23, least = (page_size_ - 12) * 32 / 255 - 23;
    const std::size_t kept = least + (size - least) % (page_size_ - 4);
    const std::size_t local = size <= most ? size : kept <= most ? kept : least;
    std::string all = bytes.substr(at, local);
    std::uint32_t next = size <= most ? 0 : big_endian(bytes, at + local, 4);
    while (all.size() < size && next != 0 && next <= pages_) {
        const std::string more = page(next);
        if (more.size() <= 4) break;
        all.append(more, 4, std::min<std::size_t>(page_size_ - 4, size - all.size()));
        next = big_endian(more, 0, 4);
    }
    return all.size() == size ? std::optional(all) : std::nullopt;
}

}  // namespace svc::server::state
