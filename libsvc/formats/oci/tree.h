#pragma once
// Which entries of an OCI image's layers are seen in the end. Used by package.cpp.
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "libsvc/formats/archive_entry.h"

namespace svc {

// An entry of a layer: both count from 0.
struct OciPlace {
    std::size_t layer = 0;
    std::size_t number = 0;
    auto operator<=>(const OciPlace&) const = default;
};

// First add() is called for every entry of every layer, lowest first, and finish_layer() after each; then
// finish(); then output() for the same entries again. Names count from the top of the tree, with or without a
// slash in front. A folder of a name that is a symbolic link, in this layer or a lower one, leads where the
// link does, inside the tree. Not thread-safe.
class OciTree {
  public:
    // Throws invalid_argument for a name that leaves the tree, is beneath a file, or goes round in links, and
    // for a hard link to what is not there.
    void add(const ArchiveEntry& entry);
    void finish_layer();
    void finish();

    bool has(const std::string& path) const { return seen_.contains(path); }
    // The entry at `place` as it is to be written; nothing when it is not seen, or is written under another
    // name.
    std::optional<ArchiveEntry> output(OciPlace place, ArchiveEntry entry) const;

  private:
    struct Seen {
        OciPlace place;
        EntryKind kind = EntryKind::file;
        std::string link;                // of a symbolic link: its target
        std::optional<OciPlace> linked;  // of a hard link: the file that it is another name of
    };
    using Paths = std::map<std::string, Seen>;

    static void erase_below(Paths& paths, const std::string& directory);
    static void erase(Paths& paths, const std::string& path);
    std::string resolved(const std::string& name) const;
    bool is_removed(const std::string& path) const;
    const Seen* find(const std::string& path) const;
    bool take_whiteout(const std::string& path);
    OciPlace linked_file(const ArchiveEntry& entry) const;

    Paths seen_;
    Paths layer_;                              // of the layer that is being added
    std::set<std::string> removed_, emptied_;  // by that layer, in those below
    OciPlace next_;
    // Of each place that is written: under which name. A file that another layer has replaced takes the name
    // of a hard link to it.
    std::map<OciPlace, std::string> names_;
};

}  // namespace svc
