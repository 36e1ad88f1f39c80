// The client's channel `svc:files`: the messages, with a real folder.
#include "instance-agent/streamer/client/file_channel.h"

#include "tests/streamer/session/streamer_place.h"
#include "tests/support/eventually.h"

using namespace svc;
using namespace svc::streamer;
using test::eventually;
namespace fs = std::filesystem;

namespace {

const std::string label(files_label);

struct FilePlace {
    TemporaryDirectory directory{fs::temp_directory_path(), "file-channel-"};
    fs::path folder = directory.path() / "Downloads";
    StreamerPlace place{[this](StreamerParts& parts) { parts.options.download_directory = folder; }};

    FilePlace() {
        place.connect();
        place.peers.events->channel_opened(label);
        CHECK(
            told_last(R"({"type":"allowed","to_instance":true,"from_instance":true,"largest":2147483648})"));
    }
    void say(const std::string& text) { place.peers.events->channel_message(label, false, text); }
    void bytes(const std::string& data) { place.peers.events->channel_message(label, true, data); }
    void put(int id, const std::string& path, std::size_t size) {
        say(R"({"type":"put","id":)" + std::to_string(id) + R"(,"path":")" + path + R"(","size":)" +
            std::to_string(size) + "}");
    }
    std::vector<std::string> messages() {
        std::vector<std::string> own;
        for (const std::string& sent : place.peers.all_sent())
            if (sent.starts_with(label + " text ")) own.push_back(sent.substr(label.size() + 6));
        return own;
    }
    // Whether so many messages of the type came.
    bool told(const std::string& type, std::size_t count) {
        return eventually([&] {
            const auto all = messages();
            return static_cast<std::size_t>(
                       std::count_if(all.begin(), all.end(), [&](const std::string& one) {
                           return one.starts_with(R"({"type":")" + type + "\"");
                       })) >= count;
        });
    }
    bool told_last(const std::string& text) {
        return eventually([&] {
            const auto all = messages();
            return !all.empty() && all.back() == text;
        });
    }
    std::string fetched() {
        std::string all;
        for (const std::string& sent : place.peers.all_sent())
            if (sent.starts_with(label + " binary ")) all += sent.substr(label.size() + 8);
        return all;
    }
    void allow(const std::string& items) const {
        place.api(Method::patch, "/1.0/platform", Json::parse(R"({"config":)" + items + "}"));
    }
};

}  // namespace

TEST_CASE("a file of the client comes into the folder, acknowledged on its way") {
    FilePlace desk;
    const std::string piece(16384, 'x');
    desk.put(1, "sub/large.bin", 40 * piece.size());
    for (int i = 0; i < 40; ++i) desk.bytes(piece);
    CHECK(desk.told_last(R"({"type":"stored","id":1,"name":"large.bin"})"));
    CHECK(desk.told("ack", 3));
    CHECK(fs::file_size(desk.folder / "sub/large.bin") == 40 * piece.size());
    desk.put(2, "empty", 0);
    CHECK(desk.told_last(R"({"type":"stored","id":2,"name":"empty"})"));
    desk.put(3, "empty", 1);
    desk.bytes("1");
    CHECK(desk.told_last(R"~({"type":"stored","id":3,"name":"empty (1)"})~"));
}

TEST_CASE("what is wrong about a file is said, and the next one is taken") {
    FilePlace desk;
    std::string why;
    SECTION("a path that leads elsewhere") {
        why = "the file has no name that can be used";
        desk.put(1, "../a", 3);
        desk.bytes("abc");
    }
    SECTION("too large a size") {
        why = "a file may have 2 GiB at most";
        desk.put(1, "a", std::size_t{3} << 30);
    }
    SECTION("more bytes than were said") {
        why = "the file is larger than it was said to be";
        desk.put(1, "a", 2);
        desk.bytes("abc");
    }
    SECTION("a folder that is a file") {
        why = "'f' is no folder in the instance";
        make_directories(desk.folder);
        write_file_atomically(desk.folder / "f", "");
        desk.put(1, "f/a", 3);
    }
    CHECK(desk.told_last(R"({"type":"failed","id":1,"message":")" + why + "\"}"));
    desk.bytes("late bytes");
    desk.put(2, "good", 2);
    desk.bytes("ok");
    CHECK(desk.told_last(R"({"type":"stored","id":2,"name":"good"})"));
    CHECK(read_file(desk.folder / "good") == "ok");
}

TEST_CASE("a file that is cancelled, or whose client goes, leaves nothing") {
    FilePlace desk;
    desk.put(1, "a", 1000);
    desk.bytes("abc");
    SECTION("cancelled") {
        desk.say(R"({"type":"cancel","id":1})");
    }
    SECTION("the channel is closed") {
        desk.place.peers.events->channel_closed(label);
        desk.place.peers.events->channel_opened(label);
    }
    desk.put(2, "b", 1);
    desk.bytes("b");
    CHECK(desk.told_last(R"({"type":"stored","id":2,"name":"b"})"));
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator(desk.folder)) ++count;
    CHECK(count == 1);
}

TEST_CASE("files of the folder are listed and fetched") {
    FilePlace desk;
    make_directories(desk.folder);
    const std::string content(100'000, 'y');
    write_file_atomically(desk.folder / "report.pdf", content);
    desk.say(R"({"type":"list"})");
    CHECK(desk.told("files", 1));
    CHECK(desk.messages().back().find(R"("name":"report.pdf","size":100000,)") != std::string::npos);
    desk.say(R"({"type":"get","id":7,"name":"report.pdf"})");
    CHECK(desk.told_last(R"({"type":"sent","id":7})"));
    CHECK(desk.fetched() == content);
    desk.say(R"({"type":"get","id":8,"name":"none"})");
    CHECK(desk.told_last(R"({"type":"failed","id":8,"message":"file 'none' is not there"})"));
}

TEST_CASE("a slow client gets a file no faster than it reads") {
    FilePlace desk;
    make_directories(desk.folder);
    write_file_atomically(desk.folder / "a", std::string(100'000, 'y'));
    desk.place.set_buffered(FileChannel::max_buffered + 1);
    const std::size_t before = desk.place.buffered_asked();
    desk.say(R"({"type":"get","id":7,"name":"a"})");
    CHECK(eventually([&] { return desk.place.buffered_asked() > before + 5; }));
    CHECK(desk.fetched().empty());
    desk.place.set_buffered(0);
    CHECK(desk.told_last(R"({"type":"sent","id":7})"));
}

TEST_CASE("an operator forbids files in either direction, also on their way") {
    FilePlace desk;
    make_directories(desk.folder);
    write_file_atomically(desk.folder / "a", "content");
    desk.put(1, "b", 1000);
    desk.allow(R"({"files_to_instance":false,"files_from_instance":false})");
    CHECK(desk.told("failed", 1));
    desk.put(2, "c", 1);
    CHECK(desk.told_last(
        R"({"type":"failed","id":2,"message":"sending files to this instance is not allowed"})"));
    desk.say(R"({"type":"list"})");
    desk.say(R"({"type":"get","id":3,"name":"a"})");
    CHECK(desk.told_last(
        R"({"type":"failed","id":3,"message":"fetching files of this instance is not allowed"})"));
    CHECK_FALSE(fs::exists(desk.folder / "c"));
}

TEST_CASE("malformed messages about files are ignored") {
    FilePlace desk;
    for (const char* text :
         {"", "[]", R"({"type":"put"})", R"({"type":"put","id":0,"path":"a","size":1})",
          R"({"type":"nonsense"})", R"({"type":"get","id":1})", R"({"type":"cancel","id":99})"})
        desk.say(text);
    desk.put(1, "a", 0);
    CHECK(desk.told_last(R"({"type":"stored","id":1,"name":"a"})"));
    const auto all = desk.messages();
    CHECK(std::none_of(all.begin(), all.end(),
                       [](const std::string& one) { return one.find("failed") != std::string::npos; }));
}

TEST_CASE("an id that is used again is not taken for the file before") {
    FilePlace desk;
    desk.put(1, "../elsewhere", 5);  // fails on the disk's thread
    desk.say(R"({"type":"cancel","id":1})");
    desk.put(1, "good.txt", 5);
    desk.bytes("hello");
    CHECK(desk.told_last(R"({"type":"stored","id":1,"name":"good.txt"})"));
    CHECK(read_file(desk.folder / "good.txt") == "hello");
}
