#include "libsvc/model/streaming/account.h"

#include "libsvc/base/error.h"
#include "libsvc/model/values/names.h"

namespace svc {

namespace {

constexpr int account_schema = 1;

}  // namespace

Json to_json(const Account& account) {
    return Json::object({{"name", account.name},
                         {"created_at", to_rfc3339(account.created_at)},
                         {"expires_at", to_rfc3339(account.expires_at)},
                         {"admin", account.admin}});
}

Json account_to_store(const Account& account) {
    Json stored = to_json(account);
    stored.set("schema", account_schema);
    stored.set("token_digest", account.token_digest);
    return stored;
}

Account account_from_store(const Json& stored) {
    const JsonFields fields(stored);
    Account account;
    account.name = fields.require_string("name");
    account.created_at = from_rfc3339(fields.require_string("created_at"));
    account.expires_at = from_rfc3339(fields.require_string("expires_at"));
    account.admin = fields.boolean("admin").value_or(false);
    account.token_digest = fields.require_string("token_digest");
    return account;
}

AccountCreate AccountCreate::from_json(const Json& body) {
    const JsonFields fields(body);
    AccountCreate request;
    request.name = fields.require_string("name");
    check_account_name("name", request.name);
    request.expiry = fields.string("expiry").value_or("");
    request.admin = fields.boolean("admin").value_or(false);
    return request;
}

}  // namespace svc
