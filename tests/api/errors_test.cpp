// Provokes every row of the table in docs/errors.md.
#include <catch2/catch.hpp>

#include <regex>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/strings.h"
#include "tests/api/errors_world.h"
#include "tests/support/golden.h"

namespace svc::test {

namespace {

struct Row {
    std::string id, status, text;
};

std::string plain(std::string_view cell) {
    std::string text(trim(cell));
    if (text.size() > 1 && text.front() == '`') text = text.substr(1, text.size() - 2);
    return text;
}

std::vector<Row> rows() {
    const std::string page = read_file(std::filesystem::path(SVC_TESTS_DIR) / ".." / "docs" / "errors.md");
    std::vector<Row> found;
    bool inside = false;
    for (const std::string& line : split(page, '\n')) {
        const auto cells = split(line, '|');
        inside = line.starts_with('|') && (inside || line.starts_with("| Row |"));
        if (!inside || cells.size() < 6 || line.starts_with("| Row") || line.starts_with("|---")) continue;
        found.push_back({plain(cells[1]), plain(cells[3]), plain(cells[4])});
    }
    return found;
}

// "<x> is required" as a pattern: what stands in angle brackets differs and may be empty at the ends.
std::regex pattern(const std::string& text) {
    static const std::regex special(R"([.^$*+?()\[\]{}\\|/])");
    static const std::regex variable("<[a-z]+>");
    return std::regex(std::regex_replace(std::regex_replace(text, special, R"(\$&)"), variable, ".*"));
}

const Provocations& bad_requests() {
    static const Provocations all{
        {"malformed-json", [](World& w) { return w.post("/1.0/containers", "{"); }},
        {"duplicate-key", [](World& w) { return w.launch(R"(,"image_id":"base")"); }},
        {"no-body", [](World& w) { return w.post("/1.0/containers", ""); }},
        {"get-body", [](World& w) { return w.api.call(Method::get, "/1.0/images", "{}"); }},
        {"long-body", [](World& w) { return w.post("/1.0/containers", std::string(100'001, ' ')); }},
        {"missing-field", [](World& w) { return w.post("/1.0/certificates/tokens", "{}"); }},
        {"wrong-type", [](World& w) { return w.launch(R"(,"user_data":3)"); }},
        {"out-of-range", [](World& w) { return w.launch(R"(,"cpu":-1)"); }},
        {"unknown-value", [](World& w) { return w.launch(R"(,"config":{"platform":"x"})"); }},
        {"long-user-data",
         [](World& w) { return w.launch(R"(,"user_data":")" + std::string(10'241, 'x') + "\""); }},
        {"large-launch", [](World& w) { return w.large_launch(); }},
        {"id-like-name", [](World& w) { return w.add_image(w.image, R"({"name":"c08p730j1qm6t2783da0"})"); }},
        {"bad-query", [](World& w) { return w.api.get("/1.0/images?recursion=2"); }},
        {"bad-filter", [](World& w) { return w.api.get("/1.0/containers?status=dancing"); }},
        {"contradiction", [](World& w) { return w.launch(R"(,"cpu":1,"resources":{"cpus":2})"); }},
        {"bad-page", [](World& w) { return w.api.get("/1.0/images?limit=few"); }},
        {"bad-timeout", [](World& w) { return w.api.get(w.operation() + "/wait?timeout=soon"); }},
        {"bad-event-type", [](World& w) { return w.api.get("/1.0/events?type=weather"); }},
        {"no-upgrade", [](World& w) { return w.api.get("/1.0/events"); }},
        {"wrong-content-type",
         [](World& w) {
             return w.add_image(w.image, R"({"name":"new"})", header("Content-Type", "text/plain"));
         }},
        {"malformed-request-header", [](World& w) { return w.add_image(w.image, "["); }},
        {"malformed-fingerprint",
         [](World& w) {
             return w.add_image(w.image, R"({"name":"new"})", header("X-SVC-Fingerprint", "12"));
         }},
        {"fingerprint-differs",
         [](World& w) {
             return w.add_image(w.image, R"({"name":"new"})",
                                header("X-SVC-Fingerprint", std::string(64, '0')));
         }},
        {"already-running",
         [](World& w) {
             return w.patch("/1.0/containers/" + w.instance, R"({"desired_status":"running"})");
         }},
        {"not-cancellable", [](World& w) { return w.api.remove(w.operation()); }},
        {"one-node",
         [](World& w) { return w.post("/1.0/nodes", R"({"name":"node1","address":"10.0.0.12"})"); }},
        {"no-registry", [](World& w) { return w.api.get("/1.0/registry/applications"); }},
        {"bad-config-value",
         [](World& w) { return w.patch("/1.0/config", R"({"name":"scheduler.strategy","value":"x"})"); }},
        {"bad-certificate",
         [](World& w) { return w.post("/1.0/certificates", R"({"certificate":"AAAA"})"); }},
        {"exec-not-running", [](World& w) { return w.stop(); }},
        {"already-paused", [](World& w) { return w.pause("", R"({"desired_status":"paused"})"); }},
        {"exec-paused", [](World& w) { return w.pause("/exec", R"({"command":["cat"]})"); }},
        {"capture-paused", [](World& w) { return w.screenshot("paused"); }},
        {"capture-not-running", [](World& w) { return w.screenshot("stopped"); }},
        {"capture-no-streamer", [](World& w) { return w.screenshot(""); }},
    };
    return all;
}

const Provocations& bad_packages() {
    static const Provocations all{
        {"no-archive", [](World& w) { return w.add_application("this is no archive"); }},
        {"no-manifest",
         [](World& w) {
             return w.add_application(bzip2_package({{"readme", "x"}}));
         }},
        {"no-metadata",
         [](World& w) {
             return w.add_image(bzip2_package({{"rootfs/etc/motd", "x"}}));
         }},
        {"bad-manifest",
         [](World& w) { return w.add_application(application_package("soda", "boot-package: 3x\n")); }},
        {"hook-not-executable",
         [](World& w) {
             return w.add_addon(
                 bzip2_package({{"manifest.yaml", "name: x\n"}, {"hooks/install", "#!/bin/sh\n", 0644}}));
         }},
        {"no-hook",
         [](World& w) {
             return w.add_addon(bzip2_package({{"manifest.yaml", "name: x\n"}}));
         }},
        {"unsupported-abi",
         [](World& w) { return w.add_application(application_package("soda", "abi: arm64-v8a\n")); }},
        {"renamed-application",
         [](World& w) {
             return w.api.upload(Method::patch, "/1.0/applications/candy", "", application_package("soda"));
         }},
        {"image-not-changed",
         [](World& w) { return w.api.upload(Method::patch, "/1.0/images/base", "", w.image); }},
        {"addon-not-changed",
         [](World& w) { return w.api.upload(Method::patch, "/1.0/addons/ssh", "{}", w.addon); }},
        {"last-image-version", [](World& w) { return w.api.remove("/1.0/images/base/0"); }},
        {"last-addon-version", [](World& w) { return w.api.remove("/1.0/addons/ssh/0"); }},
        {"image-exists", [](World& w) { return w.add_image(w.image, R"({"name":"base"})"); }},
        {"addon-exists", [](World& w) { return w.add_addon(w.addon, R"({"name":"ssh"})"); }},
        {"application-exists", [](World& w) { return w.add_application(w.application); }},
        {"addon-in-use", [](World& w) { return w.api.remove("/1.0/addons/ssh"); }},
        {"node-in-use", [](World& w) { return w.api.remove("/1.0/nodes/node0"); }},
        {"evacuation-mode",
         [](World& w) {
             return w.api.post("/1.0/nodes/node0/evacuate", Json::object({{"mode", "sideways"}}));
         }},
        {"stale-etag",
         [](World& w) {
             return w.api.upload(Method::patch, "/1.0/images/base", "", w.image,
                                 header("If-Match", std::string(64, 'a')));
         }},
    };
    return all;
}

const Provocations& bad_callers() {
    static const Provocations all{
        {"missing-token", [](World& w) { return w.inside.get("/1.0/artifacts"); }},
        {"missing-secret", [](World& w) { return w.socket(""); }},
        {"not-trusted", [](World& w) { return w.stranger.get("/1.0/images"); }},
        {"wrong-token", [](World& w) { return w.artifact("bearer x.y.z"); }},
        {"wrong-secret", [](World& w) { return w.socket("?secret=guess"); }},
        {"no-password",
         [](World& w) {
             return w.stranger.post("/1.0/certificates", Json::object({{"trust-password", "x"}}));
         }},
        {"wrong-password",
         [](World& w) {
             w.api.set("core.trust_password", "secret");
             return w.stranger.post("/1.0/certificates", Json::object({{"trust-password", "x"}}));
         }},
        {"many-reports",
         [](World& w) {
             ApiReply reply;
             for (int i = 0; i < 30; ++i) reply = w.report();
             return reply;
         }},
        {"many-wrong-passwords",
         [](World& w) {
             ApiReply reply;
             for (int i = 0; i < 6; ++i)
                 reply = w.stranger.post("/1.0/certificates", Json::object({{"trust-password", "x"}}));
             return reply;
         }},
        {"many-passwords-anywhere", [](World& w) { return w.many_passwords(); }},
        {"password-from-instance", [](World& w) { return w.password_of_instance(); }},
        {"container-exists",
         [](World& w) {
             w.api.wait(w.launch(R"(,"name":"web-1")"));
             return w.launch(R"(,"name":"web-1")");
         }},
        {"protected-deletion",
         [](World& w) {
             w.api.wait(w.launch(R"(,"name":"web-2","config":{"security":{"delete_protected":true}})"));
             return w.api.remove("/1.0/containers/web-2", R"({"force":true})");
         }},
        {"certificate-exists",
         [](World& w) {
             w.daemon.trust(w.keys);
             return w.api.post("/1.0/certificates",
                               Json::object({{"certificate", read_file(w.keys.certificate)}}));
         }},
    };
    return all;
}

const Provocations& unknown_objects() {
    static const Provocations all{
        {"unknown-path", [](World& w) { return w.api.get("/2.0"); }},
        {"unknown-method", [](World& w) { return w.api.call(Method::put, "/1.0/images"); }},
        {"unknown-image", [](World& w) { return w.api.get("/1.0/images/x"); }},
        {"unknown-addon", [](World& w) { return w.api.get("/1.0/addons/x"); }},
        {"unknown-application", [](World& w) { return w.api.get("/1.0/applications/x"); }},
        {"unknown-version", [](World& w) { return w.api.get("/1.0/applications/candy/9"); }},
        {"unknown-addon-version", [](World& w) { return w.api.remove("/1.0/addons/ssh/9"); }},
        {"unknown-image-version", [](World& w) { return w.api.remove("/1.0/images/base/9"); }},
        {"unknown-container", [](World& w) { return w.api.get("/1.0/containers/x"); }},
        {"unknown-log", [](World& w) { return w.api.get("/1.0/containers/" + w.instance + "/logs/x"); }},
        {"unknown-node", [](World& w) { return w.api.get("/1.0/nodes/x"); }},
        {"unknown-operation", [](World& w) { return w.api.get("/1.0/operations/x"); }},
        {"unknown-certificate", [](World& w) { return w.api.get("/1.0/certificates/x"); }},
        {"unknown-join-token", [](World& w) { return w.api.remove("/1.0/certificates/tokens/x"); }},
        {"unknown-artifact", [](World& w) { return w.artifact(w.daemon.bearer(w.instance)); }},
        {"unknown-config-key",
         [](World& w) { return w.patch("/1.0/config", R"({"name":"x","value":"y"})"); }},
        {"unknown-reference", [](World& w) { return w.post("/1.0/containers", R"({"app_id":"x"})"); }},
    };
    return all;
}

const Provocations& bad_ends() {
    static const Provocations all{
        {"no-room", [](World& w) { return w.launch(R"(,"cpu":100000)"); }},
        {"cancelled", [](World& w) { return w.cancel(); }},
        {"failed-start", [](World& w) { return w.fail(); }},
    };
    return all;
}

const Provoke& provoke(const std::string& row) {
    for (const auto* table : {&bad_requests(), &bad_packages(), &wrong_states(), &bad_callers(),
                              &unknown_objects(), &bad_ends()}) {
        const auto found = table->find(row);
        if (found != table->end()) return found->second;
    }
    throw Error(ErrorCode::not_found, "nothing provokes row " + row);
}

void check_answer(const ApiReply& reply, const Row& row) {
    CHECK(std::to_string(reply.status) == row.status);
    CHECK(std::regex_match(reply.error(), pattern(row.text)));
    CHECK_FALSE(reply.error().empty());
    CHECK(reply.json().at("type") == Json("error"));
    CHECK(reply.json().at("error_code") == Json(reply.status));
    CHECK(reply.json().at("metadata") == Json::object());
}

void check_operation(World& world, const ApiReply& reply, const Row& row) {
    const Json operation = reply.status == 202 ? world.api.wait(reply) : reply.metadata();
    CHECK(operation.at("status_code").as_int() >= 400);
    CHECK_FALSE(operation.at("err").as_string().empty());
    CHECK(std::regex_match(operation.at("err").as_string(), pattern(row.text)));
}

}  // namespace

TEST_CASE("each error of the table is as documented") {
    World world;
    const auto table = rows();
    REQUIRE(table.size() > 60);
    for (const Row& row : table) {
        INFO(row.id);
        ApiReply reply;
        REQUIRE_NOTHROW(reply = provoke(row.id)(world));
        INFO(reply.text);
        if (row.status == "err")
            check_operation(world, reply, row);
        else
            check_answer(reply, row);
    }
}

TEST_CASE("each error that is provoked is documented") {
    std::size_t provoked = 0;
    for (const auto* table :
         {&bad_requests(), &bad_packages(), &wrong_states(), &bad_callers(), &unknown_objects(), &bad_ends()})
        provoked += table->size();
    CHECK(provoked == rows().size());
}

}  // namespace svc::test
