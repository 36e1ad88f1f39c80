#pragma once
// Services as -s writes them.
#include <string_view>

#include "libsvc/model/instances/instance.h"

namespace svc::cli {

// "[+][<name>:]<proto>[,<proto>]:<port>[-<end>]", "[+]ssh", "[+]adb"; '+' exposes it. Throws UsageError.
ServiceEntry parse_service(std::string_view text);

}  // namespace svc::cli
