#include "cli/actions/lifetime.h"

namespace svc::cli {

std::vector<Flag> lifetime_flags() {
    return {{"expires-after", 0, "DURATION", "delete it that long from now on: 90s, 2h, 1h30m; never"},
            {"idle-after", 0, "DURATION", "delete it when nobody has used it for that long; never"}};
}

void set_lifetime(Json& request, const Arguments& arguments) {
    if (arguments.given("expires-after")) request.set("expires_after", arguments.text("expires-after"));
    if (arguments.given("idle-after")) request.set("idle_after", arguments.text("idle-after"));
}

}  // namespace svc::cli
