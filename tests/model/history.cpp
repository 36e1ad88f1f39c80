#include "tests/model/history.h"

#include <algorithm>
#include <utility>

namespace svc::test {

std::string ModelCall::describe() const {
    return "[" + std::to_string(begun) + "-" + std::to_string(ended) + "] " + method + " " + path +
           (body.empty() ? "" : " " + body.substr(0, 200)) + " -> " + std::to_string(reply.status) + " " +
           reply.text.substr(0, 400);
}

void History::add(ModelCall call) {
    const std::lock_guard lock(mutex_);
    calls_.push_back(std::move(call));
}

void History::note_final(const std::string& operation, Tick when) {
    const std::lock_guard lock(mutex_);
    Tick& known = final_.try_emplace(operation, never).first->second;
    known = std::min(known, when);
}

std::vector<ModelCall> History::calls() const {
    const std::lock_guard lock(mutex_);
    return calls_;
}

std::string History::summary() const {
    std::map<std::string, std::map<int, int>> counts;
    for (const ModelCall& call : calls()) ++counts[call.kind][call.reply.status];
    std::string text;
    for (const auto& [kind, statuses] : counts) {
        text += kind + ":";
        for (const auto& [status, count] : statuses)
            text += " " + std::to_string(status) + "x" + std::to_string(count);
        text += "\n";
    }
    return text;
}

Tick History::known_final(const std::string& operation) const {
    const std::lock_guard lock(mutex_);
    const auto found = final_.find(operation);
    return found == final_.end() ? never : found->second;
}

void Findings::add(const std::string& text) {
    const std::lock_guard lock(mutex_);
    all_.push_back(text);
}

std::vector<std::string> Findings::all() const {
    const std::lock_guard lock(mutex_);
    return all_;
}

}  // namespace svc::test
