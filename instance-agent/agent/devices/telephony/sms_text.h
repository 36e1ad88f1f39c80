#pragma once
// The text of a short message: into how many parts a phone splits it (3GPP TS 23.038, 23.040).
#include <optional>
#include <string_view>

namespace svc::agent {

inline constexpr int most_sms_parts = 10;

// `text` is UTF-8. Nothing: the text is too long for `most_sms_parts`.
std::optional<int> count_sms_parts(std::string_view text);

}  // namespace svc::agent
