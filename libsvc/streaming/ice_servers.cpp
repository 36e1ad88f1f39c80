#include "libsvc/streaming/ice_servers.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc {

namespace {

[[noreturn]] void throw_bad_url(std::string_view url, std::string_view rule) {
    throw Error(ErrorCode::invalid_argument,
                "ICE server " + quoted(url) + " is invalid: " + std::string(rule));
}

bool is_port(std::string_view text) {
    if (text.empty() || text.size() > 5 || text.find_first_not_of("0123456789") != std::string_view::npos)
        return false;
    const int port = std::stoi(std::string(text));
    return port >= 1 && port <= 65535;
}

bool is_host(std::string_view text) {
    if (text.starts_with('[') && text.ends_with(']')) {
        const auto address = text.substr(1, text.size() - 2);
        return address.find(':') != std::string_view::npos &&
               address.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos;
    }
    return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
        return std::isalnum(c) || c == '-' || c == '.';
    });
}

// "host:port", after the scheme. A browser takes a URL without a port as well; we want it told.
void check_place(std::string_view url, std::string_view place) {
    const auto colon = place.rfind(':');
    if (colon == std::string_view::npos || !is_host(place.substr(0, colon)) ||
        !is_port(place.substr(colon + 1)))
        throw_bad_url(url, "host:port expected");
}

void check_url(std::string_view url, std::array<std::string_view, 2> schemes, bool transport) {
    const auto scheme =
        std::find_if(schemes.begin(), schemes.end(), [&](auto s) { return url.starts_with(s); });
    if (scheme == schemes.end()) throw_bad_url(url, "must begin with " + std::string(schemes[0]));
    auto place = url.substr(scheme->size());
    if (const auto query = place.find('?'); query != std::string_view::npos && transport) {
        const auto wanted = place.substr(query);
        if (wanted != "?transport=udp" && wanted != "?transport=tcp")
            throw_bad_url(url, "only ?transport=udp and ?transport=tcp may follow the port");
        place = place.substr(0, query);
    }
    check_place(url, place);
}

JsonArray to_array(const std::vector<std::string>& urls) {
    return {urls.begin(), urls.end()};
}

}  // namespace

void IceConfig::check() const {
    for (const auto& url : stun_urls) check_url(url, {"stun:", "stuns:"}, false);
    for (const auto& url : turn_urls) check_url(url, {"turn:", "turns:"}, true);
    if (!turn_urls.empty() && turn_secret.empty())
        throw Error(ErrorCode::invalid_argument, "TURN servers need a shared secret");
    if (turn_ttl < std::chrono::seconds(1))
        throw Error(ErrorCode::invalid_argument, "the life of TURN credentials must be a second or more");
}

Json ice_servers(const IceConfig& config, std::string_view user, Time now) {
    JsonArray servers;
    if (!config.stun_urls.empty()) servers.push_back(Json::object({{"urls", to_array(config.stun_urls)}}));
    if (!config.turn_urls.empty()) {
        const auto name = std::to_string(to_unix_seconds(now + config.turn_ttl)) + ":" + std::string(user);
        servers.push_back(Json::object({{"urls", to_array(config.turn_urls)},
                                        {"username", name},
                                        {"password", base64_encode(hmac_sha1(config.turn_secret, name))}}));
    }
    return servers;
}

}  // namespace svc
