#include "server/state/finding.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace svc::server::state {

std::string_view to_text(Severity severity) {
    switch (severity) {
        case Severity::error:
            return "error";
        case Severity::warning:
            return "warning";
        case Severity::note:
            break;
    }
    return "note";
}

void Findings::error(std::string object, std::string problem, std::string advice) {
    all_.push_back({Severity::error, std::move(object), std::move(problem), std::move(advice)});
}

void Findings::warning(std::string object, std::string problem, std::string advice) {
    all_.push_back({Severity::warning, std::move(object), std::move(problem), std::move(advice)});
}

void Findings::note(std::string object, std::string problem, std::string advice) {
    all_.push_back({Severity::note, std::move(object), std::move(problem), std::move(advice)});
}

void Findings::add(Findings more) {
    std::ranges::move(more.all_, std::back_inserter(all_));
}

void Findings::keep_common(const Findings& other) {
    std::erase_if(
        all_, [&](const Finding& mine) { return std::ranges::find(other.all_, mine) == other.all_.end(); });
}

bool Findings::clean() const {
    return std::ranges::all_of(all_, [](const Finding& each) { return each.severity == Severity::note; });
}

std::string Findings::to_lines() const {
    std::string text;
    for (const Finding& each : all_) {
        text.append(to_text(each.severity))
            .append(": ")
            .append(each.object)
            .append(": ")
            .append(each.problem);
        if (!each.advice.empty()) text.append("; ").append(each.advice);
        text.push_back('\n');
    }
    return text;
}

Json Findings::to_json() const {
    Json list = Json::array();
    for (const Finding& each : all_)
        list.push_back(Json::object({{"severity", std::string(to_text(each.severity))},
                                     {"object", each.object},
                                     {"problem", each.problem},
                                     {"advice", each.advice}}));
    return list;
}

}  // namespace svc::server::state
