#include "libsvc/formats/yaml.h"

#include <catch2/catch.hpp>

#include "libsvc/base/error.h"
#include "libsvc/formats/yaml_line.h"

using svc::Json;
using svc::parse_yaml;
using svc::yaml_line;

namespace {

std::string refusal(std::string_view text) {
    try {
        parse_yaml(text);
    } catch (const svc::Error& e) {
        CHECK(e.code() == svc::ErrorCode::invalid_argument);
        return e.what();
    }
    return "accepted";
}

}  // namespace

TEST_CASE("plain scalars follow the core schema of YAML 1.2") {
    const std::pair<const char*, Json> known[] = {
        {"12", 12},
        {"-3", -3},
        {"+4", 4},
        {"012", 12},
        {"0x1F", 31},
        {"0o17", 15},
        {"1.5", 1.5},
        {".5", 0.5},
        {"1e3", 1000.0},
        {"true", true},
        {"False", false},
        {"~", nullptr},
        {"Null", nullptr},
        {"yes", "yes"},
        {"on", "on"},
        {"1.2.3", "1.2.3"},
        {"0xZZ", "0xZZ"},
        {"2024-01-02", "2024-01-02"},
        {"\"12\"", "12"},
        {"'true'", "true"},
        {"!!str 12", "12"},
        {"\"\"", ""},
        {"1_000", "1_000"},
        {"18446744073709551615", 18446744073709551615UL},
        {"-9223372036854775808", svc::Json::parse("-9223372036854775808")},
        {"nan", "nan"},
        {"infinity", "infinity"}};
    for (const auto& [text, value] : known) {
        INFO(text);
        CHECK(parse_yaml(std::string("k: ") + text).at("k") == value);
    }
}

TEST_CASE("below keys of text, plain scalars stay as they are written") {
    constexpr std::string_view keys[] = {"version", "data"};
    const Json value = parse_yaml(
        "version: 1.10\ndata: {mode: 0660, on: true, none: ~}\nport: 010\nother: {version: 1.10}\n", keys);
    CHECK(value.at("version") == Json("1.10"));
    CHECK(value.at("data").at("mode") == Json("0660"));
    CHECK(value.at("data").at("on") == Json("true"));
    CHECK(value.at("data").at("none").is_null());
    CHECK(value.at("port") == Json(10));
    CHECK(value.at("other").at("version") == Json(1.1));
}

TEST_CASE("a manifest becomes nested values in its order") {
    const Json value = parse_yaml(
        "# comment\nname: app\nservices:\n  - name: web\n    port: 80\n  - {name: ssh, port: 22}\n"
        "text: |\n  one\n  two\nempty:\n12: number key\n");
    CHECK(value.dump() == R"({"name":"app","services":[{"name":"web","port":80},{"name":"ssh","port":22}],)"
                          R"("text":"one\ntwo\n","empty":null,"12":"number key"})");
    CHECK(parse_yaml("").is_null());
}

TEST_CASE("malformed YAML is refused with its line") {
    CHECK(refusal("a: 1\nb: [1\n").starts_with("malformed YAML at line "));
    CHECK(refusal("a: 1\nb: 2\na: 3\n") == "malformed YAML at line 3: key 'a' appears twice");
    CHECK(refusal("a: &x [1]\nb: *x\n") == "malformed YAML at line 2: aliases are not allowed");
    CHECK(refusal("a: 1\n? [x]\n: 1\n") == "malformed YAML at line 2: a key must be a string");
    CHECK(refusal("a: 1\n---\nb: 2\n") == "malformed YAML: more than one document");
    for (const char* text : {"\"abc", "a:\n\t- 1", "a: b: c", "- 1\nb: 2", "{a: 1", "@x", "%YAML 9"})
        CHECK(refusal(text).starts_with("malformed YAML"));
}

TEST_CASE("YAML nests 64 levels and survives a megabyte of brackets") {
    CHECK(parse_yaml(std::string(64, '[') + std::string(64, ']')).is_array());
    CHECK(refusal(std::string(65, '[') + std::string(65, ']')).ends_with("values are nested too deeply"));
    CHECK(refusal(std::string(1U << 20, '[')).starts_with("malformed YAML at line 1: "));
    std::string indented;
    for (int i = 0; i < 70; ++i) indented += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
    CHECK(refusal(indented).ends_with("values are nested too deeply"));
}

TEST_CASE("written YAML reads back as the same value") {
    const Json value = Json::parse(
        R"({"s":["true","12","","null","~","yes","a: b","- x","# y","line\nbreak\n"," lead","é😀","\u0001","'","\"","1.0",
        "0x1f","*a","&a","!t","%d","@","`","{","}","[","]",",","?","|",">","2024-01-02","12:30","1e3",".5","-"],)"
        R"("n":[1,-2,1.5,true,false,null,18446744073709551615],"o":{"deep":{"list":[[1,[2]],{}]},"e":[]},"12":"k","a: b":1})");
    CHECK(parse_yaml(svc::to_yaml(value)) == value);
    CHECK(svc::to_yaml(Json::parse(R"({"a":{"b":[1,"x"],"c":{}},"d":null})")) ==
          "a:\n  b:\n    - 1\n    - x\n  c: {}\nd: null\n");
    for (const char* scalar : {"1", "\"text\"", "null", "[]", "{}"})
        CHECK(parse_yaml(svc::to_yaml(Json::parse(scalar))) == Json::parse(scalar));
}

TEST_CASE("the line of a value is found by its path, in lists and in flow style, too") {
    const char* const text =
        "a: 1\nb:\n  c: 2\n\n  list:\n  - x: 1\n    y: 2\n  - x: 3\n    y: 4\nd: {e: 5}\nx: 6\n";
    CHECK(yaml_line(text, "a") == 1);
    CHECK(yaml_line(text, "b.c") == 3);
    CHECK(yaml_line(text, "b.list") == 5);
    CHECK(yaml_line(text, "b.list[0].y") == 7);
    CHECK(yaml_line(text, "b.list[1]") == 8);
    CHECK(yaml_line(text, "b.list[1].y") == 9);
    CHECK(yaml_line(text, "d.e") == 10);
    CHECK(yaml_line(text, "x") == 11);
    CHECK(yaml_line(text, "z") == 0);
    CHECK(yaml_line("a:\n- b: 1\n- {c: 2,\n   d: 3}\n", "a[1].d") == 4);
    CHECK(yaml_line("a:\n  b: 1\n", "a.absent") == 1);
    CHECK(yaml_line("a:\n- 1\n", "a[7]") == 1);
    CHECK(yaml_line("a: [\n", "a") == 0);
}
