#include "libsvc/model/instances/guest_text.h"

#include <algorithm>
#include <string_view>

namespace svc {

namespace {

constexpr std::string_view no_room = "further notes are not kept";

class Notes {
  public:
    // False: there is no room for more.
    bool add(const std::string& note) {
        if (!kept_.empty() && kept_.back() == no_room) return false;
        std::string text = clipped(note, max_note_bytes);
        if (std::ranges::find(kept_, text) != kept_.end()) return true;
        const bool fits =
            kept_.size() + 1 < max_notes && bytes_ + text.size() + no_room.size() <= max_notes_bytes;
        if (!fits && text != no_room) text = no_room;
        bytes_ += text.size();
        kept_.push_back(std::move(text));
        return fits;
    }
    std::vector<std::string> take() { return std::move(kept_); }

  private:
    std::vector<std::string> kept_;
    std::size_t bytes_ = 0;
};

}  // namespace

std::string clipped(std::string text, std::size_t limit) {
    if (text.size() <= limit) return text;
    const std::string mark = "... [cut, " + std::to_string(text.size()) + " bytes in all]";
    std::size_t end = limit - std::min(mark.size(), limit);
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
    text.resize(end);
    return text += mark;
}

std::vector<std::string> joined_notes(const std::vector<std::string>& notes,
                                      const std::vector<std::string>& more) {
    Notes all;
    for (const auto* const list : {&notes, &more})
        for (const std::string& note : *list)
            if (!all.add(note)) return all.take();
    return all.take();
}

}  // namespace svc
