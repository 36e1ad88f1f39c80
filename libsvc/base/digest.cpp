#include "libsvc/base/digest.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>

#include "libsvc/base/error.h"

namespace svc {

namespace {

// Fetched once: fetching takes a lock and costs more than hashing a short text.
const EVP_MD* sha256() {
    static const EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
    return algorithm;
}

int base64_value(char c) noexcept {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    if (c == '+') return 62;
    return c == '/' ? 63 : -1;
}

bool is_space(char c) noexcept {
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

[[noreturn]] void throw_bad_base64() {
    throw Error(ErrorCode::invalid_argument, "text is not valid base64");
}

std::string hmac(const EVP_MD* algorithm, std::string_view key, std::string_view data) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    if (!HMAC(algorithm, key.data(), static_cast<int>(key.size()),
              reinterpret_cast<const unsigned char*>(data.data()), data.size(), digest.data(), &size))
        throw Error(ErrorCode::internal, "cannot compute a keyed hash");
    return {reinterpret_cast<const char*>(digest.data()), size};
}

}  // namespace

struct Sha256::State {
    struct Free {
        void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
    };
    std::unique_ptr<EVP_MD_CTX, Free> context{EVP_MD_CTX_new()};
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
    if (!state_->context || EVP_DigestInit_ex(state_->context.get(), sha256(), nullptr) != 1)
        throw Error(ErrorCode::internal, "cannot start a SHA-256 computation");
}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::update(std::string_view data) {
    if (EVP_DigestUpdate(state_->context.get(), data.data(), data.size()) != 1)
        throw Error(ErrorCode::internal, "cannot continue a SHA-256 computation");
}

std::string Sha256::hex() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    if (EVP_DigestFinal_ex(state_->context.get(), digest.data(), &size) != 1)
        throw Error(ErrorCode::internal, "cannot end a SHA-256 computation");
    return to_hex({reinterpret_cast<const char*>(digest.data()), size});
}

std::string sha256_hex(std::string_view data) {
    Sha256 hash;
    hash.update(data);
    return hash.hex();
}

std::string sha256_bytes(std::string_view data) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    if (EVP_Digest(data.data(), data.size(), digest.data(), &size, sha256(), nullptr) != 1)
        throw Error(ErrorCode::internal, "cannot compute a SHA-256");
    return {reinterpret_cast<const char*>(digest.data()), size};
}

bool is_sha256_hex(std::string_view text) noexcept {
    return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string hmac_sha1(std::string_view key, std::string_view data) {
    return hmac(EVP_sha1(), key, data);
}

std::string hmac_sha256(std::string_view key, std::string_view data) {
    return hmac(EVP_sha256(), key, data);
}

std::string to_hex(std::string_view bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    text.reserve(bytes.size() * 2);
    for (char c : bytes) {
        text += digits[static_cast<unsigned char>(c) >> 4U];
        text += digits[static_cast<unsigned char>(c) & 15U];
    }
    return text;
}

std::string base64_encode(std::string_view bytes) {
    std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // EVP_EncodeBlock ends with a NUL
    const int size =
        EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                        reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
    text.resize(static_cast<std::size_t>(size));
    return text;
}

std::string base64_decode(std::string_view text) {
    std::string bytes;
    bytes.reserve(text.size() / 4 * 3);
    unsigned bits = 0;
    std::size_t symbols = 0;
    std::size_t padding = 0;
    for (char c : text) {
        if (is_space(c)) continue;
        ++symbols;
        if (c == '=') {
            ++padding;
            continue;
        }
        const int value = base64_value(c);
        if (value < 0 || padding > 0) throw_bad_base64();
        bits = (bits << 6U | static_cast<unsigned>(value)) & 0xFFFFFFU;
        // The n-th symbol of a group of four completes a byte, for n of 2 to 4.
        if (symbols % 4 != 1) bytes += static_cast<char>(bits >> (2U * ((4U - symbols % 4) % 4)) & 0xFFU);
    }
    const unsigned unused = padding == 2 ? 15U : padding == 1 ? 3U : 0U;
    if (symbols % 4 != 0 || padding > 2 || (bits & unused) != 0) throw_bad_base64();
    return bytes;
}

std::string base64url_encode(std::string_view bytes) {
    std::string text = base64_encode(bytes);
    while (text.ends_with('=')) text.pop_back();
    std::replace(text.begin(), text.end(), '+', '-');
    std::replace(text.begin(), text.end(), '/', '_');
    return text;
}

std::string base64url_decode(std::string_view text) {
    if (text.find_first_of("+/= \n\r\t") != std::string_view::npos) throw_bad_base64();
    std::string standard(text);
    std::replace(standard.begin(), standard.end(), '-', '+');
    std::replace(standard.begin(), standard.end(), '_', '/');
    standard.append((4 - standard.size() % 4) % 4, '=');
    return base64_decode(standard);
}

bool equal_constant_time(std::string_view a, std::string_view b) noexcept {
    return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::uint64_t random_number() {
    std::uint64_t number = 0;
    random_bytes(sizeof(number)).copy(reinterpret_cast<char*>(&number), sizeof(number));
    return number;
}

std::string random_bytes(std::size_t count) {
    std::string bytes(count, '\0');
    for (std::size_t done = 0; done < count;) {
        const ssize_t got = getrandom(bytes.data() + done, count - done, 0);
        if (got < 0 && errno != EINTR) throw system_error("cannot read random bytes", errno);
        if (got > 0) done += static_cast<std::size_t>(got);
    }
    return bytes;
}

}  // namespace svc
