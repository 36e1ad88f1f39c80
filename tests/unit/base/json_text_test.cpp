#include "libsvc/base/json_text.h"

#include <catch2/catch.hpp>
#include <limits>

namespace svc {

TEST_CASE("text that is written member by member is that of the values") {
    std::string text = "before ";
    JsonText out(text);
    out.open_object()
        .member("n", -5)
        .member("flag", true)
        .member("s", std::string("x"))
        .key("list")
        .open_array();
    out.value(1U)
        .value("two")
        .open_object()
        .close_object()
        .open_array()
        .close_array()
        .value(Json(0.5))
        .close_array();
    out.member("none", Json()).member("most", std::numeric_limits<std::uint64_t>::max()).close_object();
    const Json same = Json::object({{"n", -5},
                                    {"flag", true},
                                    {"s", "x"},
                                    {"list", JsonArray{1, "two", Json::object(), Json::array(), 0.5}},
                                    {"none", nullptr},
                                    {"most", std::numeric_limits<std::uint64_t>::max()}});
    CHECK(text == "before " + same.dump());
}

TEST_CASE("text with any byte is quoted as in values") {
    std::string every;
    for (int byte = 0; byte < 0x80; ++byte) every += static_cast<char>(byte);
    every += "\u00e4\u20ac\U0001f600";
    for (const std::string& each :
         {every, std::string(), std::string("\""), std::string("plain"), every + every}) {
        std::string text;
        JsonText(text).open_object().member(each, each).close_object();
        CHECK(text == Json::object({{each, each}}).dump());
        CHECK(Json::parse(text).at(each) == Json(each));
    }
}

}  // namespace svc
