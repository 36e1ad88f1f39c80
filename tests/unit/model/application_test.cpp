#include "libsvc/model/packages/application.h"

#include <catch2/catch.hpp>

#include "tests/unit/model/codec_table.h"

namespace svc {
namespace {

using test::check_golden;
using test::code_of;

constexpr std::string_view application_created = "2024-01-02T03:04:05.678901234Z";

PackageRef package(const std::string& name, bool is_application) {
    PackageRef ref;
    ref.is_application = is_application;
    ref.name = name;
    ref.version = 2;
    ref.fingerprint = std::string(64, 'c');
    ref.size = 10;
    ref.hooks = {"pre-start"};
    return ref;
}

ApplicationManifest manifest() {
    return ApplicationManifest::parse(Json::parse(R"({
        "name": "candy", "version": "1.10", "boot-package": "com.foo.candy", "boot-activity": ".Main",
        "required-permissions": ["*"], "features": ["f"], "video-encoder": "gpu",
        "watchdog": {"allowed-packages": ["*"]}, "services": [{"name":"adb","port":5559,"protocols":["tcp"]}],
        "extra-data": {"obb": {"target": "/sdcard/Android/obb/com.foo.candy", "permissions": "0660"}},
        "hooks": {"timeout": "10m"}, "bootstrap": {"keep": ["scripts"]}})"));
}

ApplicationVersion version(int number, ImageStatus status) {
    ApplicationVersion version;
    version.number = number;
    version.status = status;
    version.created_at = from_rfc3339(application_created);
    version.parent_image_id = "c5pvhr3fbn40000000b0";
    version.parent_image_version = 4;
    version.manifest.name = "candy";
    return version;
}

ApplicationVersion whole_version() {
    ApplicationVersion whole = version(3, ImageStatus::active);
    whole.published = true;
    whole.error_message = "none";
    whole.manifest = manifest();
    whole.packages = {package("ssh", false), package("candy", true)};
    whole.notes = {"app.apk was not installed: the guest has no package manager"};
    whole.package = std::string(64, 'd');
    whole.package_size = 99;
    whole.parent_layer = std::string(64, 'e');
    whole.layer = "candy-3";
    whole.architecture = "x86_64";
    whole.init = "/init";
    whole.image_variant = "aaos";
    whole.ready = ReadinessCheck{"/run/ready", "true", 80};
    whole.base_instance = "c5pvhr3fbn40000000c0";
    whole.layer_size = 7;
    whole.exports = {{"gzip", {"old", std::string(64, 'f'), 8}}, {"zstd", {"new", std::string(64, '0'), 7}}};
    return whole;
}

Application sample_application() {
    Application application;
    application.id = ApplicationId("c5pvhr3fbn40000000a0");
    application.name = "candy";
    application.versions = {version(0, ImageStatus::error), whole_version()};
    application.next_version = 4;
    application.created_at = from_rfc3339(application_created);
    application.immutable = true;
    application.inhibit_auto_updates = true;
    application.pending_update = true;
    application.image = "base";
    application.parent_image_id = "c5pvhr3fbn40000000b0";
    application.instance_type = "g4.3";
    application.tags = {"game"};
    application.addons = {"ssh"};
    application.resources.cpus = 3;
    application.node_selector = {"zone=a"};
    application.abi = "x86_64";
    application.pool = {.min = 1, .max = 3, .late_data = true};
    return application;
}

TEST_CASE("the record of an application") {
    check_golden("unit/model/golden/application.json", to_json(sample_application()));
}

TEST_CASE("an application that has nothing to say says it as the specification wants it") {
    Application bare;
    bare.id = ApplicationId("c5pvhr3fbn40000000a0");
    bare.name = "bare";
    bare.created_at = from_rfc3339(application_created);
    bare.versions = {version(0, ImageStatus::initializing)};
    check_golden("unit/model/golden/application_bare.json", to_json(bare));
}

TEST_CASE("an application is stored whole, read back and checked") {
    test::check_record_codec<Application>({"application_stored.json",
                                           sample_application(),
                                           application_to_store,
                                           application_from_store,
                                           {"id", "name", "next_version", "created_at"},
                                           {}});
    const Application read = application_from_store(application_to_store(sample_application()));
    CHECK(to_json(read) == to_json(sample_application()));
    CHECK(read.version(3)->ready == sample_application().version(3)->ready);
    CHECK(read.version(3)->packages == sample_application().version(3)->packages);
}

TEST_CASE("a stored version of an application is checked member by member") {
    const Json stored = application_to_store(sample_application());
    const Json whole = stored.at("versions").as_array()[1];
    for (const auto& [key, value] : whole.as_object()) {
        INFO(key);
        Json wrong = whole;
        wrong.set(key, value.is_string() ? Json(1) : Json("text"));
        Json application = stored;
        application.set("versions", Json::array({wrong}));
        CHECK(code_of([&] { application_from_store(application); }) == ErrorCode::invalid_argument);
    }
}

TEST_CASE("an application follows its newest version") {
    const auto [version_status, expected] = GENERATE(
        table<ImageStatus, ApplicationStatus>({{ImageStatus::error, ApplicationStatus::error},
                                               {ImageStatus::initializing, ApplicationStatus::initializing},
                                               {ImageStatus::created, ApplicationStatus::initializing},
                                               {ImageStatus::active, ApplicationStatus::ready},
                                               {ImageStatus::unknown, ApplicationStatus::unknown}}));
    Application application = sample_application();
    application.versions.push_back(version(4, version_status));
    CHECK(application.status() == expected);
    CHECK(application.newest()->number == 4);
    application.deleting = true;
    CHECK(application.status() == ApplicationStatus::deleted);
}

TEST_CASE("a version that is being deleted is not the newest any more") {
    Application application = sample_application();
    application.versions.push_back(version(4, ImageStatus::deleted));
    CHECK(application.newest()->number == 3);
    CHECK(application.status() == ApplicationStatus::ready);
}

TEST_CASE("the published version is the highest that is published and active") {
    Application application = sample_application();
    CHECK(application.published());
    CHECK(application.newest_published()->number == 3);
    application.versions.push_back(version(4, ImageStatus::active));
    CHECK(application.newest_published()->number == 3);
    application.version(4)->published = true;
    CHECK(application.newest_published()->number == 4);
    application.version(3)->published = application.version(4)->published = false;
    CHECK(application.newest_published() == nullptr);
    CHECK_FALSE(application.published());
    CHECK(application.version(9) == nullptr);
}

TEST_CASE("resources of an application are its type's, overlaid by its own") {
    CHECK(sample_application().effective_resources().cpus == 3);
    CHECK(sample_application().effective_resources().gpu_slots == 1);
    CHECK(Application().effective_resources().cpus == 2);
}

TEST_CASE("the layers of a version") {
    CHECK(whole_version().layers() == std::vector<std::string>{std::string(64, 'e'), "candy-3"});
    ApplicationVersion imported;
    CHECK(imported.layers().empty());
    imported.layer = "whole";
    CHECK(imported.layers() == std::vector<std::string>{"whole"});
}

TEST_CASE("the entity tag of an application follows what may be changed") {
    const std::string before = etag_text(sample_application());
    Application changed = sample_application();
    changed.tags = {"other"};
    CHECK(etag_text(changed) != before);
    changed = sample_application();
    changed.versions.push_back(version(4, ImageStatus::initializing));
    CHECK(etag_text(changed) != before);
    changed = sample_application();
    changed.version(0)->error_message = "other";
    CHECK(etag_text(changed) == before);
}

TEST_CASE("every application status has its text") {
    const auto [code, text] = GENERATE(table<int, const char*>(
        {{-1, "error"}, {0, "unknown"}, {1, "initializing"}, {2, "ready"}, {3, "deleted"}}));
    CHECK(to_text(static_cast<ApplicationStatus>(code)) == text);
}

TEST_CASE("a change of an application takes both spellings of each key") {
    const ApplicationPatch first = ApplicationPatch::from_json(Json::parse(R"({
        "image": "base", "instance-type": "a4.3", "tags": ["t"], "addons": ["ssh"], "node-selector": ["z"],
        "resources": {"disk-size": "4GB"}, "inhibit-auto-updates": true, "services": [], "boot-activity": ".Main", "boot": "b",
        "watchdog": {"allowed-packages": ["*"], "command": "c"}, "required-permissions": ["*"], "video-encoder": "gpu",
        "manifest-version": "2", "features": ["f"], "hooks": {"timeout": "1m"}, "bootstrap": {"keep": ["x"]}})"));
    const ApplicationPatch second = ApplicationPatch::from_json(Json::parse(R"({
        "instance_type": "a4.3", "node_selector": ["z"], "resources": {"disk_size": "4GB"},
        "inhibit_auto_updates": true, "boot_activity": ".Main", "boot": "b",
        "watchdog": {"allowed_packages": ["*"], "command": "c"},
        "required_permissions": ["*"], "video_encoder": "gpu", "manifest_version": "2"})"));
    CHECK(first.image == "base");
    CHECK(first.tags == std::vector<std::string>{"t"});
    CHECK(first.addons == std::vector<std::string>{"ssh"});
    CHECK(first.instance_type == second.instance_type);
    CHECK(first.node_selector == second.node_selector);
    CHECK(first.resources == second.resources);
    CHECK(first.inhibit_auto_updates == second.inhibit_auto_updates);
    const Json made = first.applied_to(manifest()).to_document();
    CHECK(made.at("version").as_string() == "2");
    CHECK(made.find("services") == nullptr);
    CHECK(made.at("hooks").at("timeout").as_string() == "1m");
    CHECK(made.at("bootstrap").at("keep").dump() == R"(["x"])");
    const Json also = second.applied_to(manifest()).to_document();
    for (const char* key :
         {"version", "boot-activity", "boot", "watchdog", "required-permissions", "video-encoder"})
        CHECK(made.at(key) == also.at(key));
}

TEST_CASE("a change that says nothing is empty, one that repeats changes nothing") {
    CHECK(ApplicationPatch::from_json(Json()).empty());
    CHECK(ApplicationPatch::from_json(Json::object()).empty());
    CHECK(ApplicationPatch::from_json(Json::parse(R"({"image":null,"colour":"red"})")).empty());
    const auto same =
        ApplicationPatch::from_json(Json::parse(R"({"manifest_version":"1.10","boot_activity":".Main"})"));
    CHECK_FALSE(same.empty());
    CHECK(same.applied_to(manifest()).to_document() == manifest().to_document());
}

TEST_CASE("an application with a pool is stored in a record that an earlier program does not read") {
    Application application = sample_application();
    CHECK(application_to_store(application).at("schema") == Json(7));
    application.pool = {};
    Json stored = application_to_store(application);
    CHECK(stored.at("schema") == Json(1));
    stored.erase("pool");  // as an earlier program has stored it
    CHECK(application_from_store(stored).pool.empty());
    CHECK(application_to_store(application_from_store(stored)) == application_to_store(application));
}

TEST_CASE("a pool is as large as its minimum where it has no maximum") {
    const auto pool = [](const char* text) {
        const ApplicationPatch patch = ApplicationPatch::from_json(Json::parse(text));
        CHECK_FALSE(patch.empty());
        return *patch.pool;
    };
    CHECK(pool(R"({"pool":{"min":2,"max":5}})") == PoolSettings{.min = 2, .max = 5});
    CHECK(pool(R"({"pool":{"min":2,"late_data":true}})") ==
          PoolSettings{.min = 2, .max = 2, .late_data = true});
    CHECK(pool(R"({"pool":{}})").empty());
}

TEST_CASE("each key of a change is checked") {
    test::check_codec(
        ApplicationPatch::from_json,
        test::all_refused(
            {R"({"image":1})",
             R"({"image":"a b"})",
             R"({"instance-type":"z"})",
             R"({"tags":"a"})",
             R"({"tags":["a,b"]})",
             R"({"addons":["a b"]})",
             R"({"node_selector":[""]})",
             R"({"resources":[]})",
             R"({"resources":{"cpus":0}})",
             R"({"resources":{"memory":"1 GB"}})",
             R"({"inhibit_auto_updates":"yes"})",
             R"({"pool":1})",
             R"({"pool":{"min":-1}})",
             R"({"pool":{"max":1001}})",
             R"({"pool":{"min":2,"max":1}})",
             R"({"pool":{"min":1,"late_data":1}})",
             R"({"services":[{}]})",
             R"({"services":[{"port":80,"protocols":["tcp"]},{"port":80,"protocols":["tcp"]}]})",
             R"({"watchdog":{"allowed-packages":["x"]}})",
             R"({"watchdog":{"command":"two\nlines"}})",
             R"({"boot":1})",
             R"({"boot":"two\nlines"})",
             R"({"boot_activity":"Main"})",
             R"({"manifest_version":1})",
             R"({"required_permissions":["*","a"]})",
             R"({"features":[""]})",
             R"({"hooks":{"timeout":"1h"}})",
             R"({"bootstrap":{"keep":["../x"]}})",
             R"({"video_encoder":"cpu"})",
             R"([])",
             R"("text")"}));
}

TEST_CASE("a change of a version") {
    CHECK(VersionPatch::from_json(Json::parse(R"({"published":true})")).published == true);
    CHECK_FALSE(VersionPatch::from_json(Json::object()).published);
    test::check_codec(VersionPatch::from_json, {{R"({"published":"yes"})", test::is_refused}});
}

TEST_CASE("an exported version can be read elsewhere") {
    ExportedVersion exported;
    exported.name = "candy";
    exported.manifest = manifest();
    exported.packages = {package("ssh", false)};
    exported.version = 3;
    exported.instance_type = "a4.3";
    exported.abi = "x86_64";
    exported.tags = {"game"};
    exported.resources.gpu_slots = 0;
    const ExportedVersion read = ExportedVersion::from_json(Json::parse(exported.to_json().dump()));
    CHECK(read.to_json() == exported.to_json());
    CHECK(read.packages == exported.packages);
    test::check_codec(
        ExportedVersion::from_json,
        test::all_refused({R"({})", R"({"name":"a b"})", R"({"name":"x","version":-1})",
                           R"({"name":"x","instance-type":"z"})", R"({"name":"x","packages":[{}]})"}));
}

}  // namespace
}  // namespace svc
