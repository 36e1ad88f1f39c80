#pragma once
// What of an application belongs into a registry, and what of a registry is wanted here. Pure.
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/model/packages/application.h"
#include "libsvc/remote/catalogue.h"

namespace svc {

// Published and active, ascending.
std::vector<int> versions_to_publish(const Application& application);
// What the registry shows of it, with this version alone.
CatalogueApplication catalogue_record(const Application& application, const ApplicationVersion& version);
// "" passes everything; else one tag of the application must be among the wanted ones.
bool passes_filter(const std::vector<std::string>& tags, const std::vector<std::string>& wanted);
// Of the newest `at_most` versions of the registry those that are not here, ascending: older ones would be
// cleaned up right away. `local` may be null. Nothing when the registry has the application for other
// architectures only.
std::vector<int> versions_to_pull(const CatalogueApplication& offered, const Application* local,
                                  std::string_view architecture, std::size_t at_most);
// Of the arguments of a push: the versions it is to send, ascending.
std::vector<int> versions_of(const Json& work);
// Whether a transfer with the arguments `work` brings all that `wanted` asks for, and to the same place.
bool covers(const Json& work, const Json& wanted);

}  // namespace svc
