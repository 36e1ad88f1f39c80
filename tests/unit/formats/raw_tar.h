#pragma once
// Tar archives header by header, also such as no tar program would write.
#include <cstdint>
#include <cstdio>
#include <string>

namespace svc::test {

// Fields as they stand in the header; numbers in octal, or in base 256 (see binary_number).
struct RawHeader {
    std::string name;
    char type = '0';
    std::string size = "0";
    std::string link = {};
    std::string mode = "644";
    std::string uid = "0";
    std::string gid = "0";
    std::string mtime = "14524770400";
    bool gnu = false;
};

// A number as GNU tar writes large and negative ones into a field of `width` bytes.
inline std::string binary_number(std::int64_t value, std::size_t width) {
    std::string field(width, value < 0 ? '\xFF' : '\0');
    for (std::size_t i = 0; i < 8 && i < width; ++i)
        field[width - 1 - i] = static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i) & 0xFF);
    if (value >= 0) field[0] = '\x80';
    return field;
}

inline std::string octal(std::uint64_t value) {
    char text[32];
    std::snprintf(text, sizeof text, "%llo", static_cast<unsigned long long>(value));
    return text;
}

inline void seal(std::string& block) {
    block.replace(148, 8, 8, ' ');
    unsigned sum = 0;
    for (const char c : block) sum += static_cast<unsigned char>(c);
    char text[8];
    std::snprintf(text, sizeof text, "%06o", sum);
    block.replace(148, 7, text, 7);
}

inline std::string raw_header(const RawHeader& header) {
    std::string block(512, '\0');
    const auto put = [&block](std::size_t at, std::size_t width, const std::string& text) {
        block.replace(at, std::min(width, text.size()), text, 0, width);
    };
    put(0, 100, header.name);
    put(100, 8, header.mode);
    put(108, 8, header.uid);
    put(116, 8, header.gid);
    put(124, 12, header.size);
    put(136, 12, header.mtime);
    block[156] = header.type;
    put(157, 100, header.link);
    put(257, 8, header.gnu ? std::string("ustar  ") : std::string("ustar\00000", 8));
    seal(block);
    return block;
}

inline std::string padded(std::string content) {
    content.resize((content.size() + 511) / 512 * 512, '\0');
    return content;
}

inline std::string raw_entry(RawHeader header, const std::string& content = {}) {
    if (header.size == "0") header.size = octal(content.size());
    return raw_header(header) + padded(content);
}

// "27 path=some/where\n", which counts itself.
inline std::string pax_record(const std::string& key, const std::string& value) {
    std::size_t size = key.size() + value.size() + 3;
    while (std::to_string(size).size() + key.size() + value.size() + 3 > size) ++size;
    return std::to_string(size) + " " + key + "=" + value + "\n";
}

// What describes the next entry; 'g': all that follow.
inline std::string pax(const std::string& records, char type = 'x') {
    return raw_entry({.name = "PaxHeaders/x", .type = type}, records);
}

inline const std::string raw_end(1024, '\0');

}  // namespace svc::test
