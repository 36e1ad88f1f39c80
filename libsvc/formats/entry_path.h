#pragma once
// Checks of names and links in archives, which may be hostile. Pure functions.
#include <string>

namespace svc {

// The normal form of a path: "./a//b/" gives "a/b", "." gives "". Throws invalid_argument naming `entry` for
// a path that could lead out of the tree: an absolute one, or one with "..".
std::string clean_entry_path(const std::string& path, const std::string& entry);

// Whether a symbolic link at `path` (in normal form) with the text `target` stays in the tree. ".." is
// allowed only at the start of `target`, where every folder is known to be no link: then the link cannot
// leave the tree, wherever other links on its way lead.
bool leads_inside(const std::string& path, const std::string& target);

}  // namespace svc
