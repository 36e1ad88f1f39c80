#pragma once
#include <string>

namespace svc {

// "./a//b/" is "a/b" and "." is "". Throws invalid_argument for what could lead out of the tree, naming
// `entry`: an absolute name, "..".
std::string clean_entry_path(const std::string& path, const std::string& entry);

}  // namespace svc
