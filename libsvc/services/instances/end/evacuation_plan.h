#pragma once
// What an evacuation is to do, as stored in the arguments of its operation before it does any of it.
#include <optional>
#include <string>
#include <vector>

#include "libsvc/base/json.h"
#include "libsvc/model/cluster/operation.h"

namespace svc {

enum class EvacuationMode { stop, remove, relaunch };
EvacuationMode parse_evacuation(const Json& body);  // {"mode": ...}; throws invalid_argument
std::string_view to_text(EvacuationMode mode);

// One instance. The id of the one that replaces it is chosen before it is launched: whoever goes on with the
// evacuation launches no second one.
struct EvacuationMove {
    std::string instance;     // its id
    std::string name{};       // its own name, for its successor
    std::string successor{};  // of a relaunch: the id of the new instance
    std::string outcome{};    // "": there is something to do
};

// The JSON form is stored, and read by later programs.
struct EvacuationPlan {
    EvacuationMode mode = EvacuationMode::stop;
    std::vector<EvacuationMove> moves{};
    Json to_json() const;  // of the moves: {"moves": [...]}
};

EvacuationMode evacuation_mode(const Operation& operation);
std::optional<EvacuationPlan> evacuation_plan(const Operation& operation);  // nothing: none was made yet

}  // namespace svc
