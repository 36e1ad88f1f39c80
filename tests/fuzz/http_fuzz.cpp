// Request lines, headers and bodies as the listener reads them, in pieces whose size the first byte chooses.
#include <algorithm>
#include <array>
#include <cstdint>

#include "libsvc/base/error.h"
#include "libsvc/net/http/http_parser.h"
#include "tests/fuzz/target.h"

namespace svc::fuzz::http_target {

namespace {

void read_body(svc::net::RequestParser& parser, svc::net::InputBuffer& in) {
    std::array<char, 512> buffer;
    while (!parser.complete() && parser.take_body(in, buffer.data(), buffer.size()) > 0) continue;
}

void parse(std::string_view text, std::size_t piece) {
    svc::net::RequestParser parser(4096, 50);
    svc::net::InputBuffer in;
    bool in_body = false;
    for (std::size_t at = 0; at < text.size(); at += piece) {
        in.append(text.data() + at, std::min(piece, text.size() - at));
        if (!in_body) in_body = parser.take_header(in);
        if (in_body) read_body(parser, in);
    }
    if (in_body) parser.request();
}

}  // namespace

FUZZ_TARGET(http)(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    try {
        parse({reinterpret_cast<const char*>(data) + 1, size - 1}, data[0] % 64 + 1);
    } catch (const svc::Error&) {
        return 0;
    }
    return 0;
}

}  // namespace svc::fuzz::http_target
