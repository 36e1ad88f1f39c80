#pragma once
// A stack of undo functions for work in steps: the destructor runs them in reverse order unless dismiss() was
// called.
#include <functional>
#include <string>
#include <vector>

namespace svc {

// One thread. An undo step that throws is logged and does not stop the others.
class Rollback {
  public:
    Rollback() = default;
    ~Rollback();
    Rollback(const Rollback&) = delete;
    Rollback& operator=(const Rollback&) = delete;

    void add(std::string what, std::function<void()> undo);
    void dismiss() noexcept { steps_.clear(); }

  private:
    std::vector<std::pair<std::string, std::function<void()>>> steps_;
};

}  // namespace svc
