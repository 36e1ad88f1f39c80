#pragma once
// What belongs to a GPU besides its render device, as the machine's files of the container device interface
// (CDI) say: NVIDIA's own devices and libraries (docs/runtime.md, "GPUs"). Pure but for the files it reads.
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "libsvc/base/json.h"

namespace svc {

struct CdiNode {
    std::string path;            // in the container: "/dev/nvidia0"
    std::filesystem::path host;  // the device on this machine
    bool operator==(const CdiNode&) const = default;
};

struct CdiMount {
    std::string path;            // in the container
    std::filesystem::path host;  // a file or folder of this machine; it enters read-only
    bool operator==(const CdiMount&) const = default;
};

struct CdiEdits {
    std::vector<CdiNode> nodes;  // but for those below /dev/dri
    std::vector<CdiMount> mounts;
    std::vector<std::string> environment;  // "NAME=value"
};

// The devices of all files `*.json` and `*.yaml` in some folders. A file that cannot be read, or says what
// has no sense, is passed over.
class CdiDevices {
  public:
    // Of a device that two folders have, the later folder's counts.
    explicit CdiDevices(const std::vector<std::filesystem::path>& folders);

    // "nvidia.com/gpu=0": the device that has the render device of a GPU ("D128") and the fewest others; "":
    // there is none.
    std::string device_of(const std::string& gpu) const;
    // What these GPUs bring with them, each thing once.
    CdiEdits edits(const std::vector<std::string>& gpus) const;
    // For the node's record: {"D128": "nvidia.com/gpu=0"}, and by its path what is wrong with a file.
    Json described(const std::vector<std::string>& gpus) const;

  private:
    struct Device {
        std::vector<std::string> paths;  // of all its nodes
        CdiEdits own, common;
    };
    void read(const std::filesystem::path& file);

    std::map<std::string, Device> devices_;  // by their whole name
    std::map<std::string, std::string> faults_;
};

}  // namespace svc
