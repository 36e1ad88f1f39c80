#pragma once
// Ports of this machine that lead into an instance.
#include <memory>
#include <string>
#include <vector>

#include "cli/connection/context.h"

namespace svc::cli {

struct PortForward {
    std::string listen;  // "127.0.0.1:8080", port 0: a free one; or "unix:/tmp/x.sock"
    std::string target;  // as the instance sees it: "80", "unix:/run/x.sock"
};

// "8080:80", ":80" (a free port), "0.0.0.0:8080:80", "8080:unix:/run/x.sock", "unix:/tmp/x.sock:80", "80"
// (the same on both sides). Throws UsageError.
PortForward parse_forward(const std::string& text);

// Prints where it listens, and forwards until the program is asked to end. 64 connections
// at a time, others wait; a connection that fails is told on standard error, and the others go on.
int forward_ports(Context& context, const std::string& instance, const std::vector<PortForward>& forwards);

// Forwards from a free port of this machine on a thread of its own, as long as it lives.
class BackgroundForward {
  public:
    // `target`: as in PortForward. Throws what listening throws.
    BackgroundForward(Context& context, const std::string& instance, const std::string& target);
    ~BackgroundForward();
    BackgroundForward(const BackgroundForward&) = delete;
    BackgroundForward& operator=(const BackgroundForward&) = delete;
    const std::string& address() const;  // "127.0.0.1:40123"

  private:
    struct Work;
    std::unique_ptr<Work> work_;
};

}  // namespace svc::cli
