#include "libsvc/model/cluster/config.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <stdexcept>

#include "libsvc/model/cluster/config_description.h"
#include "tests/unit/model/codec_table.h"

namespace svc {
namespace {

using test::code_of;
using test::message_of;

std::string refusal(const char* key, const std::string& value) {
    return message_of([&] { check_config_value(config_key(key), value); });
}

TEST_CASE("the configuration shows every key, typed, with its default") {
    test::check_golden("unit/model/golden/config.json", ConfigValues().to_json());
}

TEST_CASE("the schema is in order and its defaults are valid") {
    const auto schema = config_schema();
    CHECK(std::is_sorted(schema.begin(), schema.end(),
                         [](const ConfigKey& a, const ConfigKey& b) { return a.name < b.name; }));
    for (const ConfigKey& key : schema) {
        INFO(key.name);
        CHECK_NOTHROW(check_config_value(key, key.default_value));
        CHECK_NOTHROW(check_config_value(key, ""));
        CHECK_FALSE(key.meaning.empty());
    }
}

TEST_CASE("an unknown key is not found") {
    CHECK(code_of([] { config_key("colour"); }) == ErrorCode::not_found);
    CHECK(message_of([] { config_key("colour"); }) == "configuration item not found");
    CHECK_THROWS_AS(ConfigValues().text("colour"), std::logic_error);
    CHECK_THROWS_AS(ConfigValues().boolean("gpu.type"), std::logic_error);
}

TEST_CASE("values that a key takes") {
    const auto [key, value] = GENERATE(table<const char*, const char*>({
        {"application.addons", "ssh, vnc,"},
        {"application.auto_publish", "false"},
        {"application.default_abi", "arm64-v8a"},
        {"application.max_pool_size", "0"},
        {"application.max_published_versions", "1000"},
        {"console.gateway_url", "https://gateway.example:4000"},
        {"container.default_platform", "webrtc"},
        {"container.network_proxy", "http://proxy:3128"},
        {"core.proxy_https", "https://proxy"},
        {"core.trust_password", "any text\n"},
        {"cpu.limit_mode", "pinning"},
        {"gpu.allocation_mode", "one"},
        {"gpu.type", "nvidia"},
        {"images.update_interval", "1s"},
        {"images.url", "file:///srv/images"},
        {"oidc.ca", "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"},
        {"oidc.issuer", "https://login.example.com/realms/svc"},
        {"oidc.issuer", "http://127.0.0.1:8080"},
        {"oidc.redirect_url", "https://svc.example.com/1.0/oidc/callback"},
        {"oidc.roles", "svc-admins=admin, ops=operator, *=viewer"},
        {"oidc.scopes", "openid groups"},
        {"registry.fingerprint", "ABCDEF0123456789ABCDEF0123456789ABCDEF0123456789ABCDEF0123456789"},
        {"registry.mode", "manual"},
        {"registry.url", "https://registry:8443"},
        {"scheduler.strategy", "binpack"},
    }));
    INFO(key << " = " << value);
    CHECK_NOTHROW(check_config_value(config_key(key), value));
}

TEST_CASE("values that a key refuses") {
    const auto refused = GENERATE(table<const char*, const char*>({
        {"application.addons", "ssh,a b"},
        {"application.auto_publish", "yes"},
        {"application.auto_update", "True"},
        {"application.default_abi", "mips"},
        {"application.max_pool_size", "1001"},
        {"application.max_published_versions", "0"},
        {"application.max_published_versions", "1001"},
        {"application.max_published_versions", "3.0"},
        {"application.max_published_versions", " 3"},
        {"application.max_published_versions", "99999999999999999999"},
        {"console.gateway_url", "https://gateway.example/page"},
        {"console.gateway_url", "https://gateway.example; script-src *"},
        {"container.apt_mirror", "ftp://mirror"},
        {"container.default_platform", "vnc"},
        {"container.features", "a\nb"},
        {"container.network_proxy", "proxy:3128"},
        {"core.proxy_http", "http://"},
        {"cpu.limit_mode", "none"},
        {"gpu.allocation_mode", "single"},
        {"gpu.type", "mali"},
        {"images.auth", "a\nb"},
        {"images.update_interval", "999ms"},
        {"images.update_interval", "-5m"},
        {"images.update_interval", "5"},
        {"images.url", "file://relative"},
        {"images.version_lockstep", "1"},
        {"load_balancer.url", "lb"},
        {"oidc.ca", "/etc/ssl/ca.pem"},
        {"oidc.client_secret", "a\nb"},
        {"oidc.issuer", "http://login.example.com"},
        {"oidc.redirect_url", "https://svc.example.com/"},
        {"oidc.redirect_url", "http://127.0.0.1/1.0/oidc/callback"},
        {"oidc.roles", "svc-admins=root"},
        {"oidc.roles", ","},
        {"oidc.scopes", "profile email"},
        {"registry.fingerprint", "abc"},
        {"registry.mode", "both"},
        {"registry.url", "http://registry"},
        {"scheduler.strategy", "random"},
    }));
    const char* const key = std::get<0>(refused);
    const char* const value = std::get<1>(refused);
    INFO(key << " = " << value);
    CHECK(code_of([&] { check_config_value(config_key(key), value); }) == ErrorCode::invalid_argument);
    CHECK_THAT(refusal(key, value), Catch::StartsWith("argument " + std::string(key) + " is invalid: "));
}

TEST_CASE("a value has a longest length") {
    const ConfigKey& key = config_key("container.features");
    check_config_value(key, std::string(16384, 'a'));
    CHECK(message_of([&] { check_config_value(key, std::string(16385, 'a')); }) ==
          "length of container.features is invalid");
}

TEST_CASE("a refusal names key, value and rule, but no secret") {
    CHECK(refusal("registry.mode", "both") ==
          "argument registry.mode is invalid: 'both' is not one of pull, push, manual");
    CHECK(refusal("application.auto_publish", "yes") ==
          "argument application.auto_publish is invalid: 'yes' is not true or false");
    CHECK(refusal("images.auth", "se\ncret").find("cret") == std::string::npos);
}

TEST_CASE("values that were set, and those that were not") {
    const ConfigValues values({{"application.addons", " ssh,, vnc "},
                               {"application.auto_publish", "false"},
                               {"application.max_published_versions", "7"},
                               {"core.trust_password", "hash"},
                               {"images.update_interval", "90s"},
                               {"images.version_lockstep", "false"}});
    CHECK(values.list("application.addons") == std::vector<std::string>{"ssh", "vnc"});
    CHECK_FALSE(values.boolean("application.auto_publish"));
    CHECK(values.boolean("application.auto_update"));
    CHECK(values.number("application.max_published_versions") == 7);
    CHECK(values.duration("images.update_interval") == std::chrono::seconds(90));
    CHECK(values.duration("registry.update_interval") == std::chrono::hours(1));
    CHECK(values.text("scheduler.strategy") == "spread");
    CHECK(values.is_set("core.trust_password"));
    CHECK_FALSE(values.is_set("images.auth"));
    const Json shown = values.to_json();
    CHECK(shown.at("core.trust_password") == Json(true));
    CHECK(shown.at("images.auth") == Json(false));
    CHECK(shown.at("images.version_lockstep") == Json("false"));
    CHECK(shown.at("application.auto_publish") == Json(false));
    CHECK(shown.at("application.max_published_versions") == Json(7));
}

TEST_CASE("the choices and ranges of the schema are those that are accepted") {
    std::size_t choices = 0;
    std::size_t ranges = 0;
    for (const ConfigKey& key : config_schema()) {
        INFO(key.name);
        const Json description = describe(key);
        if (const Json* const list = description.find("choices")) {
            ++choices;
            for (const Json& choice : list->as_array())
                CHECK_NOTHROW(check_config_value(key, choice.as_string()));
            CHECK_THROWS_AS(check_config_value(key, "something else"), Error);
        }
        if (key.type != ConfigType::number) continue;
        ++ranges;
        const auto lowest = description.at("minimum").as_int();
        const auto highest = description.at("maximum").as_int();
        CHECK_NOTHROW(check_config_value(key, std::to_string(lowest)));
        CHECK_NOTHROW(check_config_value(key, std::to_string(highest)));
        CHECK_THROWS_AS(check_config_value(key, std::to_string(lowest - 1)), Error);
        CHECK_THROWS_AS(check_config_value(key, std::to_string(highest + 1)), Error);
    }
    CHECK(choices >= 6);
    CHECK(ranges >= 1);
}

TEST_CASE("a change of the configuration") {
    const auto patch = ConfigPatch::from_json(Json::parse(R"({"name":"gpu.type","value":"amd"})"));
    CHECK(patch.name == "gpu.type");
    CHECK(patch.value == "amd");
    CHECK(ConfigPatch::from_json(Json::parse(R"({"name":"x","value":true})")).value == "true");
    CHECK(ConfigPatch::from_json(Json::parse(R"({"name":"x","value":5})")).value == "5");
    test::check_codec(ConfigPatch::from_json, {{R"({"value":"x"})", "name is required"},
                                               {R"({"name":"x"})", "value is required"},
                                               {R"({"name":1,"value":"x"})", test::is_refused},
                                               {R"({"name":"x","value":["y"]})", test::is_refused},
                                               {R"({"name":"x","value":{}})", test::is_refused},
                                               {"[]", test::is_refused}});
}

}  // namespace
}  // namespace svc
