#pragma once
// The record of an instance that the API shows, as a value.
#include <string>

#include "libsvc/model/instances/instance.h"

namespace svc::test {

inline Json record_of(const Instance& instance) {
    std::string text;
    append_json(text, instance);
    return Json::parse(text);
}

}  // namespace svc::test
