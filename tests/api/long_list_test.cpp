// Lists that are too long to be sent whole.
#include <catch2/catch.hpp>

#include "server/http/listing.h"

namespace svc::server {

namespace {

// Items of about a kilobyte, and how many have been rendered.
struct Rendered {
    explicit Rendered(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i)
            items.push_back(std::make_shared<const std::string>(1000, 'x'));
    }
    Response list(const Page& page = {}) {
        const auto render = [this](std::string& text, const std::string& item) {
            ++rendered;
            text += '"' + item + '"';
        };
        return list_reply(page, items.size(), list_items(items, render));
    }
    std::vector<std::shared_ptr<const std::string>> items;
    std::size_t rendered = 0;
};

std::string read_all(BodySource& source, std::size_t at_most) {
    std::string whole;
    for (std::string piece = source.read(at_most); !piece.empty(); piece = source.read(at_most)) {
        REQUIRE(piece.size() <= at_most);
        whole += piece;
    }
    return whole;
}

}  // namespace

TEST_CASE("a long list is rendered as it is read, and holds its records until then") {
    Rendered list(3000);
    Response response = list.list();
    REQUIRE(response.source);
    CHECK(list.rendered < 100);
    CHECK(list.items.front().use_count() == 2);
    CHECK(response.source->held_bytes() >= 3000 * sizeof(list.items.front()));
    CHECK(response.source->ends_by_itself());
    for (const std::size_t at_most : {std::size_t{700}, std::size_t{32} << 10, std::size_t{1} << 20}) {
        const std::string text = read_all(*list.list().source, at_most);
        CHECK(Json::parse(text).at("metadata").as_array().size() == 3000);
        CHECK(text.ends_with("}\n"));
    }
    response.source.reset();
    CHECK(list.items.front().use_count() == 1);
}

TEST_CASE("a short list is sent whole, a long page with the size of all") {
    const Response response = Rendered(20).list();
    CHECK_FALSE(response.source);
    CHECK(Json::parse(response.body).at("metadata").as_array().size() == 20);
    CHECK(Json::parse(Rendered(0).list().body).at("metadata") == Json::array());
    Page page;
    page.given = true;
    Rendered list(200);
    const Json body = Json::parse(read_all(*list.list(page).source, 5000));
    CHECK(body.at("total_size") == Json(200));
    CHECK(body.at("metadata").as_array().size() == 200);
}

}  // namespace svc::server
