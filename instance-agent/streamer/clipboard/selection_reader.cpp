#include "instance-agent/streamer/clipboard/selection_reader.h"

#include <X11/Xatom.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "libsvc/base/log.h"

namespace svc::streamer {

namespace {

constexpr int wide = 32;  // format of a property of atoms

struct FreeX {
    void operator()(unsigned char* data) const { XFree(data); }
};
using Bytes = std::unique_ptr<unsigned char, FreeX>;

// Xlib hands out 32-bit values as longs.
std::vector<Atom> atoms_in(const std::string& bytes) {
    std::vector<Atom> atoms(bytes.size() / sizeof(Atom));
    std::memcpy(atoms.data(), bytes.data(), atoms.size() * sizeof(Atom));
    return atoms;
}

}  // namespace

SelectionReader::SelectionReader(Display* x, Window window, const SelectionAtoms& atoms, Copied copied)
    : x_(x), window_(window), atoms_(atoms), copied_(std::move(copied)) {}

void SelectionReader::forget() {
    wanted_ = false;
    end();
}

void SelectionReader::tick(Moment now) {
    if (stage_ != Stage::idle && now > deadline_) {
        log::debug("a program of the guest does not hand over what it copied");
        end();
    }
    if (stage_ != Stage::idle || !wanted_ || now < not_before_) return;
    wanted_ = false;
    deadline_ = now + patience;
    not_before_ = now + pause;
    ask(atoms_.targets, Stage::targets);
}

void SelectionReader::ask(Atom target, Stage stage) {
    target_ = target;
    stage_ = stage;
    XDeleteProperty(x_, window_, atoms_.property);
    XConvertSelection(x_, atoms_.clipboard, target, atoms_.property, window_, CurrentTime);
}

// Anybody can send this event: what does not answer the question is left alone.
void SelectionReader::answered(const XSelectionEvent& event) {
    if (event.selection != atoms_.clipboard || event.target != target_) return;
    if (stage_ != Stage::targets && stage_ != Stage::content) return;
    if (event.property != atoms_.property) return end();
    if (stage_ == Stage::targets) return take_targets();
    take_content();
}

// Text comes first: what has both, such as cells of a table, is more useful as text.
void SelectionReader::take_targets() {
    const Value value = take_property();
    const std::vector<Atom> targets = value.type == XA_ATOM ? atoms_in(value.bytes) : std::vector<Atom>();
    for (const Atom wanted : {atoms_.utf8, atoms_.plain_utf8, atoms_.png}) {
        if (std::find(targets.begin(), targets.end(), wanted) == targets.end()) continue;
        format_ = wanted == atoms_.png ? ClipboardFormat::png : ClipboardFormat::text;
        return ask(wanted, Stage::content);
    }
    end();
}

// Deleting the property, as take_property() does, lets the owner go on with pieces.
void SelectionReader::take_content() {
    Value value = take_property();
    pieces_ = std::move(value.bytes);
    if (value.type != atoms_.incremental) return finish();
    pieces_.clear();
    stage_ = Stage::pieces;
}

void SelectionReader::property_changed(const XPropertyEvent& event) {
    if (stage_ == Stage::pieces && event.atom == atoms_.property && event.state == PropertyNewValue)
        take_piece();
}

void SelectionReader::take_piece() {
    const Value value = take_property();
    if (value.type == None) return;
    if (value.bytes.empty() && !value.is_too_large) return finish();
    if (value.is_too_large || pieces_.size() + value.bytes.size() > max_clipboard) {
        log::info("what a program of the guest copied is too large for the client");
        return end();
    }
    pieces_ += value.bytes;
}

void SelectionReader::finish() {
    const ClipboardContent content{format_, std::make_shared<const std::string>(std::move(pieces_))};
    end();
    if (is_sound(content)) copied_(content);
}

void SelectionReader::end() {
    stage_ = Stage::idle;
    target_ = None;
    std::string().swap(pieces_);
}

// Looks at the size first: the server keeps properties of any size, and would send all of it. What a property
// of 32-bit values has is longer in our memory.
SelectionReader::Value SelectionReader::take_property() {
    Value value;
    int format = 0;
    unsigned long count = 0, left = 0;
    unsigned char* data = nullptr;
    const auto read = [&](unsigned long bytes, Bool remove) {
        const int status =
            XGetWindowProperty(x_, window_, atoms_.property, 0, static_cast<long>(bytes + 3) / 4, remove,
                               AnyPropertyType, &value.type, &format, &count, &left, &data);
        return Bytes(status == Success ? data : nullptr);
    };
    read(0, False);
    value.is_too_large = left > max_clipboard;
    if (value.is_too_large || value.type == None) {
        XDeleteProperty(x_, window_, atoms_.property);
        return value;
    }
    const Bytes owned = read(left, True);
    const std::size_t unit = format == wide ? sizeof(long) : static_cast<std::size_t>(format) / 8;
    if (owned) value.bytes.assign(reinterpret_cast<const char*>(owned.get()), count * unit);
    return value;
}

}  // namespace svc::streamer
