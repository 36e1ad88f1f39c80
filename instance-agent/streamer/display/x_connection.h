#pragma once
// A connection to an X server. Only files of clipboard/, display/ and input/ include Xlib.
#include <string>

struct _XDisplay;  // NOLINT(bugprone-reserved-identifier): the name Xlib gives it

namespace svc::streamer {

// One thread. When the X server goes away, Xlib ends the program with status 1; the addon's hook restarts it.
// Requests that the server refuses are logged.
class XConnection {
  public:
    explicit XConnection(const std::string& display);  // throws unavailable
    ~XConnection();
    XConnection(const XConnection&) = delete;
    XConnection& operator=(const XConnection&) = delete;
    _XDisplay* get() const { return display_; }

  private:
    _XDisplay* display_;
};

}  // namespace svc::streamer
