#pragma once
// A listening Unix socket of a known name, for programs of the guest.
#include <sys/types.h>

#include <string>

#include "libsvc/base/file.h"

namespace svc::streamer {

// One thread. Replaces an older socket of this name; the destructor removes the name unless a newer listener
// has taken it.
class NamedListener {
  public:
    // `type`: SOCK_STREAM or SOCK_SEQPACKET. Mode 0660. Throws Error, which names `what`.
    NamedListener(const std::string& path, int type, const std::string& what);
    ~NamedListener();
    NamedListener(const NamedListener&) = delete;
    NamedListener& operator=(const NamedListener&) = delete;

    int fd() const { return fd_.get(); }
    bool owns_name() const;         // no newer listener has taken it
    FileDescriptor accept() const;  // does not wait; empty: nobody has connected

  private:
    std::string path_;
    FileDescriptor fd_;
    ino_t inode_;
};

}  // namespace svc::streamer
