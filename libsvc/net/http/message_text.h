#pragma once
// Internal to the folder net: how requests and replies are written, alike for both.
#include <charconv>
#include <string>
#include <string_view>

namespace svc::net {

// "name: value" and the end of the line. Control characters would end the line early, and are left out.
inline void append_field(std::string& out, std::string_view name, std::string_view value) {
    const auto append_clean = [&out](std::string_view text) {
        for (const char c : text)
            if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) out += c;
    };
    append_clean(name);
    out += ": ";
    append_clean(value);
    out += "\r\n";
}

// A piece of a chunked body; an empty piece is its end.
inline std::string as_chunk(std::string_view data) {
    char size[20];
    const auto end = std::to_chars(size, size + sizeof(size), data.size(), 16).ptr;
    std::string chunk;
    chunk.reserve(data.size() + sizeof(size) + 4);
    chunk.append(size, end).append("\r\n").append(data).append("\r\n");
    return chunk;
}

}  // namespace svc::net
