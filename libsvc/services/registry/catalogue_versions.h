#pragma once
// Which versions of an application belong into a registry, and which versions of a registry are wanted here.
// Pure functions.
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/model/packages/application.h"
#include "libsvc/remote/catalogue.h"

namespace svc {

// Published and active, ascending.
std::vector<int> versions_to_publish(const Application& application);
// The record of the application in the registry, with this version alone.
CatalogueApplication catalogue_record(const Application& application, const ApplicationVersion& version);
// "" passes everything; else one tag of the application must be among the wanted ones.
bool passes_filter(const std::vector<std::string>& tags, const std::vector<std::string>& wanted);
// The versions that `local` lacks of the newest `at_most` versions of the registry, ascending: older ones
// would be deleted here at once. `local` may be null. Empty when the registry has the application for other
// architectures only.
std::vector<int> versions_to_pull(const CatalogueApplication& offered, const Application* local,
                                  std::string_view architecture, std::size_t at_most);
// The versions that a push is to send, from its arguments; ascending.
std::vector<int> versions_of(const Json& work);
// Whether a transfer with the arguments `work` transfers all that one with `wanted` would, to or from the
// same registry.
bool covers(const Json& work, const Json& wanted);

}  // namespace svc
