#include "libsvc/model/packages/manifest.h"

#include <catch2/catch.hpp>

#include "tests/unit/model/codec_table.h"

namespace svc {
namespace {

using test::code_of;
using test::message_of;

constexpr std::uint64_t gigabyte = std::uint64_t{1} << 30;

// A manifest that uses every key.
Json whole() {
    return Json::parse(R"({
        "name": "candy", "version": "1.10", "instance-type": "a4.3", "image": "base-image",
        "boot-package": "com.foo.candy", "boot-activity": "com.foo.candy.Main", "boot": "systemctl start candy", "required-permissions": ["*"],
        "addons": ["ssh"], "tags": ["game"], "features": ["enable_system_ui"], "video-encoder": "software",
        "abi": "x86_64",
        "watchdog": {"disabled": true, "allowed-packages": ["com.android.settings"], "command": "pgrep candy"},
        "services": [{"name": "adb", "port": 5559, "protocols": ["tcp"], "expose": false},
                     {"name": "media", "port": 7000, "port_end": 7010, "protocols": ["udp"], "expose": true}],
        "resources": {"cpus": 4, "memory": "4GB", "disk-size": 8589934592, "gpu-slots": 0, "gpu-type": "amd"},
        "extra-data": {"com.foo.candy.obb": {"target": "/sdcard/Android/obb/com.foo.candy/", "owner": "1000:package_gid",
                                             "permissions": "0660"}},
        "hooks": {"timeout": "10m"}, "bootstrap": {"keep": ["apks/*.apk", "scripts"]},
        "node-selector": ["zone=a"]})");
}

Json with(const std::string& key, const Json& value) {
    Json document = whole();
    document.set(key, value);
    return document;
}

Json with(const std::string& key, const std::string& inner, const Json& value) {
    Json document = whole();
    Json map = document.at(key);
    map.set(inner, value);
    document.set(key, map);
    return document;
}

Json extra(const char* member, const Json& value) {
    Json item = Json::object({{"target", "/data/data/com.foo.candy"}});
    item.set(member, value);
    return with("extra-data", Json::object({{"file", item}}));
}

std::string invalid(const std::string& rest) {
    return "manifest is malformed: argument " + rest;
}

void parse_manifest(const Json& document) {
    ApplicationManifest::parse(document);
}

TEST_CASE("a manifest with every key") {
    const ApplicationManifest manifest = ApplicationManifest::parse(whole());
    CHECK(manifest.name == "candy");
    CHECK(manifest.version == "1.10");
    CHECK(manifest.instance_type == "a4.3");
    CHECK(manifest.image == "base-image");
    CHECK(manifest.boot_package == "com.foo.candy");
    CHECK(manifest.boot_activity == "com.foo.candy.Main");
    CHECK(manifest.required_permissions == std::vector<std::string>{"*"});
    CHECK(manifest.addons == std::vector<std::string>{"ssh"});
    CHECK(manifest.tags == std::vector<std::string>{"game"});
    CHECK(manifest.features == std::vector<std::string>{"enable_system_ui"});
    CHECK(manifest.video_encoder == VideoEncoder::software);
    CHECK(manifest.watchdog == Watchdog{true, {"com.android.settings"}, "pgrep candy"});
    CHECK(manifest.boot == "systemctl start candy");
    CHECK(manifest.services.at(1).port_end == 7010);
    CHECK(manifest.resources == ResourceOverrides{4, 4 * gigabyte, 8 * gigabyte, 0, "amd"});
    CHECK(manifest.extra_data.at("com.foo.candy.obb") ==
          ExtraData{"/sdcard/Android/obb/com.foo.candy", "1000:package_gid", "0660"});
    CHECK(manifest.hook_timeout_seconds() == 600);
    CHECK(manifest.keep == std::vector<std::string>{"apks/*.apk", "scripts"});
    CHECK(manifest.node_selector == std::vector<std::string>{"zone=a"});
    CHECK(manifest.abi == "x86_64");
}

TEST_CASE("a manifest is written as it was read") {
    const Json document = ApplicationManifest::parse(whole()).to_document();
    CHECK(ApplicationManifest::parse(document).to_document() == document);
    CHECK(document.at("resources").at("disk-size").as_string() == "8GB");
    std::vector<std::string> keys;
    for (const auto& [key, value] : document.as_object()) keys.push_back(key);
    keys.resize(7);
    CHECK(keys == std::vector<std::string>{"name", "image", "instance-type", "boot-package", "video-encoder",
                                           "watchdog", "abi"});
}

TEST_CASE("a name is all that a manifest must have") {
    const ApplicationManifest manifest = ApplicationManifest::parse(Json::object({{"name", "x"}}));
    CHECK(manifest.video_encoder == VideoEncoder::gpu_preferred);
    CHECK(manifest.watchdog == Watchdog{});
    CHECK(manifest.resources == ResourceOverrides{});
    CHECK(manifest.hook_timeout_seconds() == 300);
    CHECK(
        manifest.to_document() ==
        Json::parse(
            R"({"name":"x","video-encoder":"gpu-preferred","watchdog":{"disabled":false,"allowed-packages":[]}})"));
}

TEST_CASE("unknown keys are ignored and named") {
    std::vector<std::string> ignored;
    ApplicationManifest::parse(with("colour", "red"), &ignored);
    CHECK(ignored == std::vector<std::string>{"colour"});
    ignored.clear();
    AddonManifest::parse(Json::parse(R"({"name":"ssh","tags":[]})"), &ignored);
    CHECK(ignored == std::vector<std::string>{"tags"});
}

TEST_CASE("lists of a manifest have an end") {
    JsonArray tags(1000, Json("tag"));
    CHECK_NOTHROW(ApplicationManifest::parse(with("tags", Json(tags))));
    tags.emplace_back("one more");
    CHECK(message_of([&] { ApplicationManifest::parse(with("tags", Json(tags))); }) ==
          "manifest is malformed: argument tags is invalid: must not have more than 1000 items");
}

TEST_CASE("a manifest that is no map") {
    for (const Json& document : {Json(), Json("text"), Json::array({"name"}), Json(7)}) {
        CHECK_THAT(message_of([&] { ApplicationManifest::parse(document); }),
                   Catch::StartsWith("manifest is malformed"));
        CHECK_THAT(message_of([&] { AddonManifest::parse(document); }),
                   Catch::StartsWith("manifest is malformed"));
    }
}

TEST_CASE("every key of a manifest has a type") {
    const std::pair<const char*, Json> wrong[] = {{"name", 1},
                                                  {"version", true},
                                                  {"instance-type", 2},
                                                  {"image", Json::array()},
                                                  {"boot-package", 1},
                                                  {"boot-activity", Json::object()},
                                                  {"required-permissions", "*"},
                                                  {"addons", "ssh"},
                                                  {"tags", Json::array({1})},
                                                  {"features", Json::object()},
                                                  {"video-encoder", 1},
                                                  {"watchdog", "off"},
                                                  {"services", Json::object()},
                                                  {"resources", 4},
                                                  {"extra-data", Json::array({"x"})},
                                                  {"hooks", "5m"},
                                                  {"bootstrap", Json::array({"x"})},
                                                  {"node-selector", "zone=a"},
                                                  {"abi", 64}};
    for (const auto& [key, value] : wrong) {
        INFO(key);
        const Json manifest = with(key, value);
        const std::string message = message_of([&] { ApplicationManifest::parse(manifest); });
        CHECK_THAT(message, Catch::StartsWith(invalid(key)));
    }
}

TEST_CASE("names, texts and patterns of a manifest") {
    Json nameless = whole();
    nameless.erase("name");
    test::check_codec(
        parse_manifest,
        {
            {nameless, "manifest is malformed: name is required"},
            {with("name", ""), "manifest is malformed: name is required"},
            {with("name", std::string(129, 'x')), "manifest is malformed: length of name is invalid"},
            {with("name", "a b"), invalid("name is invalid: only letters, digits and _ - . are allowed")},
            {with("name", "a:b"), invalid("name is invalid: only letters, digits and _ - . are allowed")},
            {with("name", "c5pvhr3fbn40000000a0"), invalid("name is invalid: must not look like an id")},
            {with("version", std::string(51, 'v')),
             invalid("version is invalid: '" + std::string(51, 'v') + "' is longer than 50 characters")},
            {with("instance-type", "a3.3"),
             invalid("instance-type is invalid: 'a3.3' is an unknown instance type")},
            {with("boot-package", "candy"),
             invalid("boot-package is invalid: 'candy' is not a package name like com.example.app")},
            {with("boot-activity", "Main"),
             invalid(
                 "boot-activity is invalid: 'Main' is not an activity like com.example.app.Main or .Main")},
            {with("video-encoder", "cpu"),
             invalid("video-encoder is invalid: 'cpu' is not one of gpu, gpu-preferred, software")},
            {with("abi", "mips"), invalid("abi is invalid: 'mips' is not one of x86, x86_64, armeabi, "
                                          "armeabi-v7a, arm64-v8a")},
        });
    CHECK_NOTHROW(
        ApplicationManifest::parse(with("version", std::string(25, 'v') + "ääääääääääääääääääääääääl")));
    CHECK_NOTHROW(ApplicationManifest::parse(with("boot-activity", ".Main")));
    CHECK_NOTHROW(ApplicationManifest::parse(with("image", "c5pvhr3fbn40000000a0")));
}

TEST_CASE("lists of a manifest") {
    test::check_codec(
        parse_manifest,
        {
            {with("required-permissions", Json::array({"*", "android.permission.CAMERA"})),
             invalid("required-permissions[0] is invalid: '*' must stand alone")},
            {with("required-permissions", Json::array({""})),
             invalid("required-permissions[0] is invalid: '' is not the name of a permission")},
            {with("addons", Json::array({"ssh", "a/b"})),
             invalid("addons[1] is invalid: only letters, digits and _ - . are allowed")},
            {with("addons", Json::array({"ssh", "ssh"})),
             invalid("addons[0] is invalid: 'ssh' appears twice")},
            {with("tags", Json::array({"a,b"})),
             invalid("tags[0] is invalid: commas and control characters are not allowed")},
            {with("tags", Json::array({""})), "manifest is malformed: length of tags[0] is invalid"},
            {with("features", Json::array({"a,b"})),
             invalid("features[0] is invalid: 'a,b' is not a feature flag")},
            {with("node-selector", Json::array({""})),
             "manifest is malformed: length of node-selector[0] is invalid"},
            {with("bootstrap", "keep", Json::array({"/etc"})),
             invalid("bootstrap.keep[0] is invalid: '/etc' must be relative to the application's directory")},
            {with("bootstrap", "keep", Json::array({"a/../../b"})),
             invalid("bootstrap.keep[0] is invalid: 'a/../../b' must not contain ..")},
            {with("bootstrap", "keep", Json::array({""})),
             invalid("bootstrap.keep[0] is invalid: '' is not a pattern")},
        });
}

TEST_CASE("watchdog, hooks and services of a manifest") {
    const auto service = [](const char* key, const Json& value) {
        Json entry = Json::parse(R"({"name":"adb","port":5559,"protocols":["tcp"]})");
        entry.set(key, value);
        return with("services", Json::array({entry}));
    };
    test::check_codec(
        parse_manifest,
        {
            {with("watchdog", "allowed-packages", Json::array({"com.ok", "x y"})),
             invalid("watchdog.allowed-packages[1] is invalid: 'x y' is not a package name")},
            {with("watchdog", "allowed-packages", Json::array({"*", "com.ok"})),
             invalid("watchdog.allowed-packages[0] is invalid: '*' must stand alone")},
            {with("watchdog", "disabled", "yes"),
             invalid("watchdog.disabled is invalid: must be true or false")},
            {with("hooks", "timeout", "16m"), invalid("hooks.timeout is invalid: '16m' is above 15m")},
            {with("hooks", "timeout", "-1s"),
             invalid("hooks.timeout is invalid: '-1s' is not a duration like 90s or 5m")},
            {with("hooks", "timeout", "0s"), invalid("hooks.timeout is invalid: '0s' is not above 0")},
            {with("hooks", "timeout", 90), invalid("hooks.timeout is invalid: must be a string")},
            {service("port", 0), invalid("services[0].port is invalid: must be from 1 to 65535")},
            {service("port", 65536), invalid("services[0].port is invalid: must be from 1 to 65535")},
            {service("port", Json()), "manifest is malformed: services[0].port is required"},
            {service("port_end", 80), invalid("services[0].port_end is invalid: must not be below port")},
            {service("protocols", Json::array()), "manifest is malformed: services[0].protocols is required"},
            {service("protocols", Json::array({"sctp"})),
             invalid("services[0].protocols is invalid: must be tcp or udp")},
            {service("expose", "yes"), invalid("services[0].expose is invalid: must be true or false")},
        });
    CHECK_NOTHROW(ApplicationManifest::parse(with("watchdog", "allowed-packages", Json::array({"*"}))));
}

TEST_CASE("resources of a manifest") {
    const auto resource = [](const char* key, const Json& value) { return with("resources", key, value); };
    const std::string no_size = invalid(
        "resources.memory is invalid: must be a whole number of bytes, or text like 512MB "
        "or 3GB (units B, kB, MB, GB, TB, PB, EB)");
    test::check_codec(
        parse_manifest,
        {
            {resource("cpus", 0), invalid("resources.cpus is invalid: must be at least 0.1")},
            {resource("cpus", "4"), invalid("resources.cpus is invalid: must be a number")},
            {resource("cpus", 1e10), invalid("resources.cpus is invalid: is too large")},
            {resource("memory", "4 GB"), no_size},
            {resource("memory", true), no_size},
            {resource("memory", -1), no_size},
            {resource("memory", "-1"), no_size},
            {resource("memory", "0MB"), invalid("resources.memory is invalid: must be above 0")},
            {resource("disk-size", 0), invalid("resources.disk-size is invalid: must be above 0")},
            {resource("gpu-slots", -1), invalid("resources.gpu-slots is invalid: '-1' is below 0")},
            {resource("gpu-slots", -2), invalid("resources.gpu-slots is invalid: '-2' is below -1")},
            {resource("gpu-type", "s3"),
             invalid("resources.gpu-type is invalid: 's3' is not one of amd, intel, nvidia")},
        });
}

TEST_CASE("a manifest may ask for any size that a launch may ask for") {
    const auto sizes = [](const char* text) {
        return ApplicationManifest::parse(Json::object({{"name", "candy"}, {"resources", Json::parse(text)}}))
            .resources;
    };
    CHECK(sizes(R"({"memory": "1GB"})").memory == std::uint64_t{1} << 30);
    CHECK(sizes(R"({"memory": 536870912, "disk-size": "512MB"})") ==
          sizes(R"({"memory": "512MB", "disk_size": 536870912})"));
    CHECK_FALSE(sizes(R"({"memory": ""})").memory);
}

TEST_CASE("extra data goes to the directories of its package alone") {
    const auto target = [](const char* path) { return ApplicationManifest::parse(extra("target", path)); };
    for (const char* path :
         {"/sdcard/Android/obb/com.foo.candy", "/sdcard/Android/data/com.foo.candy/a/b",
          "/data/app/com.foo.candy", "/data/app/com.foo.candy-1/lib", "/data/data/com.foo.candy/x"}) {
        INFO(path);
        CHECK_NOTHROW(target(path));
    }
    for (const char* path :
         {"", "/", "/etc/passwd", "/data/data", "/data/data/", "/data/data/com.bar",
          "/data/data/com.foo.candy2", "/data/data/com.foo.candy-1", "/data/app/com.foo.candy-",
          "/data/data/com.foo.candy/../com.bar", "/data/data//com.foo.candy", "data/data/com.foo.candy",
          "/data/data/com.foo.candy/a\nb", "/data/data/./com.foo.candy"}) {
        INFO(path);
        CHECK_THAT(message_of([&] { target(path); }),
                   Catch::Contains("extra-data.file.target is invalid: '"));
    }
    Json unknown_package = extra("target", "/data/data/com.any.thing/x");
    unknown_package.erase("boot-package");
    CHECK_NOTHROW(ApplicationManifest::parse(unknown_package));
    unknown_package = extra("target", "/data/data/system/x");
    unknown_package.erase("boot-package");
    CHECK(code_of([&] { ApplicationManifest::parse(unknown_package); }) == ErrorCode::invalid_argument);
}

TEST_CASE("names, owners and permissions of extra data") {
    std::vector<test::CodecRow> rows{{with("extra-data", Json::object({{"file", Json::object()}})),
                                      "manifest is malformed: extra-data.file.target is required"}};
    for (const std::string owner : {"1000", "a:b:c", ":", "70000:0", "-1:0", "a b:c"})
        rows.emplace_back(extra("owner", owner), invalid("extra-data.file.owner is invalid: '" + owner +
                                                         "' is not an owner like uid:gid"));
    for (const std::string mode : {"66", "0888", "rwx", "00660", "-660"})
        rows.emplace_back(extra("permissions", mode), invalid("extra-data.file.permissions is invalid: '" +
                                                              mode + "' is not octal permissions like 0660"));
    for (const char* name : {"a/b", "..", "."})
        rows.emplace_back(
            with("extra-data",
                 Json::object({{name, Json::object({{"target", "/data/data/com.foo.candy"}})}})),
            test::is_refused);
    test::check_codec(parse_manifest, rows);
}

TEST_CASE("the manifest of an addon") {
    const AddonManifest manifest = AddonManifest::parse(Json::parse(
        R"({"name":"ssh","description":"d","provides":{"abi-support":["armeabi"]},"hooks":{"timeout":"90s"}})"));
    CHECK(manifest.name == "ssh");
    CHECK(manifest.description == "d");
    CHECK(manifest.abi_support == std::vector<std::string>{"armeabi"});
    CHECK(manifest.hook_timeout_seconds() == 90);
    CHECK(AddonManifest::parse(Json::object()).hook_timeout_seconds() == 300);
    const auto parse = [](const Json& document) { AddonManifest::parse(document); };
    test::check_codec(
        parse,
        test::all_refused({R"({"name":"a b"})", R"({"provides":{"abi-support":["x86"]}})",
                           R"({"provides":1})", R"({"hooks":{"timeout":"1h"}})", R"({"description":1})"}));
}

TEST_CASE("resources overlay those of the instance type one by one") {
    const InstanceResources base{2, 3 * gigabyte, 3 * gigabyte, 1};
    CHECK(ResourceOverrides{}.over(base).gpu_slots == 1);
    ResourceOverrides some;
    some.cpus = 8;
    some.gpu_slots = 0;
    CHECK(some.over(base).cpus == 8);
    CHECK(some.over(base).memory == 3 * gigabyte);
    CHECK(some.over(base).gpu_slots == 0);
}

TEST_CASE("resources that are not set") {
    CHECK(ResourceOverrides{}.to_json() == Json::object({{"gpu-slots", -1}}));
    const ResourceOverrides read =
        ResourceOverrides::from_json(Json::parse(R"({"gpu_slots":-1,"disk_size":"","memory":"3584MB"})"));
    CHECK_FALSE(read.gpu_slots);
    CHECK_FALSE(read.disk);
    CHECK(read.to_json().at("memory").as_string() == "3584MB");
}

TEST_CASE("hooks have known names") {
    for (const char* name :
         {"install", "prepare", "restore", "backup", "pre-start", "post-start", "post-stop"})
        CHECK(is_hook_name(name));
    for (const char* name : {"", "pre_start", "Install", "lib", "pre-start.sh"})
        CHECK_FALSE(is_hook_name(name));
}

}  // namespace
}  // namespace svc
