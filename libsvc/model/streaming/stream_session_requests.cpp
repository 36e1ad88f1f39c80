// Requests about streaming sessions: decoding and checks.
#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/model/instances/screen_limits.h"
#include "libsvc/model/streaming/stream_session.h"
#include "libsvc/model/values/names.h"
#include "libsvc/model/values/numbers.h"

namespace svc {

namespace {

constexpr int min_density = 72;
constexpr int max_density = 10'000;
constexpr int max_fps = 1000;
constexpr int max_idle_minutes = 366 * 24 * 60;  // a year
constexpr std::size_t max_region = 253;

constexpr std::array<std::string_view, 10> sort_fields{
    "id",       "app",    "region",         "cluster_id", "container_id",
    "joinable", "status", "status_message", "created_at", "client_connected"};

// Encoders need sizes that are even.
std::optional<int> length(const JsonFields& fields, std::string_view key) {
    const auto value = bounded(fields, key, 1, max_long_side);
    return value ? std::optional(*value + *value % 2) : std::nullopt;
}

[[noreturn]] void throw_bad_query(std::string_view name, std::string_view text, std::string_view rule) {
    throw_invalid(name, quoted(text) + " " + std::string(rule));
}

// An empty text: not given.
std::string text_of(const std::map<std::string, std::string>& query, const std::string& name) {
    const auto found = query.find(name);
    return found == query.end() ? std::string() : found->second;
}

std::optional<std::size_t> count_of(const std::map<std::string, std::string>& query,
                                    const std::string& name) {
    const std::string text = text_of(query, name);
    if (text.empty()) return std::nullopt;
    std::size_t count = 0;
    const char* const end = text.data() + text.size();
    const auto [after, problem] = std::from_chars(text.data(), end, count);
    if (problem != std::errc() || after != end) throw_bad_query(name, text, "is not a whole number");
    return count;
}

std::optional<bool> flag_of(const std::map<std::string, std::string>& query, const std::string& name) {
    const std::string text = text_of(query, name);
    if (text.empty()) return std::nullopt;
    if (text == "true" || text == "1") return true;
    if (text == "false" || text == "0") return false;
    throw_bad_query(name, text, "is neither true nor false");
}

std::string sort_field(const std::string& text) {
    if (std::find(sort_fields.begin(), sort_fields.end(), text) == sort_fields.end())
        throw_bad_query("sort_by", text, "is no field of a session");
    return text;
}

bool is_descending(const std::string& text) {
    if (text != "asc" && text != "desc") throw_bad_query("sort_order", text, "is neither asc nor desc");
    return text == "desc";
}

}  // namespace

ScreenPatch ScreenPatch::from_json(const JsonFields& fields) {
    bounded(fields, "fps", 1, max_fps);
    return {length(fields, "width"), length(fields, "height"),
            bounded(fields, "density", min_density, max_density)};
}

Screen ScreenPatch::applied_to(Screen screen) const {
    screen.width = width.value_or(screen.width);
    screen.height = height.value_or(screen.height);
    screen.density = density.value_or(screen.density);
    if (!is_within_screen_limits(screen.width, screen.height))
        throw_invalid("screen", "must be at most " + std::to_string(max_long_side) + "x" +
                                    std::to_string(max_short_side) + ", lying or standing");
    return screen;
}

Screen Screen::from_json(const JsonFields& fields) {
    Screen screen = ScreenPatch::from_json(fields).applied_to({});
    screen.fps = bounded(fields, "fps", 1, max_fps).value_or(screen.fps);
    return screen;
}

Json Screen::to_json() const {
    return Json::object({{"width", width}, {"height", height}, {"density", density}, {"fps", fps}});
}

SessionCreate SessionCreate::from_json(const Json& body) {
    const JsonFields fields(body);
    SessionCreate request;
    request.app = fields.require_string("app");
    check_application_name("app", request.app);
    request.app_version = bounded(fields, "app_version", 0, std::numeric_limits<int>::max());
    request.region = fields.string("region").value_or("");
    if (request.region.size() > max_region || has_control_characters(request.region))
        throw_invalid("region", "is no region's name");
    request.joinable = fields.boolean("joinable").value_or(false);
    request.idle_time_min = bounded(fields, "idle_time_min", 0, max_idle_minutes);
    request.ephemeral = fields.boolean("ephemeral").value_or(true);
    if (const Json* extra = fields.raw("extra_data")) request.extra_data = *extra;
    if (const auto screen = fields.object("screen")) request.screen = Screen::from_json(*screen);
    request.account = fields.string("account").value_or("");
    if (!request.account.empty()) check_account_name("account", request.account);
    return request;
}

SessionJoin SessionJoin::from_json(const Json& body) {
    SessionJoin request;
    if (body.is_null()) return request;
    const JsonFields fields(body);
    const std::string mode = fields.string("mode").value_or("control");
    if (mode != "control" && mode != "watch") throw_invalid("mode", "must be control or watch");
    request.watches = mode == "watch";
    if (const auto screen = fields.object("screen")) request.screen = ScreenPatch::from_json(*screen);
    return request;
}

SessionQuery SessionQuery::from_query(const std::map<std::string, std::string>& query) {
    SessionQuery wanted;
    if (const std::string status = text_of(query, "status"); !status.empty()) {
        wanted.status = parse_session_status(status);
        if (!wanted.status) throw_bad_query("status", status, "is no status of a session");
    }
    const auto older_name = flag_of(query, "recursive");
    wanted.recursion = flag_of(query, "recursion").value_or(older_name.value_or(false));
    wanted.limit = count_of(query, "limit");
    wanted.offset = count_of(query, "offset").value_or(0);
    if (const std::string field = text_of(query, "sort_by"); !field.empty())
        wanted.sort_by = sort_field(field);
    if (const std::string order = text_of(query, "sort_order"); !order.empty())
        wanted.descending = is_descending(order);
    return wanted;
}

}  // namespace svc
