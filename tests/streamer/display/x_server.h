#pragma once
// An X server of the test's own (Xvfb) with a window that notes what reaches it.
#include <string>
#include <utility>
#include <vector>

struct _XDisplay;
union _XEvent;

namespace svc::test {

class XServer {
  public:
    explicit XServer(int width = 1600, int height = 1200);  // throws when there is no Xvfb
    ~XServer();
    XServer(const XServer&) = delete;
    XServer& operator=(const XServer&) = delete;
    const std::string& display() const { return display_; }
    int pid() const { return pid_; }

  private:
    void start(const std::string& screen);
    void end();

    int pid_ = 0;
    std::string display_;
};

// Fills the screen.
class XListener {
  public:
    explicit XListener(const std::string& display);
    ~XListener();
    XListener(const XListener&) = delete;
    XListener& operator=(const XListener&) = delete;
    // The next `count` notes: "press 38 a", "release 38", "button 1 at 10,20", "let 1", "move 10,20". Throws
    // after a minute.
    std::vector<std::string> notes(std::size_t count);
    std::string typed(std::size_t count);  // the text of so many presses of keys that have one
    std::pair<int, int> screen_size() const;
    std::string resource(const std::string& name) const;

  private:
    void next(_XEvent& event) const;
    static std::string note_of(_XEvent& event);

    _XDisplay* display_;
};

}  // namespace svc::test
