#include "libsvc/model/cluster/browser_session.h"

#include <array>

#include "libsvc/base/enum_table.h"
#include "libsvc/base/error.h"
#include "libsvc/model/values/names.h"

namespace svc {

namespace {

constexpr int browser_session_schema = 5;  // older versions know no keys: the cookie alone would count
constexpr std::size_t max_user_name = 100;

constexpr std::array<EnumName<LoginMethod>, 2> login_methods{{
    {LoginMethod::link, "link"},
    {LoginMethod::oidc, "oidc"},
}};

LoginMethod login_method_of(std::string_view text) {
    if (const auto method = enum_value<LoginMethod>(login_methods, text)) return *method;
    throw_invalid("method", "one of link, oidc is expected");
}

}  // namespace

std::string_view to_text(LoginMethod method) {
    return enum_text<LoginMethod>(login_methods, method);
}

Json to_json(const BrowserSession& session) {
    return Json::object({{"id", session.id},
                         {"name", session.name},
                         {"role", to_text(session.role)},
                         {"method", to_text(session.method)},
                         {"address", session.address},
                         {"user_agent", session.user_agent},
                         {"created_at", to_unix_seconds(session.created_at)},
                         {"used_at", to_unix_seconds(session.used_at)},
                         {"expires_at", to_unix_seconds(session.expires_at)}});
}

Json browser_session_to_store(const BrowserSession& session) {
    return Json::object({{"schema", browser_session_schema},
                         {"id", session.id},
                         {"secret_hash", session.secret_hash},
                         {"key_hash", session.key_hash},
                         {"name", session.name},
                         {"role", to_text(session.role)},
                         {"method", to_text(session.method)},
                         {"certificate", session.certificate},
                         {"parent", session.parent},
                         {"address", session.address},
                         {"user_agent", session.user_agent},
                         {"created_at", to_rfc3339(session.created_at)},
                         {"used_at", to_rfc3339(session.used_at)},
                         {"expires_at", to_rfc3339(session.expires_at)}});
}

BrowserSession browser_session_from_store(const Json& stored) {
    const JsonFields fields(stored);
    BrowserSession session;
    session.id = fields.require_string("id");
    session.secret_hash = fields.require_string("secret_hash");
    session.key_hash = fields.string("key_hash").value_or("");
    session.name = fields.require_string("name");
    session.role = parse_role(fields.require_string("role"));
    session.method = login_method_of(fields.require_string("method"));
    session.certificate = fields.string("certificate").value_or("");
    session.parent = fields.string("parent").value_or("");
    session.address = fields.string("address").value_or("");
    session.user_agent = fields.string("user_agent").value_or("");
    session.created_at = from_rfc3339(fields.require_string("created_at"));
    session.used_at = from_rfc3339(fields.require_string("used_at"));
    session.expires_at = from_rfc3339(fields.require_string("expires_at"));
    return session;
}

LinkRequest LinkRequest::from_json(const Json& body) {
    const JsonFields fields(body);
    LinkRequest request;
    if (const auto role = fields.string("role")) request.role = parse_role(*role);
    request.name = fields.string("name").value_or("");
    if (has_control_characters(request.name)) throw_invalid("name", "control characters are not allowed");
    if (request.name.size() > max_user_name) throw_invalid("name", "it is longer than 100 bytes");
    return request;
}

}  // namespace svc
