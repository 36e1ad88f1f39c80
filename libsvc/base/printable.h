#pragma once
// What of a text from outside can be shown.
#include <cstddef>
#include <string>
#include <string_view>

namespace svc {

// The length in bytes of the first character of `text`, which is not empty; 0: it is a control character,
// separates lines, changes the direction of the text, or is no UTF-8.
std::size_t printable_length(std::string_view text);

// At most `limit` bytes, cut between characters; a `?` stands for each byte that cannot be shown.
std::string plain_text(std::string_view text, std::size_t limit);

}  // namespace svc
