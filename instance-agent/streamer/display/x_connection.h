#pragma once
// A connection to an X server. The .cpp files of display/ and input/ alone include Xlib.
#include <string>

struct _XDisplay;  // NOLINT(bugprone-reserved-identifier): the name Xlib gives it

namespace svc::streamer {

// One thread. An X server that goes ends the program with status 1, as Xlib has it: whoever started it starts
// it again. Requests the server refuses are logged.
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
