#include "libsvc/store/ordered_records.h"

#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <string>

namespace svc {

namespace {

struct Numbered {
    std::string id;
    int number = 0;
};
struct IdOfNumbered {
    std::string_view operator()(const Numbered& slot) const { return slot.id; }
};

// The records, and a map that says what they must be.
struct Compared {
    OrderedRecords<Numbered, IdOfNumbered> records;
    std::map<std::string, int> expected;

    void insert(const std::string& id, int number) {
        if (!expected.emplace(id, number).second) return;
        records.insert({id, number});
    }
    void erase(const std::string id) {
        if (expected.erase(id) > 0) records.erase(id);
    }
    std::vector<std::string> part(std::size_t offset, std::size_t limit) const {
        std::vector<std::string> ids;
        records.visit(offset, limit, [&ids](const Numbered& slot) { ids.push_back(slot.id); });
        return ids;
    }
    void check() const {
        REQUIRE(records.size() == expected.size());
        std::vector<std::string> ids;
        for (const auto& [id, number] : expected) {
            ids.push_back(id);
            REQUIRE(records.find(id) != nullptr);
            REQUIRE(records.find(id)->number == number);
            REQUIRE(records.find(id + "x") == nullptr);
        }
        REQUIRE(part(0, ids.size() + 5) == ids);
        for (std::size_t offset = 0; offset < ids.size() + 600; offset += 257) {
            const auto begin = ids.begin() + static_cast<std::ptrdiff_t>(std::min(offset, ids.size()));
            const auto count = std::min<std::ptrdiff_t>(700, ids.end() - begin);
            REQUIRE(part(offset, 700) == std::vector<std::string>(begin, begin + count));
        }
        REQUIRE(records.find("") == nullptr);
    }
};

std::string text_of(unsigned number) {
    return std::to_string(1'000'000 + number);
}

}  // namespace

TEST_CASE("records are in order, found and counted whatever comes and goes") {
    Compared compared;
    compared.check();
    std::mt19937 random(1);
    SECTION("in any order") {
        for (int i = 0; i < 3000; ++i) compared.insert(text_of(random() % 10'000), i);
    }
    SECTION("growing") {
        for (unsigned i = 0; i < 3000; ++i) compared.insert(text_of(i * 3), static_cast<int>(i));
    }
    SECTION("falling") {
        for (unsigned i = 3000; i > 0; --i) compared.insert(text_of(i * 3), static_cast<int>(i));
    }
    compared.check();
    for (int i = 0; i < 20'000; ++i) {
        compared.erase(text_of(random() % 10'000));
        if (i % 3 == 0) compared.insert(text_of(random() % 10'000), i);
    }
    compared.check();
    while (!compared.expected.empty()) compared.erase(compared.expected.begin()->first);
    compared.check();
    compared.insert("again", 1);
    compared.check();
}

}  // namespace svc
