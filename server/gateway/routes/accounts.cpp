// Accounts, on the local socket alone.
#include "server/gateway/response.h"
#include "server/gateway/routes/routes.h"
#include "server/http/query.h"

namespace svc::gateway {

namespace {

constexpr std::uint64_t max_body = 16U << 10;

Response list_accounts(const AccountService& accounts) {
    Json list = Json::array();
    const std::vector<Account> all = accounts.list();
    for (const Account& account : all) list.push_back(to_json(account));
    return page(list, all.size());
}

Response create_account(AccountService& accounts, const Request& request) {
    const auto created = accounts.create(AccountCreate::from_json(server::json_body(request)));
    Json metadata = to_json(created.account);
    metadata.set("token", created.token);
    return success(201, metadata);
}

Response delete_account(const RouteContext& context, const Request& request) {
    context.accounts.remove(request.params.at("name"));
    context.sessions->end_ownerless();
    return success();
}

}  // namespace

std::vector<Route> account_routes(const RouteContext& context) {
    AccountService& accounts = context.accounts;
    return {{Method::get, "/1.0/accounts", Access::admin, Dispatch::on_pool, "get_accounts",
             [&accounts](Request&) { return list_accounts(accounts); }},
            {Method::post, "/1.0/accounts", Access::admin, Dispatch::on_pool, "create_account",
             [&accounts](Request& request) { return create_account(accounts, request); }, max_body},
            {Method::delete_, "/1.0/accounts/{name}", Access::admin, Dispatch::on_pool, "delete_account",
             [&context](Request& request) { return delete_account(context, request); }}};
}

}  // namespace svc::gateway
