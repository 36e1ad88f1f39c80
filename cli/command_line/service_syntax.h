#pragma once
// The syntax of services in -s/--service.
#include <string_view>

#include "libsvc/model/instances/instance.h"

namespace svc::cli {

// "[+][<name>:]<proto>[,<proto>]:<port>[-<end>]", "[+]ssh", "[+]adb"; '+' exposes the service on the node.
// Throws UsageError.
ServiceEntry parse_service(std::string_view text);

}  // namespace svc::cli
