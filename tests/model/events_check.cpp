#include <algorithm>
#include <set>

#include "tests/model/event_follower.h"

namespace svc::test {

namespace {

using Moves = std::map<std::string, std::set<std::string>>;

// From an action of an instance to those that may follow it.
const Moves& moves() {
    static const Moves all{
        {"", {"container-created"}},
        {"container-created", {"container-scheduled", "container-failed", "container-removed"}},
        {"container-scheduled", {"container-started", "container-failed", "container-removed"}},
        {"container-started",
         {"container-running", "container-stopped", "container-failed", "container-removed"}},
        {"container-running",
         {"container-paused", "container-stopped", "container-failed", "container-removed"}},
        {"container-paused",
         {"container-resumed", "container-stopped", "container-failed", "container-removed"}},
        {"container-resumed",
         {"container-paused", "container-stopped", "container-failed", "container-removed"}},
        {"container-stopped", {"container-started", "container-failed", "container-removed"}},
        {"container-failed", {"container-started", "container-failed", "container-removed"}},
        {"container-removed", {}}};
    return all;
}

// The status of an instance whose last action is this.
std::string status_after(const std::string& action) {
    if (action == "container-scheduled") return "prepared";
    if (action == "container-failed") return "error";
    if (action == "container-paused" || action == "container-resumed") return "running";
    return action.substr(action.find('-') + 1);
}

void check_numbers(const std::vector<Json>& events, Findings& findings) {
    std::int64_t last = 0;
    for (const Json& event : events) {
        const Json* const number = event.find("sequence");
        if (!number) {
            findings.add("no number: " + event.dump());
            continue;
        }
        findings.expect(last == 0 || number->as_int() == last + 1, "a gap before " + event.dump());
        last = number->as_int();
    }
}

std::string codes_text(const std::vector<std::int64_t>& codes) {
    std::string text;
    for (const auto code : codes) text += " " + std::to_string(code);
    return text;
}

bool are_in_order(const std::vector<std::int64_t>& codes) {
    std::size_t at = 0;
    const auto skip = [&](std::int64_t code) {
        while (at < codes.size() && codes[at] == code) ++at;
    };
    if (codes.size() < 3 || codes[0] != 105 || codes[1] != 103) return false;
    at = 1;
    skip(103);
    if (at < codes.size() && codes[at] == 104) ++at;
    return at + 1 == codes.size() && codes[at] >= 200;
}

void check_operations(const std::vector<Json>& events, const OperationRecords& operations,
                      Findings& findings) {
    std::map<std::string, std::vector<std::int64_t>> codes;
    std::map<std::string, Json> last;
    for (const Json& event : events) {
        if (!(event.at("type") == Json("operation"))) continue;
        const Json& record = event.at("metadata");
        codes[record.at("id").as_string()].push_back(record.at("status_code").as_int());
        last[record.at("id").as_string()] = record;
    }
    for (const auto& [id, seen] : codes)
        findings.expect(are_in_order(seen),
                        "events of operation " + last.at(id).dump() + ":" + codes_text(seen));
    for (const auto& [id, record] : operations) {
        findings.expect(last.contains(id) && last.at(id) == record,
                        "the last event is not the record: " + record.dump() +
                            (last.contains(id) ? " / " + last.at(id).dump() : ""));
        const bool failed = record.at("status_code").as_int() != 200;
        findings.expect(record.at("err").as_string().empty() != failed, "the err of " + record.dump());
        findings.expect(record.at("may_cancel") == Json(false), "it has ended: " + record.dump());
    }
}

void check_instances(const std::vector<Json>& events, const std::vector<Json>& instances,
                     Findings& findings) {
    std::map<std::string, std::vector<std::string>> actions;
    for (const Json& event : events) {
        if (!(event.at("type") == Json("lifecycle"))) continue;
        const std::string& source = event.at("metadata").at("source").as_string();
        const std::string& action = event.at("metadata").at("action").as_string();
        if (action.starts_with("container-")) actions[source.substr(source.rfind('/') + 1)].push_back(action);
    }
    for (const auto& [id, seen] : actions) {
        std::string last, story;
        for (const std::string& action : seen) {
            story += " " + action.substr(action.find('-') + 1);
            findings.expect(moves().at(last).contains(action), "events of container " + id + ":" + story);
            last = action;
        }
        const auto record = std::ranges::find_if(
            instances, [&id = id](const Json& instance) { return instance.at("id") == Json(id); });
        const std::string status = record == instances.end() ? "removed" : record->at("status").as_string();
        findings.expect(status == status_after(last), "container " + id + " is " + status + ":" + story);
    }
}

}  // namespace

void check_events(const std::vector<Json>& events, const OperationRecords& operations,
                  const std::vector<Json>& instances, Findings& findings) {
    check_numbers(events, findings);
    check_operations(events, operations, findings);
    check_instances(events, instances, findings);
}

}  // namespace svc::test
