#pragma once
// The name of a gamepad in the folder of devices: a socket, at which programs of the guest connect.
#include <sys/types.h>

#include <filesystem>

#include "libsvc/base/file.h"

namespace svc::streamer {

// One thread. Takes the lowest number that no device has. Programs see the name from publish() on, and can
// connect at once; the destructor removes it, unless a newer streamer has taken it.
class PadName {
  public:
    explicit PadName(const std::filesystem::path& folder);  // throws Error
    ~PadName();
    PadName(const PadName&) = delete;
    PadName& operator=(const PadName&) = delete;

    std::filesystem::path description() const;  // the file that describes the gamepad
    void publish();                             // throws Error
    int fd() const { return fd_.get(); }
    FileDescriptor accept() const;  // does not wait; empty: nobody has connected

  private:
    std::filesystem::path folder_;
    int number_ = 0;
    FileDescriptor fd_;
    ino_t inode_ = 0;
};

// Removes what a streamer that was killed has left in the folder.
void remove_stale_pads(const std::filesystem::path& folder);
// Lets the guest's user in, whose programs play; the owner stays. Throws Error.
void open_to_guest(const std::filesystem::path& file, unsigned mode);

}  // namespace svc::streamer
