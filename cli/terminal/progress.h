#pragma once
// A progress line for a waiting user: on a terminal alone.
#include <chrono>
#include <cstdint>
#include <string>

#include "cli/terminal/console.h"

namespace svc::cli {

// Redraws one line of `err`, at most ten times a second, and erases it at the end. One thread.
class ProgressLine {
  public:
    explicit ProgressLine(const Console& console);
    ~ProgressLine();
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    void show_bytes(const std::string& label, std::uint64_t done,
                    std::uint64_t total);                      // shows a bar, percent and speed
    void show_percent(const std::string& label, int percent);  // bar
    void show_busy(const std::string& label);                  // shows the time since the label changed
    void clear();

  private:
    using Steady = std::chrono::steady_clock;
    bool due(const std::string& label);
    void draw(const std::string& text);

    const Console& console_;
    const bool enabled_;
    bool drawn_ = false;
    std::string label_;
    Steady::time_point label_since_{}, drawn_at_{};
};

// "[=====>    ]", `width` characters between the brackets.
std::string progress_bar(int percent, unsigned width);

}  // namespace svc::cli
