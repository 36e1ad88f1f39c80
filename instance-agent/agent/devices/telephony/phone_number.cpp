#include "instance-agent/agent/devices/telephony/phone_number.h"

#include <algorithm>

namespace svc::agent {
namespace {

constexpr std::size_t most_dialled = 32;

bool is_digit(char letter) {
    return letter >= '0' && letter <= '9';
}

}  // namespace

bool has_digits_only(std::string_view text) {
    return std::all_of(text.begin(), text.end(), is_digit);
}

bool is_phone_number(std::string_view text) {
    if (text.starts_with('+')) text.remove_prefix(1);
    const auto is_dialled = [](char letter) { return is_digit(letter) || letter == '*' || letter == '#'; };
    return !text.empty() && text.size() <= most_dialled && std::all_of(text.begin(), text.end(), is_dialled);
}

}  // namespace svc::agent
