#include "instance-agent/streamer/guest_display/display_session.h"

#include <catch2/catch.hpp>

#include "tests/streamer/guest_display/display_packets.h"

namespace svc::streamer {
namespace {

// A program that has said hello and what became of its buffers.
struct Program {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> returned;  // buffer, turn
    DisplaySession session{[this](BufferTurn turn) { returned.emplace_back(turn.buffer, turn.turn); }};

    Program() { session.take(hello_packet(), {}); }
    void add(std::uint32_t number) { add(wire_of(number)); }
    void add(const wire_buffer& wire) {
        session.take(packet_of(wire), with(memory_of(std::size_t{wire.stride} * wire.height)));
    }
    std::shared_ptr<const RawFrame> present(std::uint32_t number, std::uint32_t turn = 1) {
        return session.take(present_packet(number, turn), {});
    }
    std::string fault(std::string_view packet, std::vector<FileDescriptor> descriptors = {}) {
        try {
            session.take(packet, std::move(descriptors));
        } catch (const Error& e) {
            return e.what();
        }
        return "";
    }
};

TEST_CASE("a display program's malformed messages") {
    Program program;
    program.add(1);
    const auto changed = [](auto change) {
        wire_buffer wire = wire_of(0);
        change(wire);
        return packet_of(wire);
    };
    struct Row {
        std::string packet, why;
        int descriptors = 0;
    };
    const std::uint32_t strange = 4711, mode = WIRE_MODE;
    const std::vector<Row> rows{
        {"", "too short"},
        {"abc", "too short"},
        {packet_of(strange), "unknown kind 4711"},
        {packet_of(mode), "unknown kind 65"},
        {hello_packet(), "second hello"},
        {hello_packet() + "x", "9 bytes instead of 8"},
        {packet_of(wire_of(0)), "one descriptor"},
        {packet_of(wire_of(0)), "one descriptor", 2},
        {packet_of(wire_of(0)).substr(0, 36), "36 bytes", 1},
        {packet_of(wire_of(0)) + "12345678", "48 bytes", 1},
        {packet_of(wire_of(8)), "buffers 0 to 7", 1},
        {packet_of(wire_of(0xffffffff)), "buffers 0 to 7", 1},
        {packet_of(wire_of(1)), "buffer 1 is there already", 1},
        {changed([](wire_buffer& wire) { wire.zero = 1; }), "does not know", 1},
        {changed([](wire_buffer& wire) { wire.stride = 4; }), "buffer 0: its rows", 1},
        {changed([](wire_buffer& wire) { wire.height = 4096; }), "buffer 0: its memory is smaller", 1},
        {changed([](wire_buffer& wire) { wire.fourcc = 1; }), "buffer 0: its format", 1},
        {present_packet(0), "buffer 0 is not there"},
        {present_packet(8), "buffers 0 to 7"},
        {present_packet(1), "only a buffer has a descriptor", 1},
        {present_packet(1).substr(0, 8), "8 bytes instead of 12"},
        {remove_packet(0), "buffer 0 is not there"},
        {remove_packet(0x80000000), "buffers 0 to 7"},
    };
    for (const Row& row : rows) {
        INFO(row.why);
        std::vector<FileDescriptor> descriptors;
        for (int i = 0; i < row.descriptors; ++i) descriptors.push_back(memory_of(4096));
        CHECK_THAT(program.fault(row.packet, std::move(descriptors)), Catch::Contains(row.why));
    }
    CHECK(program.present(1));  // none of them has done anything
}

TEST_CASE("the first message is a hello of this version") {
    DisplaySession session([](BufferTurn) {});
    CHECK_THROWS_WITH(session.take(present_packet(0), {}), "the first message is no hello");
    CHECK_THROWS_WITH(session.take(packet_of(wire_of(0)), with(memory_of(4096))),
                      Catch::Contains("no hello"));
    CHECK_THROWS_WITH(session.take(hello_packet(2), {}), "the program speaks version 2, this streamer 1");
    CHECK_FALSE(session.greeted());
    session.take(hello_packet(), {});
    CHECK(session.greeted());
}

TEST_CASE("a buffer is the streamer's from its presentation until its frame is gone") {
    Program program;
    program.add(3);
    auto frame = program.present(3, 7);
    REQUIRE(frame);
    CHECK_THAT(program.fault(present_packet(3, 8)), Catch::Contains("buffer 3 was presented twice"));
    CHECK(program.returned.empty());
    frame.reset();
    REQUIRE(program.returned.size() == 1);
    CHECK(program.returned[0] == std::pair(3U, 7U));
    CHECK(program.session.take_back({3, 7}));
    CHECK_FALSE(program.session.take_back({3, 7}));
    CHECK(program.present(3, 8));
}

TEST_CASE("a removed buffer is shown to its end, and never given back in the place of another one") {
    Program program;
    program.add(3);
    const auto frame = program.present(3, 7);
    program.session.take(remove_packet(3), {});
    CHECK(frame->pixels[0] == 0);
    CHECK_FALSE(program.session.take_back({3, 7}));
    program.add(3);
    const auto next = program.present(3, 8);
    CHECK_FALSE(program.session.take_back({3, 7}));
    CHECK(program.session.take_back({3, 8}));
}

TEST_CASE("the buffers of a display are bounded together") {
    Program program;
    wire_buffer big = wire_of(0, 4096, 4096);  // 64 MiB, of which no page is touched
    for (; big.buffer < 4; ++big.buffer) program.add(big);
    CHECK_THAT(program.fault(packet_of(big), with(memory_of(std::size_t{64} << 20))),
               Catch::Contains("256 MiB together"));
}

}  // namespace
}  // namespace svc::streamer
