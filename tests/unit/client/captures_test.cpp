#include "libsvc/client/captures.h"

#include <catch2/catch.hpp>

using namespace svc;

namespace {

std::string box(const std::string& name, std::size_t bytes) {
    std::string text;
    for (int shift = 24; shift >= 0; shift -= 8)
        text.push_back(static_cast<char>((bytes + 8) >> shift & 0xff));
    return text + name + std::string(bytes, 'x');
}

// A box whose size has 64 bits.
std::string large_box(const std::string& name, std::size_t bytes) {
    std::string text("\0\0\0\1", 4);
    text += name;
    for (int shift = 56; shift >= 0; shift -= 8)
        text.push_back(static_cast<char>((bytes + 16) >> shift & 0xff));
    return text + std::string(bytes, 'x');
}

}  // namespace

TEST_CASE("a recording that is broken off keeps its whole fragments") {
    const std::string head = box("ftyp", 12) + box("moov", 200);
    const std::string first = box("moof", 90) + box("mdat", 300),
                      second = box("moof", 80) + large_box("mdat", 20);
    const std::string all = head + first + second;
    for (std::size_t end = 0; end <= all.size(); ++end) {
        WholeFragments fragments;
        for (std::size_t at = 0; at < end; at += 7)
            fragments.take(std::string_view(all).substr(at, std::min<std::size_t>(7, end - at)));
        const std::size_t whole = end == all.size()                   ? all.size()
                                  : end >= head.size() + first.size() ? head.size() + first.size()
                                                                      : 0;
        CHECK(fragments.bytes() == whole);
    }
}

TEST_CASE("a size without sense makes nothing whole") {
    const std::string bytes =
        GENERATE(std::string("\0\0\0\0mdatxxxxxxxx", 16), std::string("\0\0\0\7mdatxxxxxxxx", 16),
                 std::string("\0\0\0\1mdat\0\0\0\0\0\0\0\3", 16),
                 std::string("\0\0\0\1mdat\xff\xff\xff\xff\xff\xff\xff\xff", 16));
    WholeFragments fragments;
    fragments.take(bytes + std::string(1000, 'x'));
    CHECK(fragments.bytes() == 0);
}
