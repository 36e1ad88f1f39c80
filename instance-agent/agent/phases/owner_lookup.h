#pragma once
// User and group ids for the names in a manifest. Used by extra_data.cpp.
#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "instance-agent/agent/files/paths.h"

namespace svc::agent {

struct Owner {
    uid_t user = 0;
    gid_t group = 0;
};

// Reads /etc/passwd and /etc/group of the guest: name services of the C library would need the guest's shared
// libraries. One thread.
class OwnerLookup {
  public:
    OwnerLookup(const Paths& paths, std::string boot_package);
    // Takes "user:group" or "user". Each is a number, a name of the guest, or `package_uid`, `package_gid`
    // (the owner of /data/data/<package>). An unknown name becomes root and adds a note. Throws
    // invalid_argument for any other form.
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
