#pragma once
// UTF-8 text as a terminal shows it. The properties of characters come from utf8proc.
#include <cstddef>
#include <string>
#include <string_view>

namespace svc::cli {

// The columns that `text` takes in a terminal: 2 for a wide character (East Asian, emoji), 0 for one that
// combines with the character before it. Characters that are drawn as one (an emoji sequence) take 2 at most.
// A byte that is not UTF-8 counts as one column.
std::size_t display_width(std::string_view text);

// The text with '?' in the place of everything that could change the terminal's state or the order of what it
// shows: control characters but '\n', marks that change the direction of writing, bytes that are not UTF-8.
std::string printable(std::string_view text);

}  // namespace svc::cli
