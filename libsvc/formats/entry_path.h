#pragma once
#include <string>

namespace svc {

// "./a//b/" is "a/b" and "." is "". Throws invalid_argument for what could lead out of the tree, naming
// `entry`: an absolute name, "..".
std::string clean_entry_path(const std::string& path, const std::string& entry);

// Whether a symbolic link named `path` (clean) that says `target` stays in the tree. Through links upwards
// only at its start, where the folders are known to be none: so it cannot leave, whatever the links on its
// way lead to.
bool leads_inside(const std::string& path, const std::string& target);

}  // namespace svc
