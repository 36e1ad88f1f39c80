#include "libsvc/net/client/target.h"

#include <charconv>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc {

namespace {

[[noreturn]] void refuse(std::string_view url, std::string_view why) {
    throw Error(ErrorCode::invalid_argument, "address " + quoted(url) + " is invalid: " + std::string(why));
}

bool take_prefix(std::string_view& text, std::string_view prefix) {
    if (text.substr(0, prefix.size()) != prefix) return false;
    text.remove_prefix(prefix.size());
    return true;
}

std::uint16_t parse_port(std::string_view url, std::string_view text) {
    unsigned port = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (error != std::errc() || end != text.data() + text.size() || port == 0 || port > 65535)
        refuse(url, "the port must be a number from 1 to 65535");
    return static_cast<std::uint16_t>(port);
}

// "host", "host:1", "[::1]:1"
void parse_authority(std::string_view url, std::string_view text, Target& target) {
    const bool bracketed = text.starts_with('[');
    const auto host_end = bracketed ? text.find(']') : text.find(':');
    if (bracketed && host_end == std::string_view::npos) refuse(url, "']' is missing");
    target.host = std::string(bracketed ? text.substr(1, host_end - 1) : text.substr(0, host_end));
    if (target.host.empty() || target.host.find_first_of(" @?#") != std::string::npos)
        refuse(url, "it names no host");
    auto rest =
        host_end == std::string_view::npos ? std::string_view() : text.substr(host_end + (bracketed ? 1 : 0));
    target.port = target.tls ? 443 : 80;
    if (take_prefix(rest, ":"))
        target.port = parse_port(url, rest);
    else if (!rest.empty())
        refuse(url, "something follows the host");
}

}  // namespace

Proxy Proxy::parse(std::string_view url) {
    auto rest = url;
    if (!take_prefix(rest, "http://")) refuse(url, "a proxy must begin with http://");
    Proxy proxy;
    if (const auto at = rest.rfind('@'); at != std::string_view::npos) {
        proxy.authorization = "Basic " + base64_encode(percent_decode(rest.substr(0, at)));
        rest.remove_prefix(at + 1);
    }
    const Target target = Target::parse("http://" + std::string(rest));
    proxy.host = target.host;
    proxy.port = target.port;
    return proxy;
}

Target Target::parse(std::string_view url) {
    Target target;
    auto rest = url;
    if (take_prefix(rest, "unix://")) {
        if (!rest.starts_with('/')) refuse(url, "a socket path must be absolute");
        target.unix_path = std::string(rest);
        target.tls = false;
        return target;
    }
    if (take_prefix(rest, "http://"))
        target.tls = false;
    else if (!take_prefix(rest, "https://"))
        refuse(url, "it must begin with https://, http:// or unix://");
    if (rest.ends_with('/')) rest.remove_suffix(1);
    if (rest.find('/') != std::string_view::npos) refuse(url, "it must not have a path");
    parse_authority(url, rest, target);
    return target;
}

std::string Target::describe() const {
    if (!unix_path.empty()) return "unix://" + unix_path.string();
    const bool colons = host.find(':') != std::string::npos;
    return (tls ? "https://" : "http://") + (colons ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

}  // namespace svc
