#pragma once
// What somebody may have meant who wrote a word that is not known.
#include <string>
#include <string_view>
#include <vector>

namespace svc::cli {

// The known word that is nearest: one or two slips away, by length, else the first that begins like it. "":
// none is near.
std::string nearest(std::string_view word, const std::vector<std::string>& known);
// "; did you mean 'delete'?", or "".
std::string suggestion(std::string_view word, const std::vector<std::string>& known);

}  // namespace svc::cli
