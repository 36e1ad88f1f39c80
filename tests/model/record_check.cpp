#include "tests/model/record_check.h"

#include <algorithm>
#include <set>

namespace svc::test {

namespace {

// Numbers ascend; there is always one version.
void check_versions(const Json& record, const char* number, const std::string& where, Findings& findings) {
    std::int64_t last = -1;
    const JsonArray& versions = record.at("versions").as_array();
    findings.expect(!versions.empty(), "no version is left: " + where);
    for (const Json& version : versions) {
        findings.expect(version.at(number).as_int() > last, "versions do not ascend: " + where);
        last = version.at(number).as_int();
    }
}

void check_application(const Json& record, const std::string& where, Findings& findings) {
    check_versions(record, "number", where, findings);
    for (const Json& version : record.at("versions").as_array()) {
        const bool active = version.at("status") == Json("active");
        findings.expect(active || version.at("published") == Json(false), "published too early: " + where);
        const bool failed = version.at("status") == Json("error");
        findings.expect(!failed || !version.at("error_message").as_string().empty(), "no reason: " + where);
    }
}

bool holds_address(const Json& instance) {
    const std::string& status = instance.at("status").as_string();
    return status == "prepared" || status == "started" || status == "running";
}

void check_instance(const Json& record, const std::string& where, Findings& findings) {
    const std::string& status = record.at("status").as_string();
    if (holds_address(record))
        findings.expect(!record.at("address").as_string().empty(), "it has no address: " + where);
    if (status == "stopped")
        findings.expect(record.at("address").as_string().empty(), "it keeps its address: " + where);
    if (status == "error")
        findings.expect(!record.at("error_message").as_string().empty(), "no reason: " + where);
}

void check_one(const std::string& noun, const Json& record, const std::string& where, Findings& findings) {
    if (noun == "instances") check_instance(record, where, findings);
    if (noun == "images" || noun == "addons") check_versions(record, "version", where, findings);
    if (noun == "applications") check_application(record, where, findings);
}

}  // namespace

void check_shares(const std::vector<Json>& instances, const std::string& where, Findings& findings) {
    std::set<std::string> addresses;
    std::set<std::int64_t> ports;
    for (const Json& instance : instances) {
        if (!holds_address(instance)) continue;
        findings.expect(addresses.insert(instance.at("address").as_string()).second,
                        "an address is given twice: " + instance.at("address").as_string() + ": " + where);
        for (const Json& service : instance.at("services").as_array())
            findings.expect(ports.insert(service.at("node_port").as_int()).second,
                            "a node port is given twice: " + service.dump() + ": " + where);
    }
}

void check_records(const ModelCall& call, Findings& findings) {
    if (call.reply.status != 200 || call.noun() == "operations" || call.noun() == "snapshots") return;
    const std::string where = call.describe();
    if (call.verb() == "show") return check_one(call.noun(), call.reply.metadata(), where, findings);
    if (call.verb() != "list") return;
    const Json listed = call.reply.metadata();
    if (!listed.is_array()) return;
    for (const Json& record : listed.as_array()) check_one(call.noun(), record, where, findings);
    if (call.noun() == "instances") check_shares(listed.as_array(), where, findings);
    const auto is_default = [](const Json& image) { return image.at("default") == Json(true); };
    if (call.noun() == "images")
        findings.expect(std::ranges::count_if(listed.as_array(), is_default) <= 1, "two defaults: " + where);
}

}  // namespace svc::test
