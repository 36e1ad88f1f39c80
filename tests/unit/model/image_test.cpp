#include "libsvc/model/packages/image.h"

#include <catch2/catch.hpp>

#include "tests/unit/model/codec_table.h"

namespace svc {
namespace {

using test::check_golden;

constexpr std::string_view image_created = "2024-01-02T03:04:05.678901234Z";

ImageMetadata sample_metadata() {
    return ImageMetadata::parse(Json::object({{"architecture", "x86_64"},
                                              {"creation_date", 1700000000},
                                              {"expiry_date", 1800000000},
                                              {"properties", Json::object({{"os", "Debian"},
                                                                           {"release", 12},
                                                                           {"variant", "android"},
                                                                           {"init", "/sbin/start"},
                                                                           {"ready_file", "/run/ready"},
                                                                           {"ready_command", "pgrep guest"},
                                                                           {"ready_port", "8080"}})}}));
}

Image sample_image() {
    Image image;
    image.id = ImageId("c5pvhr3fbn40000000a0");
    image.name = "jammy:guest:amd64";
    image.is_default = true;
    image.next_version = 3;
    image.created_at = from_rfc3339(image_created);
    ImageVersion first;
    first.version = 0;
    first.fingerprint = std::string(64, 'a');
    first.size = 1234567890123;
    first.created_at = from_rfc3339(image_created);
    first.status = ImageStatus::active;
    first.metadata = sample_metadata();
    first.root_size = 99;
    ImageVersion second = first;
    second.version = 2;
    second.fingerprint = std::string(64, 'b');
    second.status = ImageStatus::error;
    second.error_message = "rootfs not found";
    second.remote_id = "20240102";
    image.versions = {first, second};
    return image;
}

TEST_CASE("the record of an image") {
    check_golden("unit/model/golden/image.json", to_json(sample_image()));
    check_golden("unit/model/golden/image_used.json", to_json(sample_image(), {"app1", "app2"}));
}

TEST_CASE("an image is stored whole, read back and checked") {
    test::check_record_codec<Image>({"image_stored.json",
                                     sample_image(),
                                     image_to_store,
                                     image_from_store,
                                     {"id", "name", "next_version", "created_at"},
                                     {}});
    const Image image = image_from_store(image_to_store(sample_image()));
    CHECK(to_json(image) == to_json(sample_image()));
    CHECK(image.version(2)->metadata.ready == sample_metadata().ready);
    CHECK(image.created_at == from_rfc3339(image_created));
}

TEST_CASE("a stored version of an image is checked member by member") {
    const Json stored = image_to_store(sample_image());
    Json version = stored.at("versions").as_array()[0];
    const auto read = [&](const Json& changed) {
        Json image = stored;
        image.set("versions", Json::array({changed}));
        try {
            image_from_store(image);
        } catch (const Error& e) {  // without the path in front, as check_members expects it
            std::string message = e.what();
            if (const auto at = message.find("versions[0]."); at != std::string::npos) message.erase(at, 12);
            throw Error(e.code(), message);
        }
    };
    test::check_members(version, {"version", "fingerprint", "created_at", "status"}, {}, read);
}

TEST_CASE("every image status has its text") {
    const auto [code, text] = GENERATE(table<int, const char*>({{-1, "error"},
                                                                {0, "unknown"},
                                                                {1, "initializing"},
                                                                {2, "created"},
                                                                {3, "active"},
                                                                {4, "deleted"},
                                                                {5, "available"},
                                                                {6, "queued"}}));
    CHECK(to_text(static_cast<ImageStatus>(code)) == text);
}

TEST_CASE("an image is as its highest version, but active as soon as one is") {
    Image image = sample_image();
    CHECK(image.status() == ImageStatus::active);
    CHECK(image.newest_active()->version == 0);
    image.versions[0].status = ImageStatus::created;
    CHECK(image.status() == ImageStatus::error);
    CHECK(image.newest_active() == nullptr);
    image.deleting = true;
    CHECK(image.status() == ImageStatus::deleted);
    CHECK(Image().status() == ImageStatus::unknown);
}

TEST_CASE("an image has the architecture of its newest active version, else of the highest") {
    Image image = sample_image();
    image.versions[1].metadata.architecture = "aarch64";
    CHECK(image.architecture() == "x86_64");
    image.versions[0].status = ImageStatus::created;
    CHECK(image.architecture() == "aarch64");
    CHECK(Image().architecture().empty());
}

TEST_CASE("a version is found by its number") {
    Image image = sample_image();
    CHECK(image.version(2)->fingerprint == std::string(64, 'b'));
    CHECK(std::as_const(image).version(1) == nullptr);
}

Json document(const std::string& key, const Json& value) {
    Json result = Json::object({{"architecture", "aarch64"}, {"creation_date", 1}});
    if (key == "architecture" || key == "creation_date" || key == "properties")
        result.set(key, value);
    else
        result.set("properties", Json::object({{key, value}}));
    return result;
}

TEST_CASE("metadata.yaml is read") {
    const ImageMetadata metadata = sample_metadata();
    CHECK(metadata.architecture == "x86_64");
    CHECK(metadata.creation_date == 1700000000);
    CHECK(metadata.image_variant == "android");
    CHECK(metadata.init == "/sbin/start");
    CHECK(metadata.ready == ReadinessCheck{"/run/ready", "pgrep guest", 8080});
    CHECK(metadata.properties.at("release").as_string() == "12");
    const ImageMetadata least = ImageMetadata::parse(document("variant", "cloud"));
    CHECK(least.image_variant.empty());
    CHECK(least.ready == ReadinessCheck{});
    CHECK(ImageMetadata::parse(document("ready_port", 65535)).ready->port == 65535);
}

TEST_CASE("an image says that its guest is Android, that it is not, or nothing") {
    const ImageMetadata android = ImageMetadata::parse(document("profile", "android"));
    CHECK(android.android);
    CHECK(android.has_profile());
    CHECK(ImageMetadata::from_json(android.to_json()).android);
    Json properties = Json::object();
    add_guest_properties(android, properties);
    CHECK(properties.at("profile").as_string() == "android");
    const ImageMetadata other = ImageMetadata::parse(document("profile", "linux"));
    CHECK_FALSE(other.android);
    CHECK(other.has_profile());
    CHECK_FALSE(ImageMetadata::parse(document("variant", "android")).has_profile());
}

TEST_CASE("metadata.yaml that cannot be used says why") {
    const auto parse = [](const Json& metadata) { ImageMetadata::parse(metadata); };
    test::check_codec(parse, {
                                 {Json(), "architecture is required"},
                                 {document("architecture", Json()), "architecture is required"},
                                 {document("creation_date", Json()), "creation_date is required"},
                                 {document("architecture", "amd64"), "*architecture*"},
                                 {document("architecture", 1), "*architecture*"},
                                 {document("creation_date", "today"), "*creation_date*"},
                                 {document("creation_date", -1), "*creation_date*"},
                                 {document("creation_date", 1.5), "*creation_date*"},
                                 {document("profile", "ios"), "*must be android or linux"},
                                 {document("properties", "os"), "*properties*"},
                                 {document("os", Json::array({"a"})), "*os*"},
                                 {document("init", "sbin/init"), "*init*"},
                                 {document("ready_file", "ready"), "*ready_file*"},
                                 {document("ready_command", std::string("a\0b", 3)), "*ready_command*"},
                                 {document("ready_port", "0"), "*ready_port*"},
                                 {document("ready_port", "65536"), "*ready_port*"},
                                 {document("ready_port", "http"), "*ready_port*"},
                                 {document("ready_port", "80 "), "*ready_port*"},
                                 {Json::array(), test::is_refused},
                             });
}

TEST_CASE("the request header of an upload") {
    for (const char* nothing : {"", " ", "{}", "null", R"({"name":"","default":null,"force_sync":false})"}) {
        const ImageRequest request = ImageRequest::parse(nothing);
        CHECK(request.name.empty());
        CHECK_FALSE(request.is_default);
    }
    const ImageRequest request = ImageRequest::parse(R"({"name":"a","default":true})");
    CHECK(request.name == "a");
    CHECK(request.is_default == true);
    test::check_codec(ImageRequest::parse, {{"{", "X-SVC-Request is malformed: *"},
                                            {"[]", test::is_refused},
                                            {"1", test::is_refused},
                                            {R"({"name":1})", test::is_refused},
                                            {R"({"name":"a b"})", test::is_refused},
                                            {R"({"default":"yes"})", test::is_refused}});
}

TEST_CASE("the JSON form of an image update") {
    CHECK(ImagePatch::from_json(Json::parse(R"({"default":false})")).is_default == false);
    CHECK_FALSE(ImagePatch::from_json(Json::object()).is_default);
    test::check_codec(ImagePatch::from_json,
                      {{R"({"default":1})", test::is_refused}, {"null", test::is_refused}});
    CHECK(ImagePatch::from_json(Json::parse(R"({"force_sync":true})")).force_sync);
    CHECK_FALSE(ImagePatch::from_json(Json::parse(R"({"force_sync":null})")).force_sync);
}

}  // namespace
}  // namespace svc
