#include "libsvc/services/common/content.h"

#include "tests/unit/services/package_fixture.h"

using namespace svc;
using namespace svc::test;

namespace {

struct ContentFixture : PackageFixture {
    ContentReferences wanted;
    ContentFixture() {
        content().add_referrer([this](ContentReferences& used) {
            used.blobs.insert(wanted.blobs.begin(), wanted.blobs.end());
            used.layers.insert(wanted.layers.begin(), wanted.layers.end());
        });
    }
    std::string kept() {
        auto uploaded = package();
        std::string digest = uploaded.info.digest;
        content().keep(std::move(uploaded), [&] { wanted.blobs.insert(digest); });
        return digest;
    }
    std::string layer(const std::string& name) {
        auto uploaded = package();
        const std::string digest = uploaded.info.digest;
        uploaded.blob->commit();
        layers.add(name, blobs.path(digest), {});
        return name;
    }
};

// Its copies take as long as a test says.
class SendingWriter final : public BlobWriter {
  public:
    SendingWriter(std::unique_ptr<BlobWriter> inner, std::function<void()> send)
        : inner_(std::move(inner)), send_(std::move(send)) {}
    void write(std::string_view data) override { inner_->write(data); }
    BlobInfo finish() override { return inner_->finish(); }
    const std::filesystem::path& path() const override { return inner_->path(); }
    void send_copies() override { send_(); }
    void commit() override { inner_->commit(); }

  private:
    std::unique_ptr<BlobWriter> inner_;
    std::function<void()> send_;
};

}  // namespace

TEST_CASE_METHOD(ContentFixture, "a package is visible when its first record is stored") {
    auto uploaded = package();
    const std::string digest = uploaded.info.digest;
    CHECK_FALSE(blobs.contains(digest));
    content().keep(std::move(uploaded), [&] {
        CHECK(blobs.contains(digest));
        wanted.blobs.insert(digest);
    });
    CHECK(blobs.contains(digest));
}

TEST_CASE_METHOD(ContentFixture, "nothing waits while the copies of a package are sent") {
    auto uploaded = package();
    const std::string digest = uploaded.info.digest;
    bool dropped = false;
    uploaded.blob = std::make_unique<SendingWriter>(std::move(uploaded.blob), [&] {
        content().drop({digest}, {});
        content().collect_garbage();
        dropped = true;
    });
    content().keep(std::move(uploaded), [&] { wanted.blobs.insert(digest); });
    CHECK(dropped);
    CHECK(blobs.contains(digest));
}

TEST_CASE_METHOD(ContentFixture, "a package whose record is refused goes, unless somebody else needs it") {
    auto uploaded = package();
    const std::string digest = uploaded.info.digest;
    const auto refuse = [] { throw Error(ErrorCode::conflict, "name is taken"); };
    CHECK(code_of([&] { content().keep(std::move(uploaded), refuse); }) == ErrorCode::conflict);
    CHECK_FALSE(blobs.contains(digest));
    REQUIRE(kept() == digest);
    CHECK(code_of([&] { content().keep(package(), refuse); }) == ErrorCode::conflict);
    CHECK(blobs.contains(digest));
}

TEST_CASE_METHOD(ContentFixture, "a package stays while it is not known whether its record was stored") {
    auto uploaded = package();
    const std::string digest = uploaded.info.digest;
    const auto lose = [] { throw Error(ErrorCode::unavailable, "no answer"); };
    CHECK(code_of([&] { content().keep(std::move(uploaded), lose); }) == ErrorCode::unavailable);
    CHECK(blobs.contains(digest));
    content().collect_garbage();
    CHECK_FALSE(blobs.contains(digest));
}

TEST_CASE_METHOD(ContentFixture, "what is dropped goes when nobody refers to it any more") {
    const std::string digest = kept();
    wanted.layers.insert(layer("l"));
    content().drop({digest, ""}, {"l", ""});
    CHECK(blobs.contains(digest));
    CHECK(layers.contains("l"));
    wanted = {};
    content().drop({digest, "absent"}, {"l", "absent"});
    CHECK_FALSE(blobs.contains(digest));
    CHECK_FALSE(layers.contains("l"));
}

TEST_CASE_METHOD(PackageFixture, "nothing is removed while a record that may need it cannot be read") {
    auto uploaded = package();
    const std::string digest = uploaded.info.digest;
    uploaded.blob->commit();
    layers.add("l", blobs.path(digest), {});
    sqlite.commit(Batch().put("images/broken", "{"));
    restart();
    life->content.collect_garbage();
    life->content.drop({digest}, {"l"});
    CHECK(blobs.contains(digest));
    CHECK(layers.contains("l"));
    const auto removal = life->management.unreadable().remove("images/", "broken", "test");
    REQUIRE(removal);
    CHECK(wait(*removal)->err.empty());
    CHECK(life->management.unreadable().list().empty());
    life->content.collect_garbage();
    CHECK_FALSE(blobs.contains(digest));
    CHECK_FALSE(layers.contains("l"));
}

TEST_CASE_METHOD(ContentFixture, "a held layer stays until the last holder drops it") {
    layer("l");
    content().hold_layers({"l", "other"});
    content().hold_layers({"l"});
    content().drop({}, {"l"});
    content().collect_garbage();
    content().drop_layers({"l"});
    CHECK(layers.contains("l"));
    content().drop_layers({"l", "never held"});
    CHECK_FALSE(layers.contains("l"));
}

TEST_CASE_METHOD(ContentFixture, "a held package stays until the last holder drops it") {
    const std::string digest = kept();
    wanted = {};
    content().hold_blobs({digest, digest});
    content().drop({digest}, {});
    content().collect_garbage();
    content().drop_blobs({digest});
    CHECK(blobs.contains(digest));
    content().drop_blobs({digest});
    CHECK_FALSE(blobs.contains(digest));
}

TEST_CASE_METHOD(ContentFixture, "a held layer that a record refers to survives its holders") {
    wanted.layers.insert(layer("l"));
    content().hold_layers({"l"});
    content().drop_layers({"l"});
    CHECK(layers.contains("l"));
}

TEST_CASE_METHOD(ContentFixture, "packages and layers that nothing refers to are collected") {
    const std::string digest = kept();
    auto stray = package({.text = "stray"});
    const std::string stray_digest = stray.info.digest;
    stray.blob->commit();
    layers.add("stray", blobs.path(stray_digest), {});
    content().collect_garbage();
    CHECK(blobs.contains(digest));
    CHECK_FALSE(blobs.contains(stray_digest));
    CHECK_FALSE(layers.contains("stray"));
}

TEST_CASE("the fingerprint of the header is compared without regard to case and space") {
    const BlobInfo package{std::string(64, 'a'), 1};
    CHECK_NOTHROW(check_fingerprint(package, ""));
    CHECK_NOTHROW(check_fingerprint(package, " " + std::string(64, 'A')));
    CHECK(message_of([&] { check_fingerprint(package, std::string(64, 'b')); }) ==
          "fingerprint don't match, got " + std::string(64, 'a') + " but expected " + std::string(64, 'b'));
    CHECK(code_of([&] { check_fingerprint(package, "text"); }) == ErrorCode::invalid_argument);
}

namespace {

// Remembers what it is asked to keep copies of.
class CopyingBlobs final : public BlobStore {
  public:
    std::unique_ptr<BlobWriter> create(std::uint64_t) override { return nullptr; }
    ScratchFile scratch() override { return {std::filesystem::temp_directory_path(), 0}; }
    std::filesystem::path path(std::string_view) override { return {}; }
    bool contains(std::string_view) override { return false; }
    void remove(std::string_view) override {}
    std::vector<BlobInfo> list() override { return {}; }
    void keep_copies(const std::set<std::string, std::less<>>& all) override { wanted = all; }

    std::set<std::string, std::less<>> wanted;
};

}  // namespace

TEST_CASE_METHOD(PackageFixture, "copies are kept of the packages that records need") {
    CopyingBlobs copying;
    Content several(copying, layers);
    several.add_referrer([](ContentReferences& used) { used.blobs = {"a", "b"}; });
    several.keep_copies();
    CHECK(copying.wanted == std::set<std::string, std::less<>>{"a", "b"});
}
