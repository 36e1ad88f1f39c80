// Clipboard, files and the size of the screen belong to the client that steers.
#include "tests/streamer/session/streamer_place.h"
#include "tests/support/eventually.h"

using namespace svc;
using namespace svc::streamer;
using test::eventually;
namespace fs = std::filesystem;

namespace {

const std::string clipboard(clipboard_label), files(files_label);
const std::string nothing = R"( text {"type":"allowed","to_instance":false,"from_instance":false})";

class PlayedScreen final : public Screen {
  public:
    ScreenSize resize(ScreenSize wish) override { return wish; }
    void set_density(int) override {}
};

// The guest, and what a second client gets. Outlives the streamer.
struct Outside {
    TemporaryDirectory directory{fs::temp_directory_path(), "watcher-exchange-"};
    fs::path folder = directory.path() / "Downloads";
    test::PeerRecord watcher;
    std::mutex mutex;
    ClipboardEvents events;
    std::vector<std::string> given;
    bool followed = false;
};

class PlayedClipboard final : public Clipboard {
  public:
    explicit PlayedClipboard(Outside& outside) : outside_(outside) {}
    void give(ClipboardContent content) override {
        std::lock_guard lock(outside_.mutex);
        outside_.given.push_back(*content.data);
    }
    void follow(bool on) override {
        std::lock_guard lock(outside_.mutex);
        outside_.followed = on;
    }

  private:
    Outside& outside_;
};

// `peers` is of the client that steers at first.
struct SharedPlace {
    Outside outside;
    bool first = true;
    StreamerPlace place{[this](StreamerParts& parts) {
        parts.screen = std::make_unique<PlayedScreen>();
        parts.options.download_directory = outside.folder;
        parts.make_clipboard = [this](ClipboardEvents events) {
            outside.events = std::move(events);
            return std::make_unique<PlayedClipboard>(outside);
        };
        parts.make_peer = [this](PeerSetup setup, PeerEvents& events) {
            test::PeerRecord& record = std::exchange(first, false) ? place.peers : outside.watcher;
            return std::make_unique<test::FakePeer>(record, std::move(setup), events);
        };
    }};
    test::PeerRecord& steering = place.peers;
    test::PeerRecord& watcher = outside.watcher;

    SharedPlace() {
        place.connect();
        open_channels(steering);
        for (const std::string& label : {clipboard, files})  // the agent has told
            CHECK(got(steering, label + R"( text {"type":"allowed","to_instance":true)"));
        watch();
    }
    void watch() {
        const auto client = [&](const std::string& members) {
            place.gateway.send(R"({"client_id":"w1",)" + members + "}");
        };
        client(R"("type":"ctl:client-joined","role":"watch","stun_servers":[])");
        client(R"("type":"discover")");
        place.gateway.await("resp:discover");
        client(R"("type":"settings","api_version":2)");
        REQUIRE(eventually([&] {
            std::lock_guard lock(watcher.mutex);
            return watcher.events != nullptr;
        }));
        watcher.events->local_offer("v=0\r\n");
        place.gateway.await("offer");
        client(R"("type":"answer","sdp":")" + base64_encode("good answer") + "\"");
        REQUIRE(eventually([&] {
            std::lock_guard lock(watcher.mutex);
            return !watcher.answers.empty();
        }));
        watcher.events->connected();
        watcher.events->channel_opened("control");
        open_channels(watcher);
    }
    static void open_channels(test::PeerRecord& record) {
        record.events->channel_opened(clipboard);
        record.events->channel_opened(files);
    }
    static void say(test::PeerRecord& record, const std::string& label, const std::string& text) {
        record.events->channel_message(label, false, text);
    }
    static void bytes(test::PeerRecord& record, const std::string& label, const std::string& data) {
        record.events->channel_message(label, true, data);
    }
    static bool got(test::PeerRecord& record, const std::string& beginning) {
        return eventually([&] {
            const auto all = record.all_sent();
            return std::ranges::any_of(all,
                                       [&](const std::string& sent) { return sent.starts_with(beginning); });
        });
    }
    static void ask_for_all(test::PeerRecord& record) {
        say(record, clipboard, R"({"type":"paste","format":"text/plain","size":5})");
        bytes(record, clipboard, "hello");
        say(record, files, R"({"type":"put","id":1,"path":"a.txt","size":5})");
        bytes(record, files, "hello");
        say(record, "control", R"({"type":"display::resize","data":{"width":640,"height":480}})");
    }
    std::vector<std::string> given() {
        std::lock_guard lock(outside.mutex);
        return outside.given;
    }
    bool is_followed() {
        std::lock_guard lock(outside.mutex);
        return outside.followed;
    }
    static std::vector<std::pair<int, int>> sizes(test::PeerRecord& record) {
        std::lock_guard lock(record.mutex);
        return record.sizes;
    }
    void take_control() {
        say(watcher, "control", R"({"type":"audience::take"})");
        CHECK(got(watcher, files + R"( text {"type":"allowed","to_instance":true)"));
    }
};

}  // namespace

TEST_CASE("what a watcher pastes, sends and resizes is refused, and works once it steers") {
    SharedPlace shared;
    CHECK(shared.got(shared.watcher, clipboard + nothing));
    CHECK(shared.got(shared.watcher, files + nothing));
    SharedPlace::ask_for_all(shared.watcher);
    SharedPlace::say(shared.watcher, files, R"({"type":"get","id":2,"name":"b.txt"})");
    CHECK(shared.got(shared.watcher,
                     clipboard + R"( text {"type":"refused","message":"this client only watches"})"));
    for (const char* id : {"1", "2"})
        CHECK(shared.got(shared.watcher, files + R"( text {"type":"failed","id":)" + id +
                                             R"(,"message":"this client only watches"})"));
    // An answer to what came last: all before has been dealt with.
    SharedPlace::say(shared.watcher, "control", R"({"type":"audience::list"})");
    CHECK(shared.got(shared.watcher, R"(control text {"type":"audience")"));
    CHECK(shared.given().empty());
    CHECK(SharedPlace::sizes(shared.steering).empty());
    CHECK_FALSE(fs::exists(shared.outside.folder));

    shared.take_control();
    SharedPlace::ask_for_all(shared.watcher);
    CHECK(shared.got(shared.watcher, files + R"( text {"type":"stored","id":1,"name":"a.txt"})"));
    CHECK(eventually([&] { return shared.given() == std::vector<std::string>{"hello"}; }));
    for (test::PeerRecord* const record : {&shared.steering, &shared.watcher})
        CHECK(eventually([&] {
            return SharedPlace::sizes(*record) == std::vector<std::pair<int, int>>{{640, 480}};
        }));
}

TEST_CASE("a client that loses control loses what it sends, and is told why") {
    SharedPlace shared;
    SharedPlace::say(shared.steering, clipboard, R"({"type":"paste","format":"text/plain","size":5})");
    SharedPlace::say(shared.steering, files, R"({"type":"put","id":7,"path":"a.txt","size":10})");
    SharedPlace::bytes(shared.steering, files, "hello");
    REQUIRE(eventually(
        [&] { return fs::exists(shared.outside.folder) && !fs::is_empty(shared.outside.folder); }));
    shared.take_control();
    CHECK(shared.got(shared.steering,
                     clipboard + R"( text {"type":"refused","message":"this client only watches"})"));
    CHECK(shared.got(shared.steering,
                     files + R"( text {"type":"failed","id":7,"message":"this client only watches"})"));
    for (const std::string& label : {clipboard, files}) CHECK(shared.got(shared.steering, label + nothing));
    CHECK(eventually([&] { return fs::is_empty(shared.outside.folder); }));
}

TEST_CASE("what the guest copies goes to the client that steers alone") {
    SharedPlace shared;
    SharedPlace::say(shared.steering, clipboard, R"({"type":"follow","on":true})");
    SharedPlace::say(shared.watcher, clipboard, R"({"type":"follow","on":true})");
    REQUIRE(eventually([&] { return shared.is_followed(); }));
    shared.take_control();
    CHECK(eventually([&] { return !shared.is_followed(); }));  // the new one has not asked for it since
    SharedPlace::say(shared.watcher, clipboard, R"({"type":"follow","on":true})");
    REQUIRE(eventually([&] { return shared.is_followed(); }));
    shared.outside.events.copied({ClipboardFormat::text, std::make_shared<const std::string>("secret")});
    CHECK(shared.got(shared.watcher, clipboard + " binary secret"));
    for (const std::string& sent : shared.steering.all_sent())
        CHECK(sent.find("secret") == std::string::npos);
}
