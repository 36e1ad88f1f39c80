#pragma once
// Reads what programs of the guest put into the selection CLIPBOARD (ICCCM, 2.4 and 2.7).
#include <chrono>

#include "instance-agent/streamer/clipboard/selection_atoms.h"

namespace svc::streamer {

// One thread. Programs may be hostile: what they hand over is bounded in size and time.
class SelectionReader {
  public:
    using Moment = std::chrono::steady_clock::time_point;
    static constexpr std::chrono::milliseconds pause{250};  // between two reads
    static constexpr std::chrono::seconds patience{10};     // for a program to hand over all of it
    using Copied = std::function<void(ClipboardContent)>;

    // `window` is told of changes of its properties.
    SelectionReader(Display* x, Window window, const SelectionAtoms& atoms, Copied copied);

    void changed() { wanted_ = true; }  // another program owns the selection
    void forget();                      // nobody wants to know any more
    void answered(const XSelectionEvent& event);
    void property_changed(const XPropertyEvent& event);
    void tick(Moment now);  // begins and gives up reads
    bool is_busy() const { return wanted_ || stage_ != Stage::idle; }

  private:
    enum class Stage { idle, targets, content, pieces };
    struct Value {
        Atom type = None;  // None: there is no such property
        std::string bytes{};
        bool is_too_large = false;
    };
    void ask(Atom target, Stage stage);
    void take_targets();
    void take_content();
    void take_piece();
    void finish();
    void end();
    Value take_property();

    Display* x_;
    Window window_;
    const SelectionAtoms& atoms_;
    Copied copied_;
    bool wanted_ = false;
    Stage stage_ = Stage::idle;
    Atom target_ = None;
    ClipboardFormat format_ = ClipboardFormat::text;
    std::string pieces_;
    Moment deadline_{}, not_before_{};
};

}  // namespace svc::streamer
