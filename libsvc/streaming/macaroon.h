#pragma once
// Macaroons with first-party caveats alone: the binary form version 2 in URL-safe base64 without padding, and
// the signature over it. What a caveat means is the business of tokens.
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
// Nothing for what is not exactly one macaroon of this form, and for all over 2 KiB.
std::optional<Macaroon> parse_macaroon(std::string_view text);

}  // namespace svc
