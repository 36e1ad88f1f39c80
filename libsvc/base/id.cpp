#include "libsvc/base/id.h"

#include <unistd.h>

#include <array>
#include <atomic>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/file.h"

namespace svc {

namespace {

constexpr std::string_view base32hex = "0123456789abcdefghijklmnopqrstuv";

std::uint32_t random_number() {
    const std::string bytes = random_bytes(4);
    std::uint32_t number = 0;
    for (char c : bytes) number = number << 8U | static_cast<unsigned char>(c);
    return number;
}

// 24 bits that differ between machines; random where there is no machine id.
std::uint32_t machine_number() {
    try {
        const std::string digest = sha256_hex("svc object id " + read_file("/etc/machine-id", 4096));
        return static_cast<std::uint32_t>(std::stoul(digest.substr(0, 6), nullptr, 16));
    } catch (const Error&) {
        return random_number() & 0xFFFFFFU;
    }
}

// One counter for the whole process: two sources must not give the same id.
std::uint32_t next_counter() {
    static std::atomic<std::uint32_t> counter{random_number()};
    return counter.fetch_add(1, std::memory_order_relaxed) & 0xFFFFFFU;
}

std::string encode_base32hex(const std::array<std::uint8_t, 12>& bytes) {
    std::string text;
    unsigned buffer = 0;
    unsigned bits = 0;
    for (std::uint8_t byte : bytes) {
        buffer = buffer << 8U | byte;
        for (bits += 8; bits >= 5; bits -= 5) text += base32hex[buffer >> (bits - 5) & 31U];
    }
    text += base32hex[buffer << (5 - bits) & 31U];
    return text;
}

}  // namespace

bool is_object_id(std::string_view text) noexcept {
    return text.size() == 20 && text.find_first_not_of(base32hex) == std::string_view::npos;
}

bool is_uuid(std::string_view text) noexcept {
    if (text.size() != 36 || text[14] != '4' ||
        std::string_view("89ab").find(text[19]) == std::string_view::npos)
        return false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? text[i] != '-'
                 : std::string_view("0123456789abcdef").find(text[i]) == std::string_view::npos)
            return false;
    }
    return true;
}

SystemIdSource::SystemIdSource(const Clock& clock) : clock_(clock) {}

std::string SystemIdSource::object_id() {
    static const std::uint32_t machine = machine_number();
    const auto seconds = static_cast<std::uint32_t>(to_unix_seconds(clock_.now()));
    const auto process = static_cast<std::uint32_t>(getpid());
    const std::uint32_t counter = next_counter();
    const auto byte = [](std::uint32_t value, unsigned shift) {
        return static_cast<std::uint8_t>(value >> shift);
    };
    return encode_base32hex({byte(seconds, 24), byte(seconds, 16), byte(seconds, 8), byte(seconds, 0),
                             byte(machine, 16), byte(machine, 8), byte(machine, 0), byte(process, 8),
                             byte(process, 0), byte(counter, 16), byte(counter, 8), byte(counter, 0)});
}

std::string SystemIdSource::uuid() {
    std::string bytes = random_bytes(16);
    bytes[6] = static_cast<char>((static_cast<unsigned char>(bytes[6]) & 0x0FU) | 0x40U);
    bytes[8] = static_cast<char>((static_cast<unsigned char>(bytes[8]) & 0x3FU) | 0x80U);
    std::string text = to_hex(bytes);
    for (std::size_t at : {8U, 13U, 18U, 23U}) text.insert(at, 1, '-');
    return text;
}

std::string SystemIdSource::secret() {
    return to_hex(random_bytes(32));
}

}  // namespace svc
