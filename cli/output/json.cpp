#include "cli/output/json.h"

namespace svc::cli {

std::string render_json(const Json& value) {
    return value.dump_pretty() + "\n";
}

std::string render_json_line(const Json& value) {
    return value.dump() + "\n";
}

}  // namespace svc::cli
