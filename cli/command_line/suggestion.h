#pragma once
// Suggestions for a misspelled word.
#include <string>
#include <string_view>
#include <vector>

namespace svc::cli {

// The nearest known word: at most one or two slips away, by the word's length; else the first known word that
// begins like it. "": none is near.
std::string nearest(std::string_view word, const std::vector<std::string>& known);
// "; did you mean 'delete'?", or "".
std::string suggestion(std::string_view word, const std::vector<std::string>& known);

}  // namespace svc::cli
