#include "libsvc/formats/apk.h"

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/processes/process.h"
#include "libsvc/base/strings.h"

namespace svc {

namespace {

constexpr std::size_t max_badging = std::size_t{1} << 20;  // run_command() drops what is beyond it
constexpr std::size_t max_abis = 32;
constexpr std::size_t max_permissions = 4000;

// Takes one 'text' in quotes off the front. Nothing: there is none.
std::optional<std::string> take_quoted(std::string_view& rest) {
    const std::size_t begin = rest.find('\'');
    const std::size_t end = begin == rest.npos ? rest.npos : rest.find('\'', begin + 1);
    if (end == rest.npos) return std::nullopt;
    std::string text(rest.substr(begin + 1, end - begin - 1));
    rest.remove_prefix(end + 1);
    return text;
}

// "package: name='com.example' versionCode='1'": the value of `name`, the first attribute.
std::string name_in(std::string_view rest) {
    return trim(rest).starts_with("name='") ? take_quoted(rest).value_or("") : "";
}

void add_once(std::vector<std::string>& names, std::string name, std::size_t limit) {
    if (name.empty() || names.size() >= limit) return;
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
}

void take_line(ApkFacts& facts, std::string_view line) {
    const std::size_t colon = line.find(':');
    if (colon == line.npos) return;
    const std::string_view key = line.substr(0, colon);
    std::string_view rest = line.substr(colon + 1);
    if (key == "package" && facts.package.empty()) facts.package = name_in(rest);
    if (key == "launchable-activity" && facts.activity.empty()) facts.activity = name_in(rest);
    if (key == "uses-permission" || key == "uses-permission-sdk-23")
        add_once(facts.permissions, name_in(rest), max_permissions);
    if (key == "native-code" || key == "alt-native-code")
        while (auto abi = take_quoted(rest)) add_once(facts.abis, std::move(*abi), max_abis);
}

std::string failure_of(const CommandResult& result) {
    if (result.status.signal != 0) return "ended by signal " + std::to_string(result.status.signal);
    const std::string_view first = std::string_view(result.errors).substr(0, result.errors.find('\n'));
    return first.empty() ? "exit code " + std::to_string(result.status.code) : quoted(first);
}

}  // namespace

ApkFacts parse_badging(std::string_view text) {
    ApkFacts facts;
    for (const std::string& line : split(text, '\n')) take_line(facts, line);
    if (facts.package.empty()) throw Error(ErrorCode::invalid_argument, "app.apk names no package");
    return facts;
}

bool ApkReader::installed() const {
    return ::access(parser_.c_str(), X_OK) == 0;
}

ApkFacts ApkReader::read(int apk) const {
    SpawnOptions options;
    options.arguments = {parser_.native(), "dump", "badging", "/dev/stdin"};
    options.descriptors = {{apk, 0}};
    options.directory = "/";
    options.ends_with_us = true;
    options.confinement = Confinement{};
    const std::lock_guard turn(turn_);
    const CommandResult result = run_command(std::move(options), limit_);
    const std::string parser = quoted(parser_.filename().native());
    if (result.status.code != 0)
        throw Error(ErrorCode::invalid_argument, parser + " failed: " + failure_of(result));
    if (result.output.size() >= max_badging)
        throw Error(ErrorCode::invalid_argument, parser + " says too much");
    return parse_badging(result.output);
}

}  // namespace svc
