#include "instance-agent/agent/logging/log_setting.h"

#include <array>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/strings.h"

namespace svc::agent {
namespace {

constexpr const char* default_name = "info";

// The agent writes no lines below debug and none above error: trace counts as debug, fatal as error.
constexpr std::array<std::pair<std::string_view, log::Level>, 6> levels{{{"trace", log::Level::debug},
                                                                         {"debug", log::Level::debug},
                                                                         {"info", log::Level::info},
                                                                         {"warning", log::Level::warning},
                                                                         {"error", log::Level::error},
                                                                         {"fatal", log::Level::error}}};

std::string read_kept(const std::filesystem::path& file) try {
    std::string name = read_file(file, 64);
    (void)log_level_of(name);
    return name;
} catch (const Error&) {
    return default_name;
}

}  // namespace

log::Level log_level_of(const std::string& name) {
    for (const auto& [known, level] : levels)
        if (known == name) return level;
    throw Error(ErrorCode::invalid_argument, "Invalid log level " + quoted(name));
}

LogSetting::LogSetting(std::filesystem::path file, const std::string& given)
    : file_(std::move(file)), name_(given.empty() ? read_kept(file_) : given) {
    log::set_level(log_level_of(name()));
}

std::string LogSetting::name() const {
    return name_.with([](const std::string& name) { return name; });
}

void LogSetting::set(const std::string& name) {
    log::set_level(log_level_of(name));
    name_.with([&](std::string& present) { present = name; });
    try {
        make_directories(file_.parent_path());
        write_file_atomically(file_, name);
    } catch (const std::exception& e) {
        log::warning("log level is not kept", {{"error", e.what()}});
    }
}

}  // namespace svc::agent
