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
