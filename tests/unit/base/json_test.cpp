#include "libsvc/base/json.h"

#include <catch2/catch.hpp>
#include <limits>

#include "libsvc/base/error.h"

using svc::Json;
using svc::JsonFields;

namespace {

std::string refusal(std::string_view text) {
    try {
        Json::parse(text);
    } catch (const svc::Error& e) {
        CHECK(e.code() == svc::ErrorCode::invalid_argument);
        return e.what();
    }
    return "accepted";
}

std::string nested(std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
}

}  // namespace

TEST_CASE("json text round trips with its order and its kinds of numbers") {
    const std::string text =
        R"({"z":null,"a":[true,false,-3,9223372036854775807,18446744073709551615,1.5,1.0],)"
        R"("s":"\"\\\u0001é😀","o":{}})";
    CHECK(Json::parse(text).dump() == text);
    CHECK(Json::parse(R"("\ud83d\ude00\u0000")").as_string() == std::string("😀\0", 5));
    CHECK(Json::parse(Json::parse(text).dump_pretty()) == Json::parse(text));
    CHECK(Json::object({{"a", 1}}).dump_pretty() == "{\n    \"a\": 1\n}");
}

TEST_CASE("json keeps doubles exact and writes null for what JSON cannot say") {
    for (double value : {0.1, 1e300, 5e-324, 123456789.125, -0.3})
        CHECK(Json::parse(Json(value).dump()).as_double() == value);
    CHECK(Json(std::numeric_limits<double>::infinity()).dump() == "null");
}

TEST_CASE("json refuses malformed text with the offset") {
    CHECK(refusal("") == "malformed JSON at byte 0: the document is empty");
    CHECK(refusal("[1,]").starts_with("malformed JSON at byte 3: "));
    for (const char* text :
         {"{", "{\"a\":1,}", "[1 2]", "nul", "01", "+1", "1e999", "\"a", "\"\x01\"", "[1] x", "'a'",
          "\"\xff\"", "\"\\ud800\"", "\"\\udc00\"", "{\"\\udc00\":1}", "\xEF\xBB\xBF{}x", "// c\n1"})
        CHECK(refusal(text).starts_with("malformed JSON at byte "));
    CHECK(refusal(std::string_view("1\0", 2)) == "malformed JSON at byte 1: text goes on after the value");
}

TEST_CASE("json text ends where it is said to end") {
    const std::string text = R"({"a":"b\n","c":[1,{}],"d":-2})";
    CHECK(Json::parse(std::string_view(text + "garbage").substr(0, text.size())).dump() == text);
    for (std::size_t size = 0; size < text.size(); ++size)
        CHECK(refusal(std::string_view(text).substr(0, size)).starts_with("malformed JSON at byte "));
    for (const char* cut_off : {"\"\xC3", "\"\xE2", "\"\xE2\x82", "\"\xF0", "\"\xF0\x9F", "\"\xF0\x9F\x98"})
        CHECK(refusal(cut_off).starts_with("malformed JSON at byte "));
}

TEST_CASE("json text is checked wherever its characters are not plain") {
    for (std::size_t before = 0; before < 20; ++before) {
        const std::string start = "\"" + std::string(before, 'x');
        for (const char* wrong :
             {"\x80", "\xFF", "\xC3(", "\xED\xA0\x80", "\\udc00", "\\ud800", "\\x", "\x1F", "\x1A", "\n"})
            CHECK(refusal(start + wrong + std::string(before, 'y') + "\"")
                      .starts_with("malformed JSON at byte "));
        for (const char* right : {"\x7F", "\xC3\xA4", "\xED\x9F\xBF", "\xF0\x9F\x98\x80", " "})
            CHECK(Json::parse(start + right + "\"").as_string() == start.substr(1) + right);
        CHECK(Json::parse(start + "\\u00e4\"").as_string() == start.substr(1) + "\xC3\xA4");
    }
}

TEST_CASE("json objects of any size refuse a second member of a name") {
    for (const int size : {2, 31, 32, 33, 34}) {
        std::string text = "{";
        for (int i = 1; i < size; ++i) text += "\"k" + std::to_string(i) + "\":[{}],";
        CHECK(Json::parse(text + "\"last\":1}").as_object().size() == static_cast<std::size_t>(size));
        CHECK(refusal(text + "\"k1\":1}").ends_with("an object has two members of one name"));
    }
}

TEST_CASE("json refuses duplicate keys in small and large objects") {
    CHECK(refusal(R"({"a":1,"b":{"x":1,"x":2}})").ends_with("an object has two members of one name"));
    std::string large = "{";
    for (int i = 0; i < 1000; ++i) large += "\"k" + std::to_string(i) + "\":1,";
    CHECK(Json::parse(large + "\"last\":1}").as_object().size() == 1001);
    CHECK(refusal(large + "\"k77\":1}").ends_with("an object has two members of one name"));
}

TEST_CASE("json nests 64 levels and survives a megabyte of brackets") {
    CHECK(Json::parse(nested(64)).is_array());
    CHECK(refusal(nested(65)).ends_with("values are nested too deeply"));
    CHECK(refusal(std::string(1U << 20, '[')).ends_with("values are nested too deeply"));
}

TEST_CASE("json numbers compare by value and members without order") {
    CHECK(Json(1) == Json(1.0));
    CHECK(Json(1) == Json(1UL));
    CHECK_FALSE(Json(1) == Json(1.5));
    CHECK_FALSE(Json(-1) == Json(std::numeric_limits<std::uint64_t>::max()));
    // The nearest double of 2^63 - 1 is 2^63: another number.
    CHECK_FALSE(Json(std::numeric_limits<std::int64_t>::max()) == Json(9223372036854775808.0));
    CHECK(Json::parse(R"({"a":1,"b":2})") == Json::parse(R"({"b":2,"a":1})"));
    CHECK_FALSE(Json::parse(R"({"a":1,"b":2})") == Json::parse(R"({"b":2,"c":1})"));
    CHECK_FALSE(Json("1") == Json(1));
}

TEST_CASE("json integers refuse what does not fit") {
    CHECK(Json(3.0).as_int() == 3);
    CHECK(Json::parse("-9223372036854775808").as_int() == std::numeric_limits<std::int64_t>::min());
    for (const char* text : {"3.5", "9223372036854775808", "1e30", "\"3\"", "null"})
        CHECK_THROWS_AS(Json::parse(text).as_int(), svc::Error);
}

TEST_CASE("json values are edited in place") {
    Json value;
    value.set("a", 1);
    value.set("b", Json::array({1, "x"}));
    value.set("a", 2);
    value.set("raw", svc::RawJson{R"({"x": [1]})"});
    CHECK(value.dump() == R"({"a":2,"b":[1,"x"],"raw":{"x": [1]}})");
    value.erase("b");
    value.erase("raw");
    CHECK(value.dump() == R"({"a":2})");
    CHECK(value.find("b") == nullptr);
    CHECK_THROWS_AS(value.at("b"), svc::Error);
    CHECK_THROWS_AS(value.push_back(1), svc::Error);
    Json list;
    list.push_back("x");
    CHECK(list.dump() == R"(["x"])");
}

TEST_CASE("json fields read what is there") {
    const Json body = Json::parse(R"({"name":"x","cpus":4,"ratio":2,"on":true,"none":null,"tags":["a","b"],
        "env":{"A":"1"},"net":{"port":80},"services":[{"port":1},{"port":2}]})");
    const JsonFields fields(body);
    CHECK(fields.require_string("name") == "x");
    CHECK(fields.integer("cpu|cpus") == 4);
    CHECK(fields.number("ratio") == 2.0);
    CHECK(fields.boolean("on") == true);
    CHECK_FALSE(fields.string("none"));
    CHECK_FALSE(fields.string("absent"));
    CHECK(fields.strings("tags") == std::vector<std::string>{"a", "b"});
    CHECK(fields.string_map("env") == std::map<std::string, std::string>{{"A", "1"}});
    CHECK(fields.object("net")->require_int("port") == 80);
    CHECK(fields.objects("services")->at(1).require_int("port") == 2);
}

TEST_CASE("json fields name the whole path in errors") {
    const Json body = Json::parse(R"({"a":{"b":[{"port":"x"},3]},"tags":["a",1],"env":{"K":1},"cpus":"x"})");
    const JsonFields fields(body);
    using Catch::Matchers::Message;
    CHECK_THROWS_MATCHES(fields.require_string("name|title"), svc::Error, Message("name is required"));
    CHECK_THROWS_MATCHES(fields.object("a")->require_int("c"), svc::Error, Message("a.c is required"));
    CHECK_THROWS_MATCHES(fields.integer("cpu|cpus"), svc::Error,
                         Message("argument cpus is invalid: must be a 64-bit integer"));
    CHECK_THROWS_MATCHES(fields.strings("tags"), svc::Error,
                         Message("argument tags[1] is invalid: must be a string"));
    CHECK_THROWS_MATCHES(fields.string_map("env"), svc::Error,
                         Message("argument env.K is invalid: must be a string"));
    CHECK_THROWS_MATCHES(fields.object("a")->objects("b"), svc::Error,
                         Message("argument a.b[1] is invalid: must be an object"));
    CHECK_THROWS_AS(JsonFields(Json(1)), svc::Error);
}

TEST_CASE("numbers of any length are read to the nearest double") {
    const std::string ones(300, '1');
    const auto read = [](const std::string& text) { return Json::parse(text).as_double(); };
    CHECK(read("1." + ones + "e-400") == 0);
    CHECK(read("1." + ones + "E-554") == 0);
    CHECK(read(ones + "E-554") == 1.1111111111111111e-255);
    CHECK(read("0." + std::string(400, '0') + "1e-554") == 0);
    CHECK(read("-0." + std::string(400, '0') + "1") == 0);
    CHECK(read("1." + ones + "e-2147483647") == 0);
    CHECK(read("1." + ones + "e-" + ones) == 0);
    CHECK(read("0." + std::string(300, '0') + "1e301") == 1);
    CHECK(read("0.1") == 0.1);
    CHECK(read("1.7976931348623157e308") == std::numeric_limits<double>::max());
    CHECK(read("4.9406564584124654e-324") == std::numeric_limits<double>::denorm_min());
    CHECK(read("18446744073709551616") == 18446744073709551616.0);
    CHECK(Json::parse("18446744073709551615").is_integer());
    CHECK(Json::parse("-9223372036854775808").as_int() == std::numeric_limits<std::int64_t>::min());
    CHECK_FALSE(Json::parse("-9223372036854775809").is_integer());
    CHECK(Json::parse("5000000000").as_int() == 5'000'000'000);
    CHECK(Json::parse("-0").dump() == "0");
    CHECK(Json::parse("[1,-2.5e1,0]").dump() == "[1,-25.0,0]");
    for (const char* text : {"1e309", "1.8e308", "-1e999", "0.00018e312"})
        CHECK_THROWS_WITH(Json::parse(text), Catch::Contains("number too big to be stored in double"));
    CHECK_THROWS_AS(Json::parse(std::string(400, '9')), svc::Error);
}
