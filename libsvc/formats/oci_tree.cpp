#include "libsvc/formats/oci_tree.h"

#include <string_view>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/formats/entry_path.h"

namespace svc {

namespace {

constexpr std::string_view whiteout = ".wh.";
constexpr std::string_view opaque = ".wh..wh..opq";
constexpr std::string_view reserved = ".wh..wh.";  // of AUFS: says nothing here

std::pair<std::string, std::string> parent_and_name(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return {"", path};
    return {path.substr(0, slash), path.substr(slash + 1)};
}

std::string beneath(const std::string& directory, std::string_view name) {
    return (directory.empty() ? "" : directory + "/") + std::string(name);
}

}  // namespace

void OciTree::erase_below(Paths& paths, const std::string& directory) {
    if (directory.empty()) return paths.clear();
    paths.erase(paths.lower_bound(directory + "/"), paths.lower_bound(directory + char('/' + 1)));
}

void OciTree::erase(Paths& paths, const std::string& path) {
    paths.erase(path);
    erase_below(paths, path);
}

bool OciTree::take_whiteout(const std::string& path) {
    const auto [parent, name] = parent_and_name(path);
    if (!name.starts_with(whiteout)) return false;
    if (name == opaque)
        emptied_.push_back(parent);
    else if (!name.starts_with(reserved))
        removed_.push_back(beneath(parent, name.substr(whiteout.size())));
    return true;
}

// A link names a file of its own layer, or of one below.
OciPlace OciTree::linked_file(const ArchiveEntry& entry) const {
    const std::string target = clean_entry_path(entry.link_target, entry.path);
    for (const Paths* paths : {&layer_, &seen_})
        if (const auto found = paths->find(target); found != paths->end())
            return found->second.linked.value_or(found->second.place);
    throw Error(ErrorCode::invalid_argument, "OCI image is malformed: " + quoted(entry.path) +
                                                 " is a link to " + quoted(target) + ", which is not there");
}

void OciTree::add(const ArchiveEntry& entry) {
    const std::string path = clean_entry_path(entry.path, entry.path);
    const OciPlace place = next_;
    ++next_.number;
    if (path.empty() || take_whiteout(path) || entry.kind == EntryKind::other) return;
    Seen seen{place, entry.kind == EntryKind::directory, std::nullopt};
    if (entry.kind == EntryKind::hard_link) seen.linked = linked_file(entry);
    if (!seen.directory) erase_below(layer_, path);
    layer_.insert_or_assign(path, seen);
}

void OciTree::finish_layer() {
    for (const std::string& path : removed_) erase(seen_, path);
    for (const std::string& path : emptied_) erase_below(seen_, path);
    for (auto& [path, added] : layer_) {
        const auto former = seen_.find(path);
        if (former != seen_.end() && !(former->second.directory && added.directory)) erase(seen_, path);
        seen_.insert_or_assign(path, added);
    }
    layer_.clear();
    removed_.clear();
    emptied_.clear();
    next_ = {next_.layer + 1, 0};
}

void OciTree::finish() {
    for (const auto& [path, seen] : seen_)
        if (seen.linked) names_.try_emplace(*seen.linked);
    for (const auto& [path, seen] : seen_)
        if (const auto name = names_.find(seen.place); !seen.linked && name != names_.end())
            name->second = path;
    for (const auto& [path, seen] : seen_)
        if (seen.linked && names_.at(*seen.linked).empty()) names_.at(*seen.linked) = path;
}

std::optional<ArchiveEntry> OciTree::output(OciPlace place, ArchiveEntry entry) const {
    entry.path = clean_entry_path(entry.path, entry.path);
    if (const auto name = names_.find(place); name != names_.end()) {
        entry.path = name->second;
        return entry;
    }
    const auto found = seen_.find(entry.path);
    if (found == seen_.end() || found->second.place != place) return std::nullopt;
    if (!found->second.linked) return entry;
    entry.link_target = names_.at(*found->second.linked);
    if (entry.link_target == entry.path) return std::nullopt;  // written where the file was
    return entry;
}

}  // namespace svc
