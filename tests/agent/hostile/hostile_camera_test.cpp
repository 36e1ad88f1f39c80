// Pictures and writers of video that mean harm, through the sockets.
#include <catch2/catch.hpp>

#include <sys/socket.h>

#include <random>
#include <thread>

#include "tests/agent/camera/camera_place.h"
#include "tests/agent/hostile/whole_agent.h"

using namespace svc;
using namespace svc::test;

namespace {

const std::string camera_on = R"({"enable":true})", camera_off = R"({"enable":false})";

std::string switch_on(const WholeAgent& agent) {
    return agent.ask("POST", "/1.0/camera", camera_on).at("metadata").at("video_stream_socket").as_string();
}

std::string noise(unsigned width, unsigned height, bool progressive = false) {
    return make_jpeg(width, height, [](unsigned x, unsigned y) { return x * 7919 ^ y * 104729; },
                     {.progressive = progressive});
}

std::string with_byte(std::string jpeg, std::size_t at, char byte) {
    jpeg.at(at) = byte;
    return jpeg;
}

// Segments that say they are longer than the file, or shorter than themselves.
std::vector<std::string> hostile_pictures() {
    const std::string good = noise(640, 480), progressive = noise(640, 480, true);
    const std::size_t frame = find_segment(good, 0xC0), tables = find_segment(good, 0xC4),
                      scan = find_segment(good, 0xDA), steps = find_segment(good, 0xDB);
    std::vector<std::string> all{std::string("\xFF\xD8\xFF", 3),
                                 std::string("\xFF\xD8\xFF\xD9", 4),
                                 std::string("\xFF\xD8\xFF\xE0\xFF\xFF", 6),
                                 "GIF89a" + std::string(1000, '\0'),
                                 std::string(8U << 20, '\xFF'),
                                 std::string("\xFF\xD8", 2) + std::string(4U << 20, '\0'),
                                 with_size(good, 65535, 65535),
                                 with_size(good, 0, 0),
                                 with_size(good, 0, 480),
                                 with_size(good, 1920, 1080),
                                 with_size(progressive, 1920, 1080, 0xC2),
                                 with_size(noise(1280, 720), 1280, 721),
                                 with_byte(good, frame + 4, 12),  // bits a sample
                                 with_byte(good, frame + 9, 0),   // components
                                 with_byte(good, frame + 9, 77),
                                 with_byte(good, frame + 11, '\0'),  // sampling
                                 with_byte(good, frame + 11, '\xFF'),
                                 with_byte(good, frame + 12, '\x7F'),  // table of steps
                                 with_byte(good, frame + 1, '\xC3'),   // lossless
                                 with_byte(good, frame + 3, '\x02'),
                                 with_byte(good, tables + 4, '\xFF'),
                                 with_byte(good, tables + 5, '\xFF'),
                                 with_byte(good, steps + 4, '\xFF'),
                                 with_byte(good, scan + 4, 0),
                                 with_byte(good, scan + 4, 9),
                                 with_byte(good, scan + 6, '\xFF'),
                                 good.substr(0, scan) + good.substr(frame, scan - frame) + good.substr(scan)};
    for (const std::string& whole : {good, progressive})
        for (std::size_t size = 3; size < whole.size(); size += 1 + whole.size() / 25)
            all.push_back(whole.substr(0, size));
    return all;
}

// A picture that takes long: as many scans as are let through.
std::string slow_picture(int more_scans) {
    std::string jpeg = noise(1920, 1080, true);
    const std::size_t end = jpeg.rfind("\xFF\xD9");
    const std::size_t last = jpeg.rfind("\xFF\xDA", end);
    const std::string scan = jpeg.substr(last, end - last);
    for (int i = 0; i < more_scans; ++i) jpeg.insert(end, scan);
    return jpeg;
}

}  // namespace

TEST_CASE("hostile pictures are refused with a text, and the earlier one stays") {
    const WholeAgent agent;
    switch_on(agent);
    const std::size_t before = open_descriptors();
    REQUIRE(agent.outcome("POST", "/1.0/camera/data", noise(640, 480)) == "201");
    int number = 0;
    for (const std::string& picture : hostile_pictures()) {
        INFO(number++ << ", " << picture.size() << " bytes");
        const std::string outcome = agent.outcome("POST", "/1.0/camera/data", picture);
        CHECK((outcome == "400 Image is not a valid JPEG" || outcome.rfind("400 Image size ", 0) == 0));
    }
    CHECK(agent.ask("GET", "/1.0/camera").at("metadata").at("data_available").as_bool());
    CHECK(agent.outcome("POST", "/1.0/camera/data", std::string((32U << 20) + 1, '\xFF')).substr(0, 4) ==
          "400 ");
    CHECK(agent.is_unharmed(before));
}

TEST_CASE("damage anywhere in a picture is decoded or refused") {
    const WholeAgent agent;
    switch_on(agent);
    std::mt19937 random(2);
    const std::string whole = noise(640, 480, GENERATE(false, true));
    for (int round = 0; round < 60; ++round) {
        std::string damaged = whole;
        const std::size_t reach = round % 2 == 0 ? damaged.size() : 700;  // the headers, each second time
        for (int i = 0; i < 3; ++i) damaged[2 + random() % (reach - 2)] = static_cast<char>(random());
        const std::string outcome = agent.outcome("POST", "/1.0/camera/data", damaged);
        CHECK((outcome == "201" || outcome.rfind("400 Image ", 0) == 0));
    }
}

TEST_CASE("slow pictures from all sides hold up no other route") {
    const std::string slow = slow_picture(40);
    std::atomic<int> strange{0};
    {
        const WholeAgent agent;
        switch_on(agent);
        std::vector<std::jthread> senders;
        for (int i = 0; i < 4; ++i)
            senders.emplace_back([&] {
                for (int times = 0; times < 2; ++times) {
                    const int status =
                        ask(agent.api(), http_request("POST", "/1.0/camera/data", slow)).status;
                    if (status != 201 && status != 400 && status != 500) ++strange;
                }
            });
        for (int i = 0; i < 50; ++i) CHECK(agent.outcome("GET", "/1.0/location") == "200");
        CHECK(agent.outcome("POST", "/1.0/camera", camera_off) == "200");
        CHECK(agent.outcome("POST", "/1.0/camera", camera_on) == "200");
    }
    CHECK(strange == 0);
}

TEST_CASE("a sender that ends its side is told what became of its picture") {
    const WholeAgent agent;
    switch_on(agent);
    RawClient sender(agent.api());
    REQUIRE(sender.send(http_request("POST", "/1.0/camera/data", slow_picture(0))));
    shutdown(sender.descriptor(), SHUT_WR);
    CHECK(sender.reply().status == 201);
    CHECK(sender.read_to_end().empty());
}

TEST_CASE("an agent that ends while pictures are decoded ends whole") {
    const std::string request = http_request("POST", "/1.0/camera/data", slow_picture(40));
    std::vector<std::unique_ptr<RawClient>> senders;
    const WholeAgent agent;
    switch_on(agent);
    for (int i = 0; i < 3; ++i) {
        senders.push_back(std::make_unique<RawClient>(agent.api()));
        CHECK(senders.back()->send(request));
    }
    senders.pop_back();  // nobody waits for this one any more
}

TEST_CASE("writers that stop, flood or leave do not hold up the camera") {
    const WholeAgent agent;
    const std::string path = switch_on(agent);
    const std::size_t before = open_descriptors();
    const std::string frame = plain_frame(1280, 720, red);
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, frame.size() / 2, frame.size() - 1,
                                    frame.size() + 1, frame.size() * 3 + 5}) {
        VideoWriter writer(path);
        REQUIRE(writer.connected());
        std::string data;
        while (data.size() < bytes) data += frame;
        CHECK(writer.write(std::string_view(data).substr(0, bytes)));
        CHECK(agent.outcome("GET", "/1.0/camera") == "200");
    }
    {
        VideoWriter stopped(path);
        CHECK(stopped.write(frame.substr(0, 1000)));
        std::vector<std::unique_ptr<VideoWriter>> crowd;
        for (int i = 0; i < 500; ++i) crowd.push_back(std::make_unique<VideoWriter>(path));
        for (const auto& writer : crowd) CHECK((!writer->connected() || writer->is_closed()));
        CHECK(stopped.write(frame));
        CHECK(agent.outcome("POST", "/1.0/camera", camera_off) == "200");
        CHECK(stopped.is_closed());
        CHECK_FALSE(VideoWriter(path).connected());
    }
    switch_on(agent);
    CHECK(agent.is_unharmed(before));
}

TEST_CASE("guests that come and go while a writer floods leave nothing") {
    const WholeAgent agent;
    const std::string path = switch_on(agent);
    const std::size_t before = open_descriptors();
    {
        std::jthread writing([&](const std::stop_token& stop) {
            const std::string frame = plain_frame(640, 480, green);
            const VideoWriter writer(path);
            while (!stop.stop_requested() && writer.write(frame)) continue;
        });
        for (int round = 0; round < 60; ++round) {
            GuestClient guest(agent.guest_socket());
            guest.hello();
            const Json answer =
                guest.ask(R"({"id":2,"op":"camera.open","camera":"0","width":640,"height":480,"fps":60})");
            if (!answer.at("ok").as_bool()) {  // the one before is not gone yet
                CHECK(answer.at("error").as_string() == "camera busy");
                continue;
            }
            for (int i = 0; i < round % 4; ++i) CHECK(guest.receive().kind == 2);
            for (const char* slot : {"\0\0\0\0", "\5\0\0\0", "\xFF\xFF\xFF\xFF"})
                guest.send(agent::pack(agent::MessageKind::release, 1, std::string_view(slot, 4)));
            guest.send(agent::pack(agent::MessageKind::release, 65535, std::string_view("\0\0\0\0", 4)));
            if (round % 5 == 0) CHECK(agent.outcome("GET", "/1.0/camera") == "200");
        }
    }
    CHECK(agent.is_unharmed(before));
}
