#pragma once
// The rules of accounts (facts 6.1).
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

// Names one account for good, also when it is deleted and another one gets its name: "alice/<16 hex>".
std::string account_key(const Account& account);
std::string account_name(std::string_view key);  // "" of ""

// Thread-safe.
class AccountService {
  public:
    AccountService(Store& store, const TokenMint& mint, const Clock& clock);

    struct Created {
        Account account;
        std::string token;  // told once, kept nowhere
    };
    Created create(const AccountCreate& request);  // throws conflict "account already exists"
    std::vector<Account> list() const;
    Account get(std::string_view name) const;  // throws invalid_argument "account ... is unknown"
    void remove(std::string_view name);        // throws not_found; its token is worth nothing from now on
    // Throws unauthenticated "Authorization failed".
    Account authenticate(std::string_view token) const;
    bool has(std::string_view key) const;  // the very account, not another one of its name
    std::size_t size() const { return accounts_.size(); }

  private:
    Collection<Account> accounts_;
    const TokenMint& mint_;
    const Clock& clock_;
};

}  // namespace svc
