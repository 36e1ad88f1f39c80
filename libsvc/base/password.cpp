#include "libsvc/base/password.h"

#include <openssl/evp.h>

#include <cstdint>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"

namespace svc {

namespace {

constexpr std::size_t salt_bytes = 32;
constexpr std::size_t hash_bytes = 64;
constexpr std::uint64_t cost = 16384;
constexpr std::uint64_t block_size = 8;
constexpr std::uint64_t lanes = 1;
constexpr std::uint64_t max_memory = std::uint64_t{64} << 20;  // it needs 128 * cost * block_size: 16 MiB

std::string derive(std::string_view password, std::string_view salt) {
    std::string hash(hash_bytes, '\0');
    const int done = EVP_PBE_scrypt(
        password.data(), password.size(), reinterpret_cast<const unsigned char*>(salt.data()), salt.size(),
        cost, block_size, lanes, max_memory, reinterpret_cast<unsigned char*>(hash.data()), hash.size());
    if (done != 1) throw Error(ErrorCode::internal, "cannot compute the hash of a password");
    return hash;
}

int digit_of(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

// Empty for anything but `digits` hexadecimal digits.
std::string bytes_of_hex(std::string_view text, std::size_t digits) {
    std::string bytes;
    if (text.size() != digits) return bytes;
    for (std::size_t i = 0; i < text.size(); i += 2) {
        const int high = digit_of(text[i]);
        const int low = digit_of(text[i + 1]);
        if (high < 0 || low < 0) return {};
        bytes.push_back(static_cast<char>(high * 16 + low));
    }
    return bytes;
}

}  // namespace

std::string hash_password(std::string_view password) {
    const std::string salt = random_bytes(salt_bytes);
    return to_hex(salt + derive(password, salt));
}

bool check_password(std::string_view password, std::string_view stored_hash) {
    const std::string bytes = bytes_of_hex(stored_hash, 2 * (salt_bytes + hash_bytes));
    if (bytes.empty()) return false;
    return equal_constant_time(derive(password, bytes.substr(0, salt_bytes)), bytes.substr(salt_bytes));
}

}  // namespace svc
