#pragma once
// A client of TLS that ends its own side of TLS, of TCP, or neither, when a test says so.
#include <memory>
#include <string>

#include "libsvc/base/file.h"
#include "libsvc/net/client/target.h"
#include "libsvc/net/tls/tls.h"

namespace svc::test {

// Connected; waits a minute at most for what it reads. `from`: an IPv4 address of this machine; "": any.
// Throws when nobody answers.
FileDescriptor connect_tcp(const Target& target, const std::string& from = "");

// Looks at no certificate. One thread.
class TlsClient {
  public:
    TlsClient(const Target& target, TlsVersion version);
    ~TlsClient();
    void send(const std::string& text);
    void say_goodbye();  // close_notify; TCP stays as it is
    void leave();        // TCP, both directions
    std::string read_to_end();

  private:
    class State;
    std::unique_ptr<State> state_;
};

}  // namespace svc::test
