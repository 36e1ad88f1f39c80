// JSON forms of the session file (service to agent) and of the status report (agent to service).
#include <array>
#include <limits>

#include "libsvc/base/error.h"
#include "libsvc/model/instances/instance.h"

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

InstanceConfig read_session_config(const JsonFields& fields) {
    InstanceConfig config;
    config.platform = fields.string("platform").value_or("");
    config.boot_package = fields.string("boot_package").value_or("");
    config.boot_activity = fields.string("boot_activity").value_or("");
    config.metrics_server = fields.string("metrics_server").value_or("");
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

Json to_array(const std::vector<std::string>& items) {
    return JsonArray(items.begin(), items.end());
}

Json to_object(const std::map<std::string, std::string>& texts) {
    return Json::object(JsonMembers(texts.begin(), texts.end()));
}

std::vector<std::string> session_texts(const JsonFields& fields, std::string_view key) {
    return fields.strings(key).value_or(std::vector<std::string>());
}

Json packages_to_json(const std::vector<PackageRef>& packages) {
    JsonArray result;
    for (const PackageRef& package : packages) result.push_back(package.to_json());
    return result;
}

std::vector<PackageRef> read_packages(const JsonFields& fields) {
    std::vector<PackageRef> packages;
    const auto items = fields.objects("packages").value_or(std::vector<JsonFields>());
    for (const JsonFields& item : items) packages.push_back(PackageRef::from_json(item.value()));
    return packages;
}

Json gpus_to_json(const std::vector<int>& gpus) {
    return JsonArray(gpus.begin(), gpus.end());
}

std::vector<int> read_gpus(const JsonFields& fields) {
    std::vector<int> gpus;
    const Json* const listed = fields.raw("gpus");
    if (listed == nullptr) return gpus;
    if (!listed->is_array()) throw_invalid(fields.path_of("gpus"), "must be an array of integers");
    for (const Json& gpu : listed->as_array()) {
        if (!gpu.is_integer() || gpu.as_int() < 0 || gpu.as_int() > std::numeric_limits<int>::max())
            throw_invalid(fields.path_of("gpus"), "must be an array of integers");
        gpus.push_back(static_cast<int>(gpu.as_int()));
    }
    return gpus;
}

void read_setup(const JsonFields& fields, AgentSession& session) {
    session.packages = read_packages(fields);
    if (const Json* const app = fields.raw("app")) session.app = AppSetup::from_json(*app);
    session.features = session_texts(fields, "features");
    session.security_updates = fields.boolean("security_updates").value_or(false);
    session.apt_mirror = fields.string("apt_mirror").value_or("");
    session.network_proxy = fields.string("network_proxy").value_or("");
    session.name_servers = fields.strings("name_servers").value_or(std::vector<std::string>());
    session.gpu_type = fields.string("gpu_type").value_or("");
    session.gpus = read_gpus(fields);
}

}  // namespace

Json AppSetup::to_json() const {
    return Json::object({{"name", name},
                         {"boot_package", boot_package},
                         {"boot_activity", boot_activity},
                         {"boot", boot},
                         {"required_permissions", to_array(required_permissions)},
                         {"extra_data", extra_data.is_null() ? Json::object() : extra_data},
                         {"keep", to_array(keep)},
                         {"watchdog_disabled", watchdog_disabled},
                         {"watchdog_allowed_packages", to_array(watchdog_allowed_packages)},
                         {"watchdog_command", watchdog_command},
                         {"video_encoder", video_encoder}});
}

AppSetup AppSetup::from_json(const Json& value) {
    const JsonFields fields(value, "app");
    AppSetup app;
    app.name = fields.string("name").value_or("");
    app.boot_package = fields.string("boot_package").value_or("");
    app.boot_activity = fields.string("boot_activity").value_or("");
    app.boot = fields.string("boot").value_or("");
    app.required_permissions = session_texts(fields, "required_permissions");
    const auto extra_data = fields.object("extra_data");
    app.extra_data = extra_data ? extra_data->value() : Json::object();
    app.keep = session_texts(fields, "keep");
    app.watchdog_disabled = fields.boolean("watchdog_disabled").value_or(false);
    app.watchdog_allowed_packages = session_texts(fields, "watchdog_allowed_packages");
    app.watchdog_command = fields.string("watchdog_command").value_or("");
    app.video_encoder = fields.string("video_encoder").value_or("");
    return app;
}

InstanceReport InstanceReport::from_json(const Json& body) {
    const JsonFields fields(body);
    InstanceReport report;
    report.status = fields.string("status");
    if (report.status && !is_report_state(*report.status))
        throw_invalid("status", "must be running, error or stopped");
    report.error_code = small_number(fields, "error_code", 0, 0, std::numeric_limits<int>::max());
    report.error_message = fields.string("error_message").value_or("");
    report.notes = session_texts(fields, "notes");
    return report;
}

Json InstanceReport::to_json() const {
    Json body = Json::object({{"status", status ? Json(*status) : Json()},
                              {"error_code", error_code},
                              {"error_message", error_message}});
    if (!notes.empty()) body.set("notes", to_array(notes));
    return body;
}

Json AgentSession::to_json() const {
    return Json::object({
        {"instance_id", instance_id},
        {"instance_type", instance_type},
        {"service_socket", service_socket},
        {"service_urls", to_array(service_urls)},
        {"service_addresses", to_object(service_addresses)},
        {"service_fingerprint", service_fingerprint},
        {"token", token},
        {"platform", config.platform},
        {"boot_package", config.boot_package},
        {"boot_activity", config.boot_activity},
        {"metrics_server", config.metrics_server},
        {"disable_watchdog", config.disable_watchdog},
        {"devmode", config.devmode},
        {"image_variant", image_variant},
        {"android", android},
        {"ready",
         Json::object({{"file", ready.file}, {"command", ready.command}, {"port", int{ready.port}}})},
        {"boot_timeout_seconds", boot_timeout_seconds},
        {"packages", packages_to_json(packages)},
        {"app", app.to_json()},
        {"features", to_array(features)},  // contain those of the launch
        {"security_updates", security_updates},
        {"apt_mirror", apt_mirror},
        {"network_proxy", network_proxy},
        {"name_servers", JsonArray(name_servers.begin(), name_servers.end())},
        {"gpu_type", gpu_type},
        {"gpus", gpus_to_json(gpus)},
    });
}

AgentSession AgentSession::from_json(const Json& value) {
    const JsonFields fields(value);
    AgentSession session;
    session.instance_id = fields.require_string("instance_id");
    session.instance_type = fields.string("instance_type").value_or("regular");
    session.service_socket = fields.string("service_socket").value_or("");
    session.service_urls = session_texts(fields, "service_urls");
    session.service_addresses =
        fields.string_map("service_addresses").value_or(std::map<std::string, std::string>());
    session.service_fingerprint = fields.string("service_fingerprint").value_or("");
    session.token = fields.require_string("token");
    session.config = read_session_config(fields);
    session.image_variant = fields.string("image_variant").value_or("");
    session.android = fields.boolean("android").value_or(false);
    if (const auto ready = fields.object("ready")) session.ready = read_ready(*ready);
    session.boot_timeout_seconds =
        small_number(fields, "boot_timeout_seconds", session.boot_timeout_seconds, 1, 86400);
    read_setup(fields, session);
    return session;
}

}  // namespace svc
