#pragma once
// Which container has which range of the host's ids. A range belongs to a container while its root file
// system is mounted or a process of it may live; the files on disk do not depend on it (disk/id_mapping.h).
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libsvc/base/file.h"
#include "libsvc/base/guarded.h"

namespace svc::lxc {

// First and last ids of others.
using ReservedIds = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

struct IdRegion {
    std::uint32_t first = 0;      // of the first range; all begin at a multiple of 65536
    std::uint32_t ranges = 0;     // 0: no container has its own
    std::uint32_t count = 65536;  // ids of a range
    std::uint32_t shared = 0;     // first id of the range of all containers that have none of their own
    ReservedIds reserved = {};    // not given out
};

// The ids from 65536 on that /etc/passwd, /etc/group, /etc/subuid or /etc/subgid have given to somebody else
// than root.
ReservedIds ids_of_others(const std::vector<std::string>& accounts, const std::vector<std::string>& ranges);

// Ids of the host that follow each other.
struct IdRange {
    std::uint32_t first = 0;
    std::uint32_t count = 65536;
    bool operator==(const IdRange&) const = default;
};

bool overlaps(IdRange range, const ReservedIds& reserved);

// The host ids of root and those that follow it in the user namespace of a process, from the text of its
// uid_map; nothing: no such line.
std::optional<IdRange> parse_mapped_root(std::string_view uid_map);

// Thread-safe. Taken ranges are links in `registry`, a folder below /run that all daemons of the machine
// share: "28672" -> "<containers>/<id>" is the range that begins with id 28672 * 65536. So no two containers
// have one range, whichever daemon started them, and the next daemon knows the range of a container that it
// cannot read. A link whose container is gone counts for nothing.
class IdRanges {
  public:
    IdRanges(std::filesystem::path registry, std::filesystem::path containers, IdRegion region);

    // The first id of the container's range, which is chosen when it has none. Throws exhausted.
    std::uint32_t take(const std::string& id);
    // The same, but one of `places`, each at a multiple of 65536. A range that it has from elsewhere is
    // released. Throws exhausted "none of the <n> is free".
    std::uint32_t take_of(const std::vector<IdRange>& places, const std::string& id);
    // For a container that runs with this range. True: it was not known to have it.
    bool keep(const std::string& id, IdRange range);
    std::uint32_t first_id(const std::string& id) const;  // the shared range for one that has none
    void release(const std::string& id);                  // does not throw
    void tear_down() const;                               // removes the registry when it is empty

  private:
    using Slots = std::vector<std::uint32_t>;  // multiples of 65536
    struct Held {
        std::map<std::string, IdRange> by_id;
        std::set<std::uint32_t> firsts;  // so that they are passed over without a look at their links
    };

    static Slots slots_of(IdRange range);
    std::filesystem::path target(const std::string& id) const { return containers_ / id; }
    FileDescriptor lock_registry() const;
    bool claim(int folder, IdRange range, const std::string& id) const;
    bool hold(Held& held, int folder, IdRange range, const std::string& id) const;
    void drop(Held& held, int folder, const std::string& id) const;
    void unlink_own(int folder, IdRange range, const std::string& id) const;

    std::filesystem::path registry_, containers_;
    IdRegion region_;
    Guarded<Held> held_;
};

}  // namespace svc::lxc
