#include <catch2/catch.hpp>

#include "cli/output/csv.h"
#include "cli/output/document.h"
#include "cli/output/table.h"
#include "cli/output/terminal_text.h"
#include "cli/terminal/progress.h"

using namespace svc;
using namespace svc::cli;

TEST_CASE("tables are as wide as their widest line, in columns") {
    const Table table{{"ID", "ENDPOINTS"}, {{"ä", "one\ntwo-two-two"}, {"bcd", ""}}};
    CHECK(render_table(table) ==
          "+-----+-------------+\n"
          "| ID  | ENDPOINTS   |\n"
          "+-----+-------------+\n"
          "| ä   | one         |\n"
          "|     | two-two-two |\n"
          "| bcd |             |\n"
          "+-----+-------------+\n");
}

TEST_CASE("characters take the columns that a terminal gives them") {
    CHECK(display_width("plain") == 5);
    CHECK(display_width("\u00e4") == 1);
    CHECK(display_width("a\u0308") == 1);                                     // with a combining mark
    CHECK(display_width("\u4e2d\u6587") == 4);                                // Chinese
    CHECK(display_width("\ud55c\uae00") == 4);                                // Korean
    CHECK(display_width("\uff21") == 2);                                      // a full-width letter
    CHECK(display_width("\U0001F600") == 2);                                  // an emoji,
    CHECK(display_width("\U0001F44D\U0001F3FD") == 2);                        // with a skin tone,
    CHECK(display_width("\U0001F468\u200d\U0001F469\u200d\U0001F467") == 2);  // of three,
    CHECK(display_width("\U0001F1E9\U0001F1EA\U0001F1EB\U0001F1F7") == 4);    // two flags
    CHECK(display_width("\xff\xfe") == 2);                                    // not UTF-8
    CHECK(display_width("") == 0);
}

TEST_CASE("a table of wide, combined and drawn characters has straight borders") {
    const Table table{{"ID", "NAME"},
                      {{"\u4e2d\u6587", "plain"}, {"e\u0301", "\U0001F680 go"}, {"abcd", "\u200b"}}};
    CHECK(render_table(table) ==
          "+------+-------+\n"
          "| ID   | NAME  |\n"
          "+------+-------+\n"
          "| \u4e2d\u6587 | plain |\n"
          "| e\u0301    | \U0001F680 go |\n"
          "| abcd | \u200b      |\n"
          "+------+-------+\n");
}

TEST_CASE("a long text becomes lines, broken at spaces") {
    CHECK(in_lines("one two three", 7) == "one two\nthree");
    CHECK(in_lines("one two three", 13) == "one two three");
    CHECK(in_lines("ä ö ü", 3) == "ä ö\nü");
    CHECK(in_lines("a-word-that-is-longer at all", 6) == "a-word-that-is-longer\nat all");
    CHECK(in_lines("", 5).empty());
}

TEST_CASE("control characters do not reach the terminal") {
    CHECK(render_table({{"A"}, {{"\x1b[2J"}}}).find('\x1b') == std::string::npos);
    CHECK(printable("a\u009b31m\nb\x7f") == "a?31m\nb?");  // one of the second set of control characters
    CHECK(printable("\u202egpj.exe") == "?gpj.exe");
    CHECK(printable("\xc3(\xe2\x82") == "?(??");
    CHECK(printable("\u4e2d \U0001F680") == "\u4e2d \U0001F680");
}

TEST_CASE("an empty list is a head, brackets, brackets, a line") {
    const Document empty{Json::array(), {{"ID", "NAME"}, {}}};
    CHECK(render(empty, Format::table) == "+----+------+\n| ID | NAME |\n+----+------+\n");
    CHECK(render(empty, Format::json) == "[]\n");
    CHECK(render(empty, Format::yaml) == "[]\n");
    CHECK(render(empty, Format::csv) == "ID,NAME\n");
}

TEST_CASE("cells of csv are quoted where they must be") {
    CHECK(render_csv({{"A", "B"}, {{"x,y", "say \"hi\""}, {"", "two\nlines"}}}) ==
          "A,B\n\"x,y\",\"say \"\"hi\"\"\"\n,\"two\nlines\"\n");
}

TEST_CASE("an object is the same in all formats") {
    const Document document =
        describe(Json::parse(R"({"id":"a","network":{"ports":[1,2],"none":[]},"up":true,"x":null})"));
    CHECK(render(document, Format::csv) ==
          "FIELD,VALUE\nid,a\nnetwork.ports.0,1\nnetwork.ports.1,2\nnetwork.none,\nup,true\nx,\n");
    CHECK(Json::parse(render(document, Format::json)) == document.value);
    CHECK(render(document, Format::yaml).find("up: true\n") != std::string::npos);
}

TEST_CASE("the bar fills from left to right") {
    CHECK(progress_bar(0, 4) == "[>   ]");
    CHECK(progress_bar(50, 4) == "[==> ]");
    CHECK(progress_bar(100, 4) == "[====]");
    CHECK(progress_bar(250, 4) == "[====]");
}
