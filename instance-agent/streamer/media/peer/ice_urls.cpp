#include "instance-agent/streamer/media/peer/ice_urls.h"

#include "libsvc/base/strings.h"

namespace svc::streamer {
namespace {

struct Place {
    std::string host_and_port, query;
};

// "host", "host:port", "[::1]:port", each with "?transport=..." perhaps.
Place read_place(std::string_view text, std::string_view default_port) {
    const std::size_t question = text.find('?');
    Place place{std::string(text.substr(0, question)), ""};
    if (question != std::string_view::npos) place.query = text.substr(question);
    const std::size_t bracket = place.host_and_port.rfind(']');
    const std::size_t colon = place.host_and_port.rfind(':');
    const bool has_port = colon != std::string::npos && (bracket == std::string::npos || colon > bracket);
    if (!has_port) place.host_and_port += ":" + std::string(default_port);
    return place;
}

void add_turn(IceUrls& urls, const IceServer& server, const std::string& scheme, std::string_view rest) {
    if (server.username.empty() || server.password.empty()) return;
    const Place place = read_place(rest, scheme == "turns" ? "5349" : "3478");
    urls.turn.push_back(scheme + "://" + percent_encode(server.username) + ":" +
                        percent_encode(server.password) + "@" + place.host_and_port + place.query);
}

}  // namespace

IceUrls ice_urls(const std::vector<IceServer>& servers) {
    IceUrls urls;
    for (const IceServer& server : servers)
        for (const std::string& url : server.urls) {
            const std::size_t colon = url.find(':');
            if (colon == std::string::npos || colon + 1 == url.size()) continue;
            const std::string scheme = to_lower(url.substr(0, colon));
            const std::string_view rest = std::string_view(url).substr(colon + 1);
            if (scheme == "stun" && urls.stun.empty())
                urls.stun = "stun://" + read_place(rest, "3478").host_and_port;
            else if (scheme == "turn" || scheme == "turns")
                add_turn(urls, server, scheme, rest);
        }
    return urls;
}

}  // namespace svc::streamer
