#pragma once
// Which objects may exist, and which must, at each moment of a history: a light form of linearizability. An
// object exists for certain from the answer that told of it until somebody begins to delete it, and perhaps
// from the request for it until the end of its deletion is known.
#include "tests/model/history.h"

namespace svc::test {

using OperationRecords = std::map<std::string, Json>;  // the final records, by id

// Compares the answers about names with what may be, and the listings at the end with what must be.
// `left`: the records of each noun at the end.
void check_existence(const History& history, const OperationRecords& operations,
                     const std::map<std::string, std::vector<Json>>& left, Findings& findings);

}  // namespace svc::test
