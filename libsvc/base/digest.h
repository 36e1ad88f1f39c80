#pragma once
// SHA-256, keyed hashes, hexadecimal and base64, comparison in constant time.
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace svc {

// A SHA-256 that is computed piece by piece. Not thread-safe.
class Sha256 {
  public:
    Sha256();
    ~Sha256();
    Sha256(Sha256&&) noexcept;
    Sha256& operator=(Sha256&&) noexcept;
    void update(std::string_view data);
    std::string hex();  // 64 lower-case digits; ends the computation

  private:
    struct State;
    std::unique_ptr<State> state_;
};

std::string sha256_hex(std::string_view data);
std::string sha256_bytes(std::string_view data);  // 32 raw bytes
bool is_sha256_hex(std::string_view text) noexcept;
// Keyed hashes (RFC 2104). They return 20 and 32 raw bytes.
std::string hmac_sha1(std::string_view key, std::string_view data);
std::string hmac_sha256(std::string_view key, std::string_view data);
std::string to_hex(std::string_view bytes);
std::string base64_encode(std::string_view bytes);
std::string base64_decode(std::string_view text);  // throws invalid_argument
// Base64 with the alphabet of URLs (RFC 4648 section 5), without padding. Decoding accepts the canonical
// encoding of a value only and throws invalid_argument for all else.
std::string base64url_encode(std::string_view bytes);
std::string base64url_decode(std::string_view text);
bool equal_constant_time(std::string_view a, std::string_view b) noexcept;
std::string random_bytes(std::size_t count);
std::uint64_t random_number();

}  // namespace svc
