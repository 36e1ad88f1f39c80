#include "libsvc/formats/archive_writer.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/formats/archive_reader.h"
#include "libsvc/formats/block_compressor.h"

using namespace svc;

namespace {

struct Item {
    ArchiveEntry entry;
    std::string content;
};

Item item(std::string path, EntryKind kind, std::string content = "") {
    Item made;
    made.entry.path = std::move(path);
    made.entry.kind = kind;
    made.entry.mode = 0640;
    made.entry.uid = 1000;
    made.entry.gid = 65535;
    made.entry.modified = timespec{1700000000, 0};
    made.entry.size = content.size();
    made.content = std::move(content);
    return made;
}

std::string write(const std::vector<Item>& items, std::size_t step = 1000) {
    ArchiveWriter writer(std::make_unique<BlockCompressor>(Compression::gzip));
    std::string bytes;
    for (const Item& each : items) {
        writer.begin(each.entry);
        writer.write(each.content);
        while (writer.ready() > step) bytes += writer.take(step);
    }
    writer.finish();
    while (writer.ready() > 0) bytes += writer.take(step);
    return bytes;
}

std::map<std::string, Item> read(const std::string& bytes) {
    const TemporaryDirectory tmp(std::filesystem::temp_directory_path());
    write_file_atomically(tmp.path() / "archive", bytes);
    ArchiveReader reader(tmp.path() / "archive");
    std::map<std::string, Item> items;
    ArchiveEntry entry;
    while (reader.next(entry)) {
        Item& found = items[entry.path];
        found.entry = entry;
        found.content.resize(entry.size);
        while (const auto block = reader.next_block())
            found.content.replace(block->offset, block->bytes.size(), block->bytes);
    }
    return items;
}

}  // namespace

TEST_CASE("what was written is read again") {
    std::vector<Item> items = {
        item("d", EntryKind::directory),     item("d/file", EntryKind::file, random_bytes(200'000)),
        item("d/empty", EntryKind::file),    item("link", EntryKind::symbolic_link),
        item("again", EntryKind::hard_link), item("pipe", EntryKind::fifo)};
    items[3].entry.link_target = "/somewhere/else";
    items[4].entry.link_target = "d/file";
    items[1].entry.mode = 04755;
    items[1].entry.attributes = {{"security.capability", std::string("\1\0\0\2 raw\n bytes", 16)},
                                 {"user.x", "y"}};
    const auto found = read(write(items));
    for (const Item& each : items) {
        INFO(each.entry.path);
        const std::string path = each.entry.path + (each.entry.kind == EntryKind::directory ? "/" : "");
        REQUIRE(found.count(path) == 1);
        const Item& other = found.at(path);
        CHECK(other.entry.kind == each.entry.kind);
        CHECK(other.entry.mode == each.entry.mode);
        CHECK(other.entry.uid == 1000);
        CHECK(other.entry.gid == 65535);
        CHECK(other.entry.modified->tv_sec == 1700000000);
        CHECK(other.entry.link_target == each.entry.link_target);
        CHECK(other.content == each.content);
    }
    const auto attributes = found.at("d/file").entry.attributes;
    for (const auto& wanted : items[1].entry.attributes)
        CHECK(std::count(attributes.begin(), attributes.end(), wanted) > 0);
}

TEST_CASE("strange names survive") {
    std::vector<Item> items;
    for (const std::string& name :
         {std::string("new\nline"), std::string("bytes\xff\xfe"), std::string("\xc3\xa4\xe2\x82\xac"),
          std::string(" "), std::string("-rf"), std::string("a\\b"), std::string("quote'\""),
          std::string("\x1b[31m"), std::string(250, 'n') + "/" + std::string(250, 'm'),
          std::string("=12 path=x")})
        items.push_back(item(name, EntryKind::file, name));
    items.push_back(item("link", EntryKind::symbolic_link));
    items.back().entry.link_target = "\xff/" + std::string(300, 'l');
    const auto found = read(write(items));
    CHECK(found.size() == items.size());
    for (const Item& each : items) {
        INFO(each.entry.path);
        REQUIRE(found.count(each.entry.path) == 1);
        CHECK(found.at(each.entry.path).content == each.content);
        CHECK(found.at(each.entry.path).entry.link_target == each.entry.link_target);
    }
}

TEST_CASE("the same entries give the same bytes, however they are taken") {
    const std::vector<Item> items = {item("a", EntryKind::file, random_bytes(100'000)),
                                     item("b", EntryKind::directory)};
    const std::string bytes = write(items);
    CHECK(write(items, 7) == bytes);
    CHECK(bytes.substr(0, 2) == "\x1f\x8b");
    CHECK(bytes.substr(4, 4) == std::string(4, '\0'));  // no time of day
}

TEST_CASE("a file that is longer than it says is an error, an archive left in the middle is not") {
    ArchiveWriter writer(std::make_unique<BlockCompressor>(Compression::gzip));
    writer.begin(item("a", EntryKind::file, "123").entry);
    CHECK_THROWS_WITH(writer.write("1234"), Catch::EndsWith("a file is longer than it says"));
}
