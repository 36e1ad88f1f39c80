// The clipboard of a real X server: what programs copy and paste, friendly and hostile ones.
#include <catch2/catch.hpp>

#include "instance-agent/streamer/clipboard/clipboard.h"
#include "instance-agent/streamer/clipboard/selection_owner.h"
#include "instance-agent/streamer/clipboard/selection_reader.h"
#include "libsvc/base/error.h"
#include "libsvc/base/guarded.h"
#include "tests/streamer/clipboard/selection_program.h"
#include "tests/streamer/display/x_server.h"
#include "tests/support/eventually.h"

using namespace svc;
using namespace svc::streamer;
using test::eventually;
using Way = test::SelectionProgram::Way;

namespace {

ClipboardContent content(std::string data, ClipboardFormat format = ClipboardFormat::text) {
    return {format, std::make_shared<const std::string>(std::move(data))};
}

const std::string picture = "\x89PNG\r\n\x1a\n" + std::string(1000, 'p');

struct ClipboardDesk {
    test::XServer server;
    test::SelectionProgram program{server.display()};
    Guarded<std::vector<ClipboardContent>> seen;
    Guarded<int> given;
    std::unique_ptr<Clipboard> clipboard = make_x_clipboard(
        server.display(),
        {[this](ClipboardContent copied) { seen.with([&](auto& all) { all.push_back(std::move(copied)); }); },
         [this] { given.with([](int& count) { ++count; }); }});

    std::size_t copies() const {
        return seen.with([](const auto& all) { return all.size(); });
    }
    std::string newest() const {
        return seen.with([](const auto& all) { return all.empty() ? "" : *all.back().data; });
    }
    bool serve_until_newest(const std::string& text) {
        return program.serve_until([&] { return newest() == text; });
    }
    void give(ClipboardContent one) {
        const int before = given.with([](int& count) { return count; });
        clipboard->give(std::move(one));
        REQUIRE(eventually([&] { return given.with([](int& count) { return count; }) > before; }));
    }
};

}  // namespace

TEST_CASE("a program pastes the text of the client") {
    ClipboardDesk desk;
    desk.give(content("grün €"));
    CHECK(desk.program.targets() ==
          std::vector<std::string>{"TARGETS", "UTF8_STRING", "text/plain;charset=utf-8", "text/plain"});
    CHECK(desk.program.paste("UTF8_STRING") == "grün €");
    CHECK(desk.program.paste("text/plain;charset=utf-8") == "grün €");
    CHECK(desk.program.paste("image/png") == std::nullopt);
    desk.give(content("newer"));
    CHECK(desk.program.paste("UTF8_STRING") == "newer");
}

TEST_CASE("a program pastes the picture of the client") {
    ClipboardDesk desk;
    desk.give(content(picture, ClipboardFormat::png));
    CHECK(desk.program.targets() == std::vector<std::string>{"TARGETS", "image/png"});
    CHECK(desk.program.paste("image/png") == picture);
    CHECK(desk.program.paste("UTF8_STRING") == std::nullopt);
}

TEST_CASE("a large content of the client goes to programs in pieces") {
    ClipboardDesk desk;
    const std::string large(max_clipboard, 'x');
    desk.give(content(large));
    const auto pasted = desk.program.paste("UTF8_STRING");
    CHECK((pasted && *pasted == large));
    const auto again = desk.program.paste("UTF8_STRING");
    CHECK((again && again->size() == large.size()));
}

TEST_CASE("what a program copies is told while somebody follows") {
    ClipboardDesk desk;
    desk.program.copy("UTF8_STRING", "before");
    desk.clipboard->follow(true);
    CHECK(desk.serve_until_newest("before"));
    desk.program.copy("UTF8_STRING", "after");
    CHECK(desk.serve_until_newest("after"));
    desk.program.copy("image/png", picture);
    CHECK(desk.serve_until_newest(picture));
    CHECK(desk.seen.with([](const auto& all) { return all.back().format; }) == ClipboardFormat::png);
}

TEST_CASE("nothing of the guest is read while nobody follows") {
    ClipboardDesk desk;
    desk.program.copy("UTF8_STRING", "a secret");
    desk.give(content("from the client"));  // so the clipboard has looked at its events
    desk.program.copy("UTF8_STRING", "another secret");
    desk.give(content("from the client again"));
    CHECK(desk.program.serve_until([] { return true; }));
    CHECK(desk.program.asked() == 0);
    CHECK(desk.copies() == 0);
}

TEST_CASE("what the client gave does not come back to it") {
    ClipboardDesk desk;
    desk.clipboard->follow(true);
    desk.give(content("of the client"));
    desk.program.copy("UTF8_STRING", "of the program");
    CHECK(desk.serve_until_newest("of the program"));
    CHECK(desk.copies() == 1);
}

TEST_CASE("a program copies in pieces") {
    ClipboardDesk desk;
    desk.clipboard->follow(true);
    const std::string large(max_clipboard, 'y');
    desk.program.copy("UTF8_STRING", large, Way::pieces);
    CHECK(desk.serve_until_newest(large));
}

TEST_CASE("what is too large is given up, and the next content is read") {
    ClipboardDesk desk;
    desk.clipboard->follow(true);
    SECTION("in pieces") {
        desk.program.copy("UTF8_STRING", std::string(max_clipboard + 1, 'z'), Way::pieces);
    }
    SECTION("in pieces without an end") {
        desk.program.copy("UTF8_STRING", std::string(1U << 20, 'z'), Way::endless);
    }
    SECTION("at once") {
        desk.program.copy("UTF8_STRING", std::string(max_clipboard + 1, 'z'));
    }
    CHECK(desk.program.serve_until([&] { return desk.program.asked() >= 2; }));
    desk.program.copy("UTF8_STRING", "small");
    CHECK(desk.serve_until_newest("small"));
    CHECK(desk.copies() == 1);
}

TEST_CASE("what is no content is not told") {
    ClipboardDesk desk;
    desk.clipboard->follow(true);
    desk.program.copy("image/png", "no picture");
    CHECK(desk.program.serve_until([&] { return desk.program.asked() >= 2; }));
    desk.program.copy("UTF8_STRING", "");
    CHECK(desk.program.serve_until([&] { return desk.program.asked() >= 4; }));
    desk.program.copy("UTF8_STRING", "text");
    CHECK(desk.serve_until_newest("text"));
    CHECK(desk.copies() == 1);
}

TEST_CASE("a program that changes its selection all the time is read a few times a second") {
    ClipboardDesk desk;
    desk.clipboard->follow(true);
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 3000; ++i) {
        desk.program.copy("UTF8_STRING", "text " + std::to_string(i));
        desk.program.serve_until([] { return true; });
    }
    CHECK(desk.serve_until_newest("text 2999"));
    const auto taken = std::chrono::steady_clock::now() - begin;
    CHECK(desk.copies() <= static_cast<std::size_t>(taken / SelectionReader::pause) + 2);
}

TEST_CASE("programs that do not take their pieces are few") {
    ClipboardDesk desk;
    desk.give(content(std::string(1U << 20, 'x')));
    std::vector<std::unique_ptr<test::SelectionProgram>> idle;
    Display* const x = XOpenDisplay(desk.server.display().c_str());
    REQUIRE(x != nullptr);
    const Atom selection = XInternAtom(x, "CLIPBOARD", False), utf8 = XInternAtom(x, "UTF8_STRING", False);
    const auto begun = [&] {
        const Window window = XCreateSimpleWindow(x, DefaultRootWindow(x), 0, 0, 1, 1, 0, 0, 0);
        XConvertSelection(x, selection, utf8, XInternAtom(x, "P", False), window, CurrentTime);
        XEvent event{};
        do XNextEvent(x, &event);
        while (event.type != SelectionNotify);
        return event.xselection.property != None;
    };
    for (std::size_t i = 0; i < SelectionOwner::max_takers; ++i) CHECK(begun());
    CHECK_FALSE(begun());
    XCloseDisplay(x);  // their windows are gone
    CHECK(eventually([&] { return desk.program.paste("UTF8_STRING").has_value(); }));
}

TEST_CASE("no display has no clipboard") {
    CHECK_THROWS_AS(make_x_clipboard(":98765", {}), Error);
}
