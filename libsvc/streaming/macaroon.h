#pragma once
// Internal to this folder: macaroons with first-party caveats alone, in the binary form version 2 as URL-safe
// base64 without padding, and their signature. tokens.h gives the caveats their meaning.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace svc {

struct Macaroon {
    std::string location;
    std::string identifier;
    std::vector<std::string> caveats;
    std::string signature;  // 32 bytes
};

// The signature that `macaroon` should have. Throws internal.
std::string macaroon_signature(const Macaroon& macaroon, std::string_view secret);

std::string to_text(const Macaroon& macaroon);
// Nothing for text that is not exactly one macaroon of this form, or is longer than 2 KiB.
std::optional<Macaroon> parse_macaroon(std::string_view text);

}  // namespace svc
