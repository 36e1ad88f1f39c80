// What service and agent tell each other: the session file and the status report.
#include <array>
#include <limits>

#include "libsvc/base/error.h"
#include "libsvc/model/instance.h"

namespace svc {

namespace {

constexpr std::array<std::string_view, 3> report_states{"running", "error", "stopped"};

bool is_report_state(std::string_view status) {
    for (const std::string_view known : report_states)
        if (known == status) return true;
    return false;
}

int small_number(const JsonFields& fields, std::string_view key, int fallback, std::int64_t lowest,
                 std::int64_t highest) {
    const std::int64_t value = fields.integer(key).value_or(fallback);
    if (value < lowest || value > highest) throw_invalid(fields.path_of(key), "is out of range");
    return static_cast<int>(value);
}

InstanceConfig read_config(const JsonFields& fields) {
    InstanceConfig config;
    config.platform = fields.string("platform").value_or("");
    config.boot_package = fields.string("boot_package").value_or("");
    config.boot_activity = fields.string("boot_activity").value_or("");
    config.metrics_server = fields.string("metrics_server").value_or("");
    config.features = fields.string("features").value_or("");
    config.disable_watchdog = fields.boolean("disable_watchdog").value_or(false);
    config.devmode = fields.boolean("devmode").value_or(false);
    return config;
}

ReadinessCheck read_ready(const JsonFields& fields) {
    ReadinessCheck ready;
    ready.file = fields.string("file").value_or("");
    ready.command = fields.string("command").value_or("");
    ready.port = static_cast<std::uint16_t>(small_number(fields, "port", 0, 0, 65535));
    return ready;
}

}  // namespace

InstanceReport InstanceReport::from_json(const Json& body) {
    const JsonFields fields(body);
    InstanceReport report;
    report.status = fields.string("status");
    if (report.status && !is_report_state(*report.status))
        throw_invalid("status", "must be running, error or stopped");
    report.error_code = small_number(fields, "error_code", 0, 0, std::numeric_limits<int>::max());
    report.error_message = fields.string("error_message").value_or("");
    return report;
}

Json InstanceReport::to_json() const {
    return Json::object({{"status", status ? Json(*status) : Json()},
                         {"error_code", error_code},
                         {"error_message", error_message}});
}

Json AgentSession::to_json() const {
    return Json::object({
        {"instance_id", instance_id},
        {"instance_type", instance_type},
        {"service_socket", service_socket},
        {"service_urls", JsonArray(service_urls.begin(), service_urls.end())},
        {"service_fingerprint", service_fingerprint},
        {"token", token},
        {"platform", config.platform},
        {"boot_package", config.boot_package},
        {"boot_activity", config.boot_activity},
        {"metrics_server", config.metrics_server},
        {"features", config.features},
        {"disable_watchdog", config.disable_watchdog},
        {"devmode", config.devmode},
        {"ready",
         Json::object({{"file", ready.file}, {"command", ready.command}, {"port", int{ready.port}}})},
        {"boot_timeout_seconds", boot_timeout_seconds},
    });
}

AgentSession AgentSession::from_json(const Json& value) {
    const JsonFields fields(value);
    AgentSession session;
    session.instance_id = fields.require_string("instance_id");
    session.instance_type = fields.string("instance_type").value_or("regular");
    session.service_socket = fields.string("service_socket").value_or("");
    session.service_urls = fields.strings("service_urls").value_or(std::vector<std::string>());
    session.service_fingerprint = fields.string("service_fingerprint").value_or("");
    session.token = fields.require_string("token");
    session.config = read_config(fields);
    if (const auto ready = fields.object("ready")) session.ready = read_ready(*ready);
    session.boot_timeout_seconds =
        small_number(fields, "boot_timeout_seconds", session.boot_timeout_seconds, 1, 86400);
    return session;
}

}  // namespace svc
