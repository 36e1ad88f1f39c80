#include "tests/model/answers.h"

#include <algorithm>
#include <regex>
#include <utility>

namespace svc::test {

namespace {

using Refusals = std::vector<std::pair<int, const char*>>;
using Kinds = std::vector<const char*>;

// Kinds of calls ("" and "instances." are the beginning of many), and how they may be refused.
struct Rule {
    Kinds kinds;
    Refusals refusals;
};

const std::vector<Rule>& rules() {
    static const std::vector<Rule> all{
        // Another operation holds the object, or it goes away.
        {{"instances.start", "instances.stop", "instances.pause", "instances.delete", "instances.protect",
          "snapshots.", "images.", "addons.", "applications.", "certificates.delete", "nodes.", "config.set"},
         {{409, ".*already in progress"}}},
        {{"instances.start", "instances.stop", "instances.pause", "instances.delete", "instances.protect",
          "instances.exec", "instances.show", "instances.logs", "snapshots."},
         {{404, "container not found"}}},
        {{"instances.launch"},
         {{409, "container '.*' already exists"},
          {404, "(published )?application( version)? not found"},
          {404, "image( version)? not found"},
          {404, "addon( version)? not found"},
          {404, "snapshot not found"},
          {400, "version .* is not active"},
          {400, "image .* is not active"},
          {400, "snapshot is not ready"},
          {400, "scheduling on node .*"},
          {400, "argument addons is invalid: .*"},
          {409, "application deletion already in progress"}}},
        {{"instances.start"},
         {{400, "Already running"}, {400, "starting a container that is .* not allowed"}}},
        {{"instances.stop"}, {{400, "stopping a container that is .* not allowed"}}},
        {{"instances.pause"}, {{400, "Already paused"}, {400, "pausing a container that is .* not allowed"}}},
        {{"instances.delete"}, {{403, "deleting protected container '.*' not allowed"}}},
        {{"instances.exec"}, {{400, "exec in a container that is .* not allowed"}}},
        {{"snapshots.create"},
         {{409, "snapshot '.*' already exists"}, {400, "only the disk of a stopped instance can be copied"}}},
        {{"snapshots.restore", "snapshots.delete", "snapshots.show"}, {{404, "snapshot not found"}}},
        {{"snapshots.restore"},
         {{400, "snapshot is not ready"}, {400, "only a stopped or failed instance can be restored"}}},
        {{"snapshots.delete"}, {{409, "snapshot is being deleted"}}},
        {{"images.create"}, {{409, "image already exists"}}},
        {{"images.update", "images.default", "images.delete", "images.show"},
         {{404, "image( version)? not found"}}},
        {{"images.update"}, {{400, "image not changed"}}},
        {{"images.default"}, {{400, "image .* is not active"}}},
        {{"images.delete"}, {{400, "deleting default image not allowed"}, {409, "image is in use"}}},
        {{"images.delete_version"}, {{400, "deleting the last version of an image not allowed"}}},
        {{"addons.create"}, {{409, "addon already exists"}}},
        {{"addons.update", "addons.delete"}, {{404, "addon( version)? not found"}, {409, "addon is in use"}}},
        {{"addons.update"}, {{400, "addon not changed"}}},
        {{"addons.delete_version"}, {{400, "deleting the last version of an addon not allowed"}}},
        {{"applications.create"}, {{409, "application already exists"}}},
        {{"applications.create", "applications.update"},
         {{404, "(default )?image( version)? not found"},
          {404, "addon( version)? not found"},
          {400, "image .* is not active"},
          {400, ".*no image.*"}}},
        {{"applications.update", "applications.publish", "applications.delete", "applications.export",
          "applications.manifest", "applications.show"},
         {{404, "application( version)? not found"}}},
        {{"applications.publish"}, {{400, "publishing version .* not allowed: it is .*"}}},
        {{"applications.delete_version"}, {{400, "deleting the last version of an application not allowed"}}},
        {{"applications.export"}, {{400, "exporting version .* not allowed: it is .*"}}},
        {{"operations.cancel"},
         {{400, "Only running operations can be cancelled"}, {400, "This operation can't be cancelled"}}},
        {{"certificates.create"}, {{409, "certificate already exists"}}},
        {{"certificates.delete", "certificates.show"}, {{404, "certificate not found"}}},
        {{"config.set"}, {{400, "argument .* is invalid: .*"}, {404, "addon not found"}}},
    };
    return all;
}

bool is_allowed(const ModelCall& call, int status, const std::string& error) {
    return std::ranges::any_of(rules(), [&](const Rule& rule) {
        return std::ranges::any_of(rule.kinds,
                                   [&](const char* kind) { return call.kind.starts_with(kind); }) &&
               std::ranges::any_of(rule.refusals, [&](const auto& refusal) {
                   return refusal.first == status && std::regex_match(error, std::regex(refusal.second));
               });
    });
}

int expected_success(const ModelCall& call) {
    static const std::vector<std::string> reads{"show", "list", "logs", "wait", "export", "manifest"};
    const bool is_read = std::ranges::find(reads, call.verb()) != reads.end();
    return is_read || call.kind == "certificates.create" ? 200 : 202;
}

void check_refusal(const ModelCall& call, Findings& findings) {
    const Json body = call.reply.json();
    const std::string& error = body.at("error").as_string();
    findings.expect(body.at("type") == Json("error") && body.at("error_code") == Json(call.reply.status) &&
                        body.at("metadata").is_object(),
                    "the envelope of an error: " + call.describe());
    findings.expect(is_allowed(call, call.reply.status, error), "answer not allowed: " + call.describe());
}

void check_success(const ModelCall& call, Findings& findings) {
    if (call.verb() == "export" || call.verb() == "manifest") return;  // no JSON
    const Json body = call.reply.json();
    const bool async = !call.operation.empty();
    findings.expect(body.at("type") == Json(async ? "async" : "sync"), "the type: " + call.describe());
    if (!async) return;
    findings.expect(call.reply.headers.get("Location") == call.reply.operation(),
                    "the Location of a 202: " + call.describe());
    findings.expect(body.at("metadata").at("status_code") == Json(103), "it runs: " + call.describe());
}

}  // namespace

void check_answer(const ModelCall& call, Findings& findings) {
    if (call.reply.status == expected_success(call)) return check_success(call, findings);
    if (call.reply.status < 400) return findings.add("answer not allowed: " + call.describe());
    check_refusal(call, findings);
}

}  // namespace svc::test
