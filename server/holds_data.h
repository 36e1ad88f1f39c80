#pragma once
// What the records tell of a container whose own files tell nothing.
#include <string>

#include "libsvc/store/store.h"

namespace svc::server {

// True unless there is no record of the instance, or the record says that the container was not finished yet
// or is being removed. True for a record that cannot be read.
bool holds_data(Store& store, const std::string& instance);

}  // namespace svc::server
