#include "cli/output/yaml.h"

#include "libsvc/formats/yaml.h"

namespace svc::cli {

std::string render_yaml(const Json& value) {
    return to_yaml(value);
}

std::string render_yaml_document(const Json& value) {
    return "---\n" + to_yaml(value);
}

}  // namespace svc::cli
