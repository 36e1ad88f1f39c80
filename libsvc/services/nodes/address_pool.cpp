#include "libsvc/services/nodes/address_pool.h"

#include <arpa/inet.h>

#include <bit>
#include <charconv>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc {

namespace {

constexpr std::uint32_t bits_per_word = 64;

std::optional<std::uint32_t> parse_address(std::string_view text) {
    in_addr address{};
    if (inet_pton(AF_INET, std::string(text).c_str(), &address) != 1) return std::nullopt;
    return ntohl(address.s_addr);
}

std::string to_text(std::uint32_t address) {
    in_addr network{};
    network.s_addr = htonl(address);
    char text[INET_ADDRSTRLEN]{};
    inet_ntop(AF_INET, &network, text, sizeof text);
    return text;
}

unsigned parse_prefix(std::string_view text) {
    unsigned prefix = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), prefix);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    return whole && prefix >= 8 && prefix <= 30 ? prefix : 0;
}

}  // namespace

AddressPool::AddressPool(std::string_view subnet) {
    const std::size_t slash = subnet.find('/');
    const auto gateway = parse_address(subnet.substr(0, slash));
    const unsigned prefix = slash == std::string_view::npos ? 0 : parse_prefix(subnet.substr(slash + 1));
    if (!gateway || prefix == 0)
        throw Error(ErrorCode::invalid_argument,
                    "subnet " + quoted(subnet) + " is not an address with a prefix of 8 to 30");
    size_ = std::uint32_t{1} << (32 - prefix);
    network_ = *gateway & ~(size_ - 1);
    free_ = size_ - 1;  // the broadcast address is never marked: `take` ends before it
    mark(0, true);
    mark(*gateway - network_, true);
}

std::optional<std::string> AddressPool::take() {
    for (std::uint32_t word = lowest_ / bits_per_word; word * bits_per_word < size_; ++word) {
        const std::uint64_t bits = word < words_.size() ? words_[word] : 0;
        if (~bits == 0) continue;
        const std::uint32_t index = word * bits_per_word + static_cast<std::uint32_t>(std::countr_one(bits));
        if (index >= size_ - 1) break;
        mark(index, true);
        lowest_ = index + 1;
        return to_text(network_ + index);
    }
    lowest_ = size_ - 1;
    return std::nullopt;
}

bool AddressPool::take_exactly(std::string_view address) {
    const auto index = index_of(address);
    if (!index || is_taken(*index)) return false;
    mark(*index, true);
    return true;
}

void AddressPool::give_back(std::string_view address) {
    const auto index = index_of(address);
    if (!index || !is_taken(*index)) return;
    mark(*index, false);
    if (*index < lowest_) lowest_ = *index;
}

// Nothing for the network, for broadcasts and for addresses of other networks. The bit of the gateway is
// always set.
std::optional<std::uint32_t> AddressPool::index_of(std::string_view text) const {
    const auto address = parse_address(text);
    if (!address || *address <= network_ || *address - network_ >= size_ - 1) return std::nullopt;
    return *address - network_;
}

bool AddressPool::is_taken(std::uint32_t index) const {
    const std::uint32_t word = index / bits_per_word;
    return word < words_.size() && ((words_[word] >> (index % bits_per_word)) & 1U) != 0;
}

void AddressPool::mark(std::uint32_t index, bool taken) {
    const std::uint32_t word = index / bits_per_word;
    if (word >= words_.size()) words_.resize(word + 1, 0);
    const std::uint64_t bit = std::uint64_t{1} << (index % bits_per_word);
    if (is_taken(index) != taken) free_ += taken ? -1 : 1;
    words_[word] = taken ? words_[word] | bit : words_[word] & ~bit;
}

}  // namespace svc
