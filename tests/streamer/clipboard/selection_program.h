#pragma once
// A program of the guest that copies and pastes: owns and asks for the selection CLIPBOARD.
#include <X11/Xlib.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace svc::test {

// One thread, but for serve_until().
class SelectionProgram {
  public:
    explicit SelectionProgram(const std::string& display);
    ~SelectionProgram();
    SelectionProgram(const SelectionProgram&) = delete;
    SelectionProgram& operator=(const SelectionProgram&) = delete;

    // How a copied content is handed over.
    enum class Way { whole, pieces, endless, silent };  // endless: pieces that never end; silent: not at all
    void copy(const std::string& target, std::string data, Way way = Way::whole);
    // Answers those who ask until `done`, which is looked at after each event and 50 times a second. False: a
    // minute has passed.
    bool serve_until(const std::function<bool()>& done);
    bool owns() const;

    // What the owner hands over; nothing: it refused.
    std::optional<std::string> paste(const std::string& target);
    std::vector<std::string> targets();
    int asked() const { return asked_; }  // requests that were made of us

  private:
    Atom atom(const std::string& name) const { return XInternAtom(x_, name.c_str(), False); }
    bool next(XEvent& event, int milliseconds);
    void answer(const XSelectionRequestEvent& request);
    void give_piece();
    std::string take_property(Atom& type);
    std::optional<std::string> take_pieces();
    std::optional<std::string> convert(Atom target);

    Display* x_;
    Window window_;
    std::string target_, data_;
    Way way_ = Way::whole;
    Window taker_ = None;
    Atom taker_property_ = None;
    std::size_t given_ = 0;
    int asked_ = 0;
};

}  // namespace svc::test
