#include "libsvc/formats/line_protocol.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "libsvc/base/error.h"

using namespace svc;

namespace {

using Tags = std::vector<std::pair<std::string, std::string>>;
using Fields = std::vector<std::pair<std::string, double>>;

bool is_refused(const std::string& line) {
    try {
        parse_line(line);
        return false;
    } catch (const Error& e) {
        return e.code() == ErrorCode::invalid_argument;
    }
}

}  // namespace

TEST_CASE("a line has a measurement tags fields and a time") {
    const LineSample sample = parse_line(
        "webrtc,kind=video,app=greeter,ssrc=123 frames_encoded=900i,total_encode_time=4.25,relay_in_use=true "
        "1700000000000000000");
    CHECK(sample.measurement == "webrtc");
    CHECK(sample.tags == Tags{{"app", "greeter"}, {"kind", "video"}, {"ssrc", "123"}});
    CHECK(sample.fields == Fields{{"frames_encoded", 900}, {"total_encode_time", 4.25}, {"relay_in_use", 1}});
    CHECK(sample.time == 1700000000000000000);
}

TEST_CASE("tags and time may be absent and blanks doubled") {
    CHECK(parse_line("m a=1").tags.empty());
    CHECK_FALSE(parse_line("m a=1").time);
    CHECK_FALSE(parse_line("m  a=1  ").time);
    CHECK(parse_line("m  a=-1e3  -5").time == -5);
}

TEST_CASE("backslashes and quotes keep separators") {
    CHECK(parse_line(R"(m,t=a\ b\,c\=d\\e\f a=1)").tags == Tags{{"t", R"(a b,c=d\e\f)"}});
    CHECK(parse_line(R"(m s="a, b=\"c\\",a=2u)").fields == Fields{{"a", 2}});
    CHECK(parse_line("m,t=a=b a=F").tags == Tags{{"t", "a=b"}});
}

TEST_CASE("faulty lines are refused") {
    for (const char* line : {"",
                             " ",
                             "m",
                             "m ",
                             "m a",
                             "m a=",
                             "m =1",
                             "m a=1,",
                             "m a=x",
                             "m a=1 x",
                             "m a=1 1 2",
                             "m a=1i2",
                             "m a=1.5i",
                             "m a=nan",
                             "m a=inf",
                             "m a=-inf",
                             "m a=1e999",
                             "m a=0x10",
                             "m a=tr",
                             "m a=\"x",
                             "m,t a=1",
                             "m,t= a=1",
                             "m,=x a=1",
                             "m,t=x,t=y a=1",
                             ",t=x a=1",
                             "m,t=x\ty a=1",
                             "m,t=\xff a=1",
                             "9m a=1",
                             "m-n a=1",
                             "m a-b=1",
                             "m,a.b=1 c=1",
                             "m a=1 99999999999999999999"}) {
        INFO(line);
        CHECK(is_refused(line));
    }
}

TEST_CASE("each length of a line has a limit") {
    const std::string name(64, 'n'), value(128, 'v');
    CHECK_FALSE(is_refused(name + "," + name + "=" + value + " " + name + "=1"));
    CHECK(is_refused(name + "n a=1"));
    CHECK(is_refused("m," + name + "n=1 a=1"));
    CHECK(is_refused("m,t=" + value + "v a=1"));
    CHECK(is_refused("m a=\"" + std::string(4096, 'x') + "\""));
    std::string long_tags = "m,t=" + std::string(123, 'v');
    for (const char* key : {"k1", "k2", "k3"})
        long_tags += "," + std::string(key) + "=" + std::string(126, 'v');
    CHECK_FALSE(is_refused(long_tags + " a=1"));
    CHECK(is_refused(long_tags + ",u=xxxx a=1"));
    std::string tags = "m", fields = " f=1";
    for (int i = 0; i < 16; ++i) tags += ",t" + std::to_string(i) + "=x";
    for (int i = 1; i < 64; ++i) fields += ",f=1";
    CHECK_FALSE(is_refused(tags + fields));
    CHECK(is_refused(tags + ",u=x" + fields));
    CHECK(is_refused(tags + fields + ",f=1"));
}

TEST_CASE("batches have lines comments and gaps") {
    std::vector<std::string> lines;
    for_each_line("a\n\n# comment\r\nb\r\nc", [&](std::string_view line) { lines.emplace_back(line); });
    CHECK(lines == std::vector<std::string>{"a", "b", "c"});
}

TEST_CASE("written lines are read back") {
    LineWriter writer("webrtc");
    writer.tag("app", "a b,c=d\\e").tag("none", "").tag("odd", "x\ny\xc3");
    writer.field("count", std::uint64_t{18}).field("seconds", 0.25).field("nothing", std::nan(""));
    const std::string line = writer.finish(5);
    CHECK(line == "webrtc,app=a\\ b\\,c\\=d\\\\e,odd=x_y_ count=18i,seconds=0.25 5");
    const LineSample sample = parse_line(line);
    CHECK(sample.tags ==
          std::vector<std::pair<std::string, std::string>>{{"app", "a b,c=d\\e"}, {"odd", "x_y_"}});
    CHECK(sample.fields == std::vector<std::pair<std::string, double>>{{"count", 18}, {"seconds", 0.25}});
    CHECK(sample.time == 5);
    LineWriter long_tag("m");
    CHECK_NOTHROW(parse_line(long_tag.tag("t", std::string(1000, ' ')).field("f", 1e300).finish(1)));
    CHECK_THROWS_AS(LineWriter("m").tag("t", "v").finish(1), Error);
}
