#pragma once
// Hands the client's content to programs of the guest that ask for the selection CLIPBOARD (ICCCM, 2.2 and
// 2.7).
#include <chrono>
#include <vector>

#include "instance-agent/streamer/clipboard/selection_atoms.h"

namespace svc::streamer {

// One thread. What a program has not taken yet stays in memory: the number and the time of such programs are
// bounded.
class SelectionOwner {
  public:
    using Moment = std::chrono::steady_clock::time_point;
    static constexpr std::size_t max_takers = 8;         // that take a large content at the same time
    static constexpr std::size_t piece = 128U << 10;     // bytes; larger contents come in pieces
    static constexpr std::chrono::seconds patience{10};  // for a program to take the next piece

    SelectionOwner(Display* x, Window window, const SelectionAtoms& atoms)
        : x_(x), window_(window), atoms_(atoms) {}

    bool own(ClipboardContent content);            // false: the server did not let us
    void lost(const XSelectionClearEvent& event);  // another program owns the selection
    void asked(const XSelectionRequestEvent& event);
    void property_changed(const XPropertyEvent& event);
    void window_gone(Window window);
    void tick(Moment now);
    bool is_busy() const { return !takers_.empty(); }

  private:
    struct Taker {
        Window window = None;
        Atom property = None, type = None;
        std::shared_ptr<const std::string> data{};
        std::size_t taken = 0;
        Moment deadline{};
    };
    bool answer(const XSelectionRequestEvent& event, Atom property);
    bool offers(Atom target) const;
    std::vector<Atom> targets() const;
    bool begin_pieces(const Taker& taker);
    bool give_piece(Taker& taker);
    template <class Condition>
    void drop(Condition condition);

    Display* x_;
    Window window_;
    const SelectionAtoms& atoms_;
    std::optional<ClipboardContent> content_;
    std::vector<Taker> takers_;
};

}  // namespace svc::streamer
