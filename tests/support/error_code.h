#pragma once
// The Error that a piece of code throws, as a value to compare.
#include <optional>
#include <string>

#include "libsvc/base/error.h"

namespace svc::test {

// The code of the Error that `work` throws; nothing when it throws none.
template <class Work>
std::optional<ErrorCode> code_of(Work&& work) {
    try {
        work();
    } catch (const Error& e) {
        return e.code();
    }
    return std::nullopt;
}

// The message of the Error that `work` throws; empty when it throws none.
template <class Work>
std::string message_of(Work&& work) {
    try {
        work();
    } catch (const Error& e) {
        return e.what();
    }
    return {};
}

}  // namespace svc::test
