#pragma once
// Starts the helper program svc-lxc and receives its messages.
#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "libsvc/base/file.h"
#include "libsvc/base/processes/process.h"
#include "libsvc/runtime/lxc/helper/protocol.h"

namespace svc::lxc {

struct HelperReply {
    HelperMessage message;
    std::vector<FileDescriptor> descriptors;
};

// One running svc-lxc. Not thread-safe. The destructor kills it; a monitor it has started lives on.
class HelperProcess {
  public:
    // `descriptors` as in SpawnOptions, besides the control socket.
    HelperProcess(const std::filesystem::path& program, std::vector<std::string> arguments,
                  std::vector<std::pair<int, int>> descriptors = {});

    int socket() const noexcept { return socket_.get(); }  // readable: a message, or the helper's end
    // Nothing: the helper ended without a message, or took longer than `limit`.
    std::optional<HelperReply> receive(std::chrono::milliseconds limit);
    void close_socket() { socket_.reset(); }  // `exec`: kills the command
    Child& child() { return *child_; }

  private:
    FileDescriptor socket_;
    std::optional<Child> child_;
};

}  // namespace svc::lxc
