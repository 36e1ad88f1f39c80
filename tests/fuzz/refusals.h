#pragma once
// Input that is refused with an Error was understood well enough; everything else that goes wrong is a
// finding.
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "libsvc/base/error.h"

namespace svc::fuzz {

template <class Parse>
void attempt(Parse parse) {
    try {
        parse();
    } catch (const Error&) {
        return;
    }
}

using Decoder = std::function<void(std::string_view)>;

// The first byte says which of them gets the rest.
inline int decode_with_one_of(std::span<const Decoder> decoders, const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    attempt([&] { decoders[data[0] % decoders.size()](text); });
    return 0;
}

}  // namespace svc::fuzz
