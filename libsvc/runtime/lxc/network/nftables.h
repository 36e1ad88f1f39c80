#pragma once
// Runs commands of nftables by libnftables, which waits for the kernel with select(): a descriptor of 1024 or
// more ends the whole process there. So its sockets are opened by threads that share no descriptors with the
// rest of the process, where the lowest numbers are free however many files the process has open.
#include <memory>
#include <string>

#include "libsvc/base/thread_pool.h"

namespace svc::lxc {

// Thread-safe; calls block. The destructor waits until all sockets are closed.
class Nftables {
  public:
    Nftables();

    // One transaction. Throws internal with the first line of what nftables says.
    void run(const std::string& commands);
    // The table's chains and rules with the numbers that the kernel gave them, without elements; "": there is
    // no such table, or it cannot be read.
    std::string list_table(const std::string& family, const std::string& table);

  private:
    struct Output {
        bool done = false;
        std::string text, errors;
    };
    Output execute(const std::string& commands, unsigned output_flags);

    // One thread runs commands. The other closes sockets: after a deletion the kernel lets a socket be closed
    // only when no processor uses what was deleted, which takes about 10 ms; nobody waits for that.
    std::unique_ptr<ThreadPool> closing_, running_;
};

}  // namespace svc::lxc
