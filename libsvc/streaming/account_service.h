#pragma once
// Accounts of the gateway: who may ask, by a token that is shown once (docs/streaming.md, "Tokens").
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/model/streaming/account.h"
#include "libsvc/store/collection.h"
#include "libsvc/streaming/tokens.h"

namespace svc {

template <>
struct RecordTraits<Account> {
    static constexpr std::string_view noun = "account";
    static constexpr std::string_view prefix = "accounts/";
    static const std::string& id(const Account& account) { return account.name; }
    static std::string name(const Account&) { return ""; }
    static Json to_store(const Account& account) { return account_to_store(account); }
    static Account from_store(const Json& stored) { return account_from_store(stored); }
};

// Identifies one account, also when it is deleted and another account gets its name: "alice/<16 hex>".
std::string account_key(const Account& account);
std::string account_name(std::string_view key);  // "" of ""

// Thread-safe.
class AccountService {
  public:
    AccountService(Store& store, const TokenMint& mint, const Clock& clock);

    struct Created {
        Account account;
        std::string token;  // shown once, not stored
    };
    Created create(const AccountCreate& request);  // throws conflict "account already exists"
    std::vector<Account> list() const;
    Account get(std::string_view name) const;  // throws invalid_argument "account ... is unknown"
    void remove(std::string_view name);        // throws not_found; its token is invalid from now on
    // Throws unauthenticated "Authorization failed".
    Account authenticate(std::string_view token) const;
    bool has(std::string_view key) const;  // this account, not a later one of the same name
    std::size_t size() const { return accounts_.size(); }

  private:
    Collection<Account> accounts_;
    const TokenMint& mint_;
    const Clock& clock_;
};

}  // namespace svc
