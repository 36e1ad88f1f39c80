#include "libsvc/model/values/web_origin.h"

#include <charconv>

namespace svc {

namespace {

constexpr std::string_view port_characters = "0123456789";
constexpr std::string_view host_characters =
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-.";
constexpr std::size_t longest_host = 253, longest_port = 5;

bool is_origin_host(std::string_view host) {
    return !host.empty() && host.size() <= longest_host && !host.starts_with('.') &&
           host.find("..") == std::string_view::npos &&
           host.find_first_not_of(host_characters) == std::string_view::npos;
}

bool is_origin_port(std::string_view port) {
    constexpr unsigned highest = 65'535;
    if (port.empty() || port.size() > longest_port) return false;
    if (port.find_first_not_of(port_characters) != std::string_view::npos) return false;
    unsigned number = 0;
    std::from_chars(port.data(), port.data() + port.size(), number);
    return number >= 1 && number <= highest;
}

}  // namespace

bool is_web_origin(std::string_view text) {
    constexpr std::string_view scheme = "https://";
    if (!text.starts_with(scheme)) return false;
    text.remove_prefix(scheme.size());
    const std::size_t colon = text.find(':');
    if (!is_origin_host(text.substr(0, colon))) return false;
    return colon == std::string_view::npos || is_origin_port(text.substr(colon + 1));
}

}  // namespace svc
