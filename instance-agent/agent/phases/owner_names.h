#pragma once
// Owners by the names a manifest gives them. Used by extra_data.cpp.
#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "instance-agent/agent/paths.h"

namespace svc::agent {

struct Owner {
    uid_t user = 0;
    gid_t group = 0;
};

// Reads the guest's files; its libraries' name services are not ours. One thread.
class Owners {
  public:
    Owners(const Paths& paths, std::string boot_package);
    // "user:group" or "user": numbers, names of the guest, `package_uid` and `package_gid` (whoever owns
    // /data/data/<package>), `sdcard_rw`. A name nobody knows is root, and a note. Throws invalid_argument.
    Owner resolve(const std::string& text);
    std::vector<std::string> notes() const { return notes_; }

  private:
    unsigned find(const std::string& name, bool group);

    Paths paths_;
    std::string boot_package_;
    std::map<std::string, unsigned> users_, groups_;
    std::vector<std::string> notes_;
};

}  // namespace svc::agent
