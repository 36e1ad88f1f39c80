#include "libsvc/formats/oci/tree.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/formats/entry_path.h"

namespace svc {

namespace {

constexpr std::string_view whiteout = ".wh.";
constexpr std::string_view opaque = ".wh..wh..opq";
constexpr std::string_view reserved = ".wh..wh.";  // of AUFS: says nothing here
constexpr int max_links = 40;                      // on the way to one name, as in Linux

std::pair<std::string, std::string> parent_and_name(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return {"", path};
    return {path.substr(0, slash), path.substr(slash + 1)};
}

std::string beneath(const std::string& directory, std::string_view name) {
    return (directory.empty() ? "" : directory + "/") + std::string(name);
}

[[noreturn]] void refuse_entry(const std::string& name, const std::string& reason) {
    throw Error(ErrorCode::invalid_argument, "OCI image is malformed: " + quoted(name) + " " + reason);
}

// The parts of a path, the last one first.
std::vector<std::string> reversed_parts(const std::string& path) {
    std::vector<std::string> parts = split(path, '/');
    std::erase_if(parts, [](const std::string& part) { return part.empty() || part == "."; });
    std::ranges::reverse(parts);
    return parts;
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

bool OciTree::is_removed(const std::string& path) const {
    for (std::string at = path; !at.empty();) {
        std::string parent = parent_and_name(at).first;
        if (removed_.contains(at) || emptied_.contains(parent)) return true;
        at = std::move(parent);
    }
    return false;
}

const OciTree::Seen* OciTree::find(const std::string& path) const {
    if (const auto added = layer_.find(path); added != layer_.end()) return &added->second;
    const auto found = seen_.find(path);
    return found == seen_.end() || is_removed(path) ? nullptr : &found->second;
}

// The last part of a name is never followed.
std::string OciTree::resolved(const std::string& name) const {
    std::vector<std::string> rest = reversed_parts(
        clean_entry_path(name.substr(std::min(name.find_first_not_of('/'), name.size())), name));
    std::string done;
    for (int links = 0; rest.size() > 1;) {
        const std::string part = rest.back();
        rest.pop_back();
        if (part == "..") {
            done = parent_and_name(done).first;
            continue;
        }
        const std::string path = beneath(done, part);
        const Seen* const seen = find(path);
        if (seen == nullptr || seen->kind == EntryKind::directory) {
            done = path;
            continue;
        }
        if (seen->kind != EntryKind::symbolic_link)
            refuse_entry(name, "is beneath " + quoted(path) + ", which is no folder");
        if (++links > max_links) refuse_entry(name, "goes round in links");
        if (seen->link.starts_with('/')) done.clear();
        const std::vector<std::string> target = reversed_parts(seen->link);
        rest.insert(rest.end(), target.begin(), target.end());
    }
    return rest.empty() ? "" : beneath(done, rest.back());
}

bool OciTree::take_whiteout(const std::string& path) {
    const auto [parent, name] = parent_and_name(path);
    if (!name.starts_with(whiteout)) return false;
    if (name == opaque)
        emptied_.insert(parent);
    else if (!name.starts_with(reserved))
        removed_.insert(beneath(parent, name.substr(whiteout.size())));
    return true;
}

// A link names a file of its own layer, or of one below.
OciPlace OciTree::linked_file(const ArchiveEntry& entry) const {
    const Seen* const target = find(resolved(entry.link_target));
    if (target == nullptr || target->kind == EntryKind::directory)
        refuse_entry(entry.path,
                     "is a link to the file " + quoted(entry.link_target) + ", which is not there");
    return target->linked.value_or(target->place);
}

void OciTree::add(const ArchiveEntry& entry) {
    const std::string path = resolved(entry.path);
    const OciPlace place = next_;
    ++next_.number;
    if (path.empty() || take_whiteout(path) || entry.kind == EntryKind::other) return;
    Seen seen{place, entry.kind, "", std::nullopt};
    if (entry.kind == EntryKind::symbolic_link) seen.link = entry.link_target;
    if (entry.kind == EntryKind::hard_link) seen.linked = linked_file(entry);
    if (entry.kind != EntryKind::directory) erase_below(layer_, path);
    layer_.insert_or_assign(path, std::move(seen));
}

void OciTree::finish_layer() {
    for (const std::string& path : removed_) erase(seen_, path);
    for (const std::string& path : emptied_) erase_below(seen_, path);
    for (auto& [path, added] : layer_) {
        const auto former = seen_.find(path);
        const bool replaces = former != seen_.end() && former->second.kind != EntryKind::directory;
        if (replaces || added.kind != EntryKind::directory) erase(seen_, path);
        seen_.insert_or_assign(path, added);
    }
    layer_.clear();
    removed_.clear();
    emptied_.clear();
    next_ = {next_.layer + 1, 0};
}

void OciTree::finish() {
    for (const auto& [path, seen] : seen_)
        if (!seen.linked) names_[seen.place] = path;
    for (const auto& [path, seen] : seen_)
        if (seen.linked && !names_.try_emplace(*seen.linked, path).second) names_[seen.place] = path;
}

std::optional<ArchiveEntry> OciTree::output(OciPlace place, ArchiveEntry entry) const {
    const auto name = names_.find(place);
    if (name == names_.end()) return std::nullopt;
    entry.path = name->second;
    if (entry.kind == EntryKind::hard_link) entry.link_target = names_.at(*seen_.at(entry.path).linked);
    return entry;
}

}  // namespace svc
