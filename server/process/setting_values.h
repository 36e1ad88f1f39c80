#pragma once
// Reads values of the configuration. All throw invalid_argument "argument <key> is invalid: <rule>".
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/base/json.h"

namespace svc::process {

std::string read_text(std::string_view key, const Json& value);
std::string read_path(std::string_view key, const Json& value);  // not empty, absolute or relative
std::string read_one_of(std::string_view key, const Json& value, const std::vector<std::string>& allowed);
std::uint64_t read_count(std::string_view key, const Json& value, std::uint64_t least, std::uint64_t most);
double read_share(std::string_view key, const Json& value);         // 0..1
double read_rate(std::string_view key, const Json& value);          // above 0, at most 100
std::uint64_t read_size(std::string_view key, const Json& value);   // bytes: an integer, or "16GB"
Duration read_duration(std::string_view key, const Json& value);    // seconds as an integer, or "1h30m"
std::string read_address(std::string_view key, const Json& value);  // "HOST:PORT"; "none" gives ""
std::vector<std::string> read_addresses(std::string_view key,
                                        const Json& value);        // one or a list; "none" gives {}
std::string read_subnet(std::string_view key, const Json& value);  // private IPv4 CIDR, prefix 8..30
std::string read_ip(std::string_view key, const Json& value);      // "" or an IPv4 address
std::string read_bridge(std::string_view key, const Json& value);
std::string read_node_name(std::string_view key, const Json& value);

std::string flag_name(std::string_view key);  // "--state-dir" of "state_dir"
// Throws invalid_argument "<file>:<line>: <message>"; 0: the line is unknown.
[[noreturn]] void throw_at(const std::filesystem::path& file, std::size_t line, std::string_view message);

}  // namespace svc::process
