#pragma once
// Numbers in the text of a scrape.
#include <string>

#include "libsvc/base/error.h"

namespace svc::test {

// The number of one series, with its labels; throws when there is none.
inline double value(const std::string& text, const std::string& series) {
    const std::size_t at = text.find("\n" + series + " ");
    if (at == std::string::npos) throw Error(ErrorCode::not_found, "no series " + series);
    return std::stod(text.substr(at + series.size() + 2));
}

}  // namespace svc::test
