#pragma once
// Whether the URLs of an answer speak of containers or of instances: the word of the request's path.
#include <string_view>

namespace svc {

enum class PathWord { containers, instances };
std::string_view to_text(PathWord word);

}  // namespace svc
