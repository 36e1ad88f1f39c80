#include "tests/model/existence_check.h"

#include <algorithm>

namespace svc::test {

namespace {

struct Life {
    std::string noun, name, id;
    Tick perhaps_from = 0, surely_from = never, surely_until = never, perhaps_until = never;
    bool made = false;  // its creation was a success
    bool surely_in(const ModelCall& call) const {
        return surely_from < call.begun && call.ended < surely_until;
    }
    bool perhaps_in(const ModelCall& call) const {
        return perhaps_from < call.ended && call.begun < perhaps_until;
    }
};

const std::vector<std::string> nouns{"instances", "images", "addons", "applications", "certificates"};

bool is_about(const ModelCall& call, const Life& life) {
    return call.noun() == life.noun && (call.name == life.name || call.name == life.id);
}

std::string id_of(const ModelCall& call) {
    if (call.noun() == "certificates" || call.noun() == "addons") return call.name;
    const Json resources = call.reply.metadata().at("resources");
    for (const auto& [noun, urls] : resources.as_object())
        if (noun == call.noun() || noun == "containers") {
            const std::string url = urls.as_array().at(0).as_string();
            return url.substr(url.rfind('/') + 1);
        }
    return "";
}

bool creates(const ModelCall& call) {
    return call.verb() == "create" || call.verb() == "launch";
}

class ExistenceCheck {
  public:
    ExistenceCheck(const History& history, const OperationRecords& operations, Findings& findings)
        : history_(history), operations_(operations), findings_(findings), calls_(history.calls()) {
        std::ranges::sort(calls_, {}, &ModelCall::begun);
        for (const ModelCall& call : calls_)
            if (creates(call) && is_known(call) && call.reply.status < 300) begin(call);
        for (const ModelCall& call : calls_)
            if (call.verb() == "delete" && call.accepted()) end(call);
    }

    void check_calls() {
        for (const ModelCall& call : calls_) {
            if (!is_known(call)) continue;
            if (creates(call)) check_creation(call);
            if (call.verb() == "show" || call.verb() == "delete") check_look(call);
            if (call.verb() == "list" && call.reply.status == 200) check_list(call);
        }
    }

    // What was made and never deleted is there, nothing else is.
    void check_left(const std::string& noun, const std::vector<Json>& records) {
        for (const Life& life : lives_) {
            if (life.noun != noun) continue;
            const bool is_left = contains(records, life);
            if (life.made && life.surely_until == never)
                findings_.expect(is_left,
                                 "gone without a deletion: " + noun + " " + life.name + " " + life.id);
            if (!life.made && noun != "instances" && !has_namesake(life))
                findings_.expect(!is_left,
                                 "left by a creation that failed: " + noun + " " + life.name + " " + life.id);
        }
        for (const Json& record : records)
            findings_.expect(
                std::ranges::any_of(lives_, [&](const Life& life) { return is_of(record, life); }) ||
                    noun == "instances",
                "nobody made it: " + record.dump());
    }

  private:
    // Addons and certificates have no ids: the same name may have been made again.
    bool has_namesake(const Life& life) const {
        return std::ranges::any_of(lives_, [&](const Life& other) {
            return &other != &life && other.noun == life.noun && other.id == life.id && other.made;
        });
    }
    static bool is_known(const ModelCall& call) {
        return std::ranges::find(nouns, call.noun()) != nouns.end();
    }

    int final_code(const std::string& operation) const {
        const auto found = operations_.find(operation);
        return found == operations_.end() ? 0 : static_cast<int>(found->second.at("status_code").as_int());
    }

    void begin(const ModelCall& call) {
        Life life{call.noun(), call.name, id_of(call)};
        life.perhaps_from = call.begun;
        life.made = call.operation.empty() || final_code(call.operation) == 200;
        if (life.made) life.surely_from = call.ended;
        lives_.push_back(life);
    }

    void end(const ModelCall& deletion) {
        const bool gone = final_code(deletion.operation) == 200;
        const Tick known = gone ? history_.known_final(deletion.operation) : never;
        std::vector<Life*> meant;
        for (Life& life : lives_)
            if (is_about(deletion, life) && life.perhaps_in(deletion)) meant.push_back(&life);
        for (Life* const life : meant) {
            life->surely_until = std::min(life->surely_until, deletion.begun);
            if (meant.size() == 1) life->perhaps_until = std::min(life->perhaps_until, known);
        }
    }

    void check_creation(const ModelCall& call) {
        const bool made = call.reply.status < 300;
        const bool exists = call.reply.status == 409 && call.reply.error().ends_with("already exists");
        if (call.name.empty() || (!made && !exists)) return;
        const std::string id = made ? id_of(call) : "";
        for (const Life& life : lives_)
            if (made && is_about(call, life) && life.perhaps_from != call.begun && life.surely_in(call))
                findings_.add("made though it was there (" + life.id + "): " + call.describe());
        if (exists) expect_any(call, "refused, but it was not there: ");
    }

    void check_look(const ModelCall& call) {
        if (call.reply.status == 404 && call.reply.error().find("version") == std::string::npos) {
            for (const Life& life : lives_)
                if (is_about(call, life) && life.surely_in(call))
                    findings_.add("not found, but it was there (" + life.id + "): " + call.describe());
        } else if (call.reply.status < 300) {
            expect_any(call, "found, but it was not there: ");
        }
    }

    void expect_any(const ModelCall& call, const char* what) {
        const bool any = std::ranges::any_of(
            lives_, [&](const Life& life) { return is_about(call, life) && life.perhaps_in(call); });
        findings_.expect(any, what + call.describe());
    }

    void check_list(const ModelCall& call) {
        const JsonArray records = call.reply.metadata().as_array();
        for (const Life& life : lives_) {
            if (life.noun != call.noun()) continue;
            const bool is_there = contains(records, life);
            if (!is_there && life.surely_in(call))
                findings_.add("not listed, but it was there: " + life.name + " " + life.id + ": " +
                              call.describe());
            if (is_there && !life.id.empty() && life.noun != "addons" && life.noun != "certificates" &&
                !life.perhaps_in(call))
                findings_.add("listed, but it was not there: " + life.name + " " + life.id + ": " +
                              call.describe());
        }
    }

    static bool is_of(const Json& record, const Life& life) {
        const Json* const id = record.find("id");
        if (id) return *id == Json(life.id);
        const Json* const fingerprint = record.find("fingerprint");
        return fingerprint ? *fingerprint == Json(life.name) : record.at("name") == Json(life.name);
    }
    template <class Records>
    static bool contains(const Records& records, const Life& life) {
        return std::ranges::any_of(records, [&](const Json& record) { return is_of(record, life); });
    }

    const History& history_;
    const OperationRecords& operations_;
    Findings& findings_;
    std::vector<ModelCall> calls_;
    std::vector<Life> lives_;
};

}  // namespace

void check_existence(const History& history, const OperationRecords& operations,
                     const std::map<std::string, std::vector<Json>>& left, Findings& findings) {
    ExistenceCheck check(history, operations, findings);
    check.check_calls();
    for (const auto& [noun, records] : left) check.check_left(noun, records);
}

}  // namespace svc::test
