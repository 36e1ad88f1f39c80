// Access units of H.264 as encoders write them, and what the payloader is given.
#include <catch2/catch.hpp>
#include <initializer_list>

#include "instance-agent/streamer/media/video/access_units.h"

namespace svc::streamer {
namespace {

const Bytes delimiter{0x09, 0xF0}, sequence_set{0x67, 0x42, 0xE0, 0x1F, 0x8C}, picture_set{0x68, 0xCE, 0x3C},
    message{0x06, 0x05, 0x10}, filler{0x0C, 0xFF, 0x80}, key{0x65, 0x88, 0x84, 0x00, 0x33},
    delta{0x41, 0x9A, 0x02};

Bytes of(std::initializer_list<Bytes> units, std::size_t zeros = 3) {
    Bytes bytes;
    for (const Bytes& unit : units) {
        bytes.insert(bytes.end(), zeros, 0);
        bytes.push_back(1);
        bytes.insert(bytes.end(), unit.begin(), unit.end());
    }
    return bytes;
}

TEST_CASE("delimiters and filler are not sent") {
    AccessUnits units;
    CHECK(units.tidy(of({delimiter, sequence_set, picture_set, message, key})) ==
          of({sequence_set, picture_set, message, key}));
    CHECK(units.tidy(of({delimiter, delta, filler})) == of({delta}));
}

TEST_CASE("parameter sets are before each picture that begins anew, once") {
    AccessUnits units;
    CHECK(units.tidy(of({sequence_set, picture_set, sequence_set, picture_set, key})) ==
          of({sequence_set, picture_set, key}));
    SECTION("where the encoder writes them each time") {
        CHECK(units.tidy(of({sequence_set, picture_set, key})) == of({sequence_set, picture_set, key}));
    }
    SECTION("where it does not") {
        CHECK(units.tidy(of({sequence_set, picture_set, delta})) == of({sequence_set, picture_set, delta}));
        CHECK(units.tidy(of({key, key})) == of({sequence_set, picture_set, key, key}));
    }
    SECTION("after its picture") {
        CHECK(units.tidy(of({key, picture_set, sequence_set})) == of({sequence_set, picture_set, key}));
    }
}

TEST_CASE("parameter sets that come alone are kept for the next picture, of whatever kind") {
    AccessUnits units;
    CHECK_FALSE(units.tidy(of({sequence_set})));
    CHECK_FALSE(units.tidy(of({delimiter, picture_set})));
    SECTION("which begins anew") {
        CHECK(units.tidy(of({key})) == of({sequence_set, picture_set, key}));
    }
    SECTION("from which a decoder recovers") {
        CHECK(units.tidy(of({delimiter, message, delta})) == of({sequence_set, picture_set, message, delta}));
    }
    CHECK(units.tidy(of({delta})) == of({delta}));
    CHECK_FALSE(units.tidy(of({picture_set})));
    CHECK(units.tidy(of({delta})) == of({sequence_set, picture_set, delta}));
    CHECK(units.tidy(of({key})) == of({sequence_set, picture_set, key}));
}

TEST_CASE("parameter sets are told by their ids, in whatever buffers they come") {
    const Bytes second_sequence{0x67, 0x42, 0xE0, 0x1F, 0x50},  // id 1
        second_picture{0x68, 0x4E, 0x3C},                       // id 1
        last_picture{0x68, 0x00, 0x80, 0x3C},                   // id 255
        other_picture{0x68, 0xCE, 0x3D};                        // id 0, again
    AccessUnits units;
    CHECK_FALSE(units.tidy(of({sequence_set, last_picture})));
    CHECK_FALSE(units.tidy(of({picture_set})));
    CHECK_FALSE(units.tidy(of({second_picture})));
    CHECK_FALSE(units.tidy(of({second_sequence})));
    CHECK(units.tidy(of({key})) ==
          of({sequence_set, second_sequence, picture_set, second_picture, last_picture, key}));
    CHECK(units.tidy(of({other_picture, key})) ==
          of({sequence_set, second_sequence, other_picture, second_picture, last_picture, key}));
}

TEST_CASE("parameter sets that are cut off are passed on like others") {
    const Bytes cut_sequence{0x67, 0x42}, cut_picture{0x68};
    AccessUnits units;
    CHECK(units.tidy(of({cut_sequence, cut_picture, key})) == of({cut_sequence, cut_picture, key}));
}

TEST_CASE("start codes are long or short, and zeros after a unit are nothing") {
    AccessUnits units;
    Bytes loose = of({sequence_set, picture_set, key}, 2);
    loose.insert(loose.end(), 3, 0);
    CHECK(units.tidy(loose) == of({sequence_set, picture_set, key}));
    CHECK(units.tidy(of({delta}, 5)) == of({delta}));
}

TEST_CASE("what has no unit has no picture") {
    AccessUnits units;
    CHECK_FALSE(units.tidy(Bytes{}));
    CHECK_FALSE(units.tidy(Bytes{1, 2, 3}));
    CHECK_FALSE(units.tidy(Bytes{0, 0, 1}));
}

}  // namespace
}  // namespace svc::streamer
