#include "libsvc/streaming/account_service.h"

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"

namespace svc {

namespace {

constexpr std::chrono::hours usual_life{24 * 365};
constexpr std::chrono::hours longest_life{24 * 365 * 100};

std::optional<Duration> as_duration(const std::string& text) {
    try {
        return parse_duration(text);
    } catch (const Error&) {
        return {};
    }
}

Time as_time(const std::string& text) {
    try {
        return from_rfc3339(text);
    } catch (const Error&) {
        throw_invalid("expiry", "a duration as 720h or a time as 2030-01-02T03:04:05Z expected");
    }
}

Time expiry(const std::string& text, Time now) {
    if (text.empty()) return now + usual_life;
    if (const auto life = as_duration(text)) {
        if (*life > longest_life) throw_invalid("expiry", "must be within 100 years");
        if (*life <= Duration(0)) throw_invalid("expiry", "must be in the future");
        return now + *life;
    }
    const Time expires = as_time(text);
    if (expires <= now) throw_invalid("expiry", "must be in the future");
    return expires;
}

// The fraction of the second is random, so that an account that is deleted and created again with the same
// expiry gets another token.
Duration some_nanoseconds() {
    std::uint32_t number = 0;
    for (const char byte : random_bytes(sizeof number))
        number = number << 8U | static_cast<unsigned char>(byte);
    return Duration(number % 999'999'999U + 1);
}

constexpr std::size_t key_digits = 16;

}  // namespace

std::string account_key(const Account& account) {
    return account.name + "/" + account.token_digest.substr(0, key_digits);
}

std::string account_name(std::string_view key) {
    return std::string(key.substr(0, key.find('/')));
}

AccountService::AccountService(Store& store, const TokenMint& mint, const Clock& clock)
    : accounts_(store), mint_(mint), clock_(clock) {}

AccountService::Created AccountService::create(const AccountCreate& request) {
    Account account;
    account.name = request.name;
    account.admin = request.admin;
    account.created_at = clock_.now();
    account.expires_at = expiry(request.expiry, account.created_at);
    std::string token = mint_.account_token(account.name, account.expires_at + some_nanoseconds());
    account.token_digest = token_digest(token);
    accounts_.create(account);
    log::info("account created", {{"account", account.name}});
    return {std::move(account), std::move(token)};
}

std::vector<Account> AccountService::list() const {
    std::vector<Account> accounts;
    for (const auto& account : accounts_.list()) accounts.push_back(*account);
    return accounts;
}

Account AccountService::get(std::string_view name) const {
    const auto account = accounts_.find(name);
    if (!account) throw Error(ErrorCode::invalid_argument, "account " + quoted(name) + " is unknown");
    return *account;
}

void AccountService::remove(std::string_view name) {
    if (!accounts_.find_unreadable(name)) accounts_.get(name);
    accounts_.remove(name);
    log::info("account removed", {{"account", std::string(name)}});
}

// The name alone proves nothing: an account that was deleted and created again has another token.
Account AccountService::authenticate(std::string_view token) const {
    const Time now = clock_.now();
    const auto account = accounts_.find(mint_.read_account_token(token, now).account);
    if (!account || account->expires_at <= now ||
        !equal_constant_time(account->token_digest, token_digest(token)))
        throw Error(ErrorCode::unauthenticated, "Authorization failed");
    return *account;
}

bool AccountService::has(std::string_view key) const {
    const auto account = accounts_.find(key.substr(0, key.find('/')));
    return account && account_key(*account) == key;
}

}  // namespace svc
