#include "cli/command_line/service_syntax.h"

#include <algorithm>
#include <charconv>

#include "cli/command_line/command.h"
#include "libsvc/base/strings.h"

namespace svc::cli {
namespace {

[[noreturn]] void refuse(std::string_view text, const std::string& why) {
    throw UsageError("--service: " + quoted(text) + ": " + why);
}

std::uint16_t parse_port(std::string_view text, std::string_view whole) {
    unsigned port = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (error != std::errc() || end != text.data() + text.size() || port < 1 || port > 65535)
        refuse(whole, quoted(text) + " is not a port");
    return static_cast<std::uint16_t>(port);
}

std::vector<std::string> parse_protocols(std::string_view text, std::string_view whole) {
    std::vector<std::string> protocols = split(text, ',');
    if (protocols.empty()) refuse(whole, "the protocol is missing");
    for (const auto& protocol : protocols)
        if (protocol != "tcp" && protocol != "udp")
            refuse(whole, "protocol " + quoted(protocol) + " is neither tcp nor udp");
    std::sort(protocols.begin(), protocols.end());
    if (std::adjacent_find(protocols.begin(), protocols.end()) != protocols.end())
        refuse(whole, "protocol given twice");
    return protocols;
}

std::string_view long_form(std::string_view text) {
    if (text == "ssh") return "ssh:tcp:22";
    if (text == "adb") return "adb:tcp:5559";
    return text;
}

}  // namespace

ServiceEntry parse_service(std::string_view whole) {
    ServiceEntry service;
    std::string_view text = whole;
    service.expose = text.starts_with('+');
    if (service.expose) text.remove_prefix(1);
    const std::vector<std::string> parts = split(long_form(text), ':');
    if (parts.size() < 2 || parts.size() > 3) refuse(whole, "expected [+][<name>:]<protocol>:<port>[-<end>]");
    if (parts.size() == 3) service.name = parts[0];
    service.protocols = parse_protocols(parts[parts.size() - 2], whole);
    const std::string& ports = parts.back();
    const auto dash = ports.find('-');
    service.port = parse_port(std::string_view(ports).substr(0, dash), whole);
    if (dash != std::string::npos) {
        service.port_end = parse_port(std::string_view(ports).substr(dash + 1), whole);
        if (service.port_end < service.port) refuse(whole, "the range ends before it begins");
    }
    return service;
}

}  // namespace svc::cli
