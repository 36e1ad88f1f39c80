#include "libsvc/base/log.h"

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <shared_mutex>

#include "libsvc/base/enum_table.h"
#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc::log {

namespace {

constexpr std::array<EnumName<Level>, 4> level_names{
    {{Level::debug, "debug"}, {Level::info, "info"}, {Level::warning, "warning"}, {Level::error, "error"}}};

std::atomic<Level> current_level{Level::info};

// Held shared while the listener runs, so that the old listener does not run any more when `set_listener`
// returns.
std::shared_mutex listener_mutex;
Listener listener;

thread_local Fields scope_fields;
thread_local bool in_listener = false;

spdlog::level::level_enum to_spdlog(Level level) {
    switch (level) {
        case Level::debug:
            return spdlog::level::debug;
        case Level::info:
            return spdlog::level::info;
        case Level::warning:
            return spdlog::level::warn;
        case Level::error:
            break;
    }
    return spdlog::level::err;
}

std::unique_ptr<spdlog::logger> make_logger() {
    auto made = std::make_unique<spdlog::logger>("svc", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_formatter(std::make_unique<spdlog::pattern_formatter>("%Y-%m-%dT%H:%M:%S.%eZ %l %v",
                                                                    spdlog::pattern_time_type::utc));
    made->set_level(spdlog::level::trace);  // set_level() decides, not spdlog
    return made;
}

// Never destroyed: threads may log until the very end of the process.
spdlog::logger& logger() {
    static spdlog::logger* const instance = make_logger().release();
    return *instance;
}

// Escapes line ends and control characters, so that text from a client cannot forge a log line.
void append_escaped(std::string& line, std::string_view text, bool escape_quotes) {
    constexpr std::string_view digits = "0123456789abcdef";
    for (char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (escape_quotes && (c == '"' || c == '\\')) line += '\\';
        if (c == '\n') {
            line += "\\n";
        } else if (byte < 0x20 || byte == 0x7F) {
            line += "\\x";
            line += digits[byte >> 4U];
            line += digits[byte & 15U];
        } else {
            line += c;
        }
    }
}

bool needs_quotes(std::string_view text) {
    for (char c : text)
        if (static_cast<unsigned char>(c) <= ' ' || c == '"' || c == '=' || c == '\\' || c == '\x7F')
            return true;
    return text.empty();
}

void append_field(std::string& line, const Field& field) {
    const bool quotes = needs_quotes(field.second);
    line.append(" ").append(field.first).append(quotes ? "=\"" : "=");
    append_escaped(line, field.second, quotes);
    if (quotes) line += '"';
}

void tell_listener(Level level, std::string_view message, const Fields& fields) {
    if (in_listener) return;
    std::shared_lock lock(listener_mutex);
    if (!listener) return;
    in_listener = true;
    try {
        listener(level, message, fields);
    } catch (const std::exception& e) {
        logger().error("log listener failed: {}", e.what());
    }
    in_listener = false;
}

void write(Level level, std::string_view message, const Fields& fields) {
    if (level < current_level.load(std::memory_order_relaxed)) return;
    Fields all = scope_fields;
    all.insert(all.end(), fields.begin(), fields.end());
    std::string line;
    append_escaped(line, message, false);
    for (const Field& field : all) append_field(line, field);
    logger().log(to_spdlog(level), spdlog::string_view_t(line.data(), line.size()));
    tell_listener(level, message, all);
}

}  // namespace

void set_level(Level level) {
    current_level.store(level, std::memory_order_relaxed);
}

Level level() {
    return current_level.load(std::memory_order_relaxed);
}

Level parse_level(std::string_view text) {
    const auto found = enum_value(std::span<const EnumName<Level>>(level_names), text);
    if (!found) throw Error(ErrorCode::invalid_argument, "log level " + quoted(text) + " is unknown");
    return *found;
}

std::string_view to_text(Level level) {
    return enum_text(std::span<const EnumName<Level>>(level_names), level);
}

void debug(std::string_view message, const Fields& fields) {
    write(Level::debug, message, fields);
}
void info(std::string_view message, const Fields& fields) {
    write(Level::info, message, fields);
}
void warning(std::string_view message, const Fields& fields) {
    write(Level::warning, message, fields);
}
void error(std::string_view message, const Fields& fields) {
    write(Level::error, message, fields);
}

void set_listener(Listener replacement) {
    std::unique_lock lock(listener_mutex);
    listener = std::move(replacement);
}

Scope::Scope(Field field) {
    scope_fields.push_back(std::move(field));
}
Scope::~Scope() {
    scope_fields.pop_back();
}

}  // namespace svc::log
