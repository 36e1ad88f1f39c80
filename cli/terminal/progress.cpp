#include "cli/terminal/progress.h"

#include <algorithm>

#include "libsvc/model/values/size.h"

namespace svc::cli {
namespace {

constexpr std::chrono::milliseconds redraw_interval{100};
constexpr unsigned bar_width = 30;

}  // namespace

std::string progress_bar(int percent, unsigned width) {
    const auto filled = static_cast<std::size_t>(std::clamp(percent, 0, 100)) * width / 100;
    std::string bar(filled, '=');
    if (filled < width) bar += '>';
    bar.resize(width, ' ');
    return "[" + bar + "]";
}

ProgressLine::ProgressLine(const Console& console) : console_(console), enabled_(console.err_is_terminal()) {}

ProgressLine::~ProgressLine() {
    try {
        clear();
    } catch (const std::exception&) {
        // The terminal has gone: there is nothing to erase.
    }
}

bool ProgressLine::due(const std::string& label) {
    if (!enabled_) return false;
    const auto now = Steady::now();
    const bool changed = label != label_;
    if (changed) {
        label_ = label;
        label_since_ = now;
    }
    if (!changed && now - drawn_at_ < redraw_interval) return false;
    drawn_at_ = now;
    return true;
}

void ProgressLine::draw(const std::string& text) {
    const std::size_t width = console_.terminal_size().width;
    console_.print_error("\r\x1b[K" + text.substr(0, width > 1 ? width - 1 : 1));
    drawn_ = true;
}

void ProgressLine::show_bytes(const std::string& label, std::uint64_t done, std::uint64_t total) {
    if (!due(label)) return;
    const double seconds = std::chrono::duration<double>(Steady::now() - label_since_).count();
    const int percent = total == 0 ? 100 : static_cast<int>(done * 100 / total);
    std::string speed;
    if (seconds > 0.5)
        speed = " " + format_size(static_cast<std::uint64_t>(static_cast<double>(done) / seconds)) + "/s";
    draw(label + " " + progress_bar(percent, bar_width) + " " + std::to_string(percent) + "% of " +
         format_size(total) + speed);
}

void ProgressLine::show_percent(const std::string& label, int percent) {
    if (due(label))
        draw(label + " " + progress_bar(percent, bar_width) + " " + std::to_string(percent) + "%");
}

void ProgressLine::show_busy(const std::string& label) {
    if (!due(label)) return;
    constexpr std::string_view frames = "|/-\\";
    const auto elapsed = Steady::now() - label_since_;
    const auto frame = static_cast<std::size_t>(elapsed / redraw_interval) % frames.size();
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(elapsed).count();
    draw(std::string(1, frames[frame]) + " " + label + " (" + std::to_string(seconds) + "s)");
}

void ProgressLine::clear() {
    if (drawn_) console_.print_error("\r\x1b[K");
    drawn_ = false;
}

}  // namespace svc::cli
