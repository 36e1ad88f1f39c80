#include "libsvc/services/trust/oidc/provider.h"

#include <utility>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/model/cluster/oidc.h"

namespace svc {

namespace {

constexpr Duration kept_for = std::chrono::hours(1);
constexpr Duration between_searches = std::chrono::seconds(30);  // for a key that is not known

std::string endpoint(const JsonFields& fields, std::string_view name) {
    const std::string url = fields.require_string(name);
    if (!is_provider_url(url)) throw_invalid(name, "must be a URL with https://");
    return url;
}

std::string without_slash(std::string url) {
    if (url.ends_with('/')) url.pop_back();
    return url;
}

// RFC 6749 section 2.3.1: both are encoded as in forms.
std::string authorization(const CodeExchange& exchange) {
    if (exchange.client_secret.empty()) return "";
    return "Basic " +
           base64_encode(percent_encode(exchange.client_id) + ":" + percent_encode(exchange.client_secret));
}

std::string form_of(const CodeExchange& exchange) {
    std::string form = "grant_type=authorization_code&code=" + percent_encode(exchange.code) +
                       "&redirect_uri=" + percent_encode(exchange.redirect_url) +
                       "&code_verifier=" + percent_encode(exchange.verifier);
    if (exchange.client_secret.empty()) form += "&client_id=" + percent_encode(exchange.client_id);
    return form;
}

}  // namespace

ProviderDocument ProviderDocument::parse(std::string_view text, const std::string& issuer) {
    return with_context("discovery document of the OpenID provider makes no sense", [&] {
        const Json json = Json::parse(text);
        const JsonFields fields(json);
        if (const std::string named = fields.require_string("issuer"); named != issuer)
            throw Error(ErrorCode::invalid_argument,
                        "it is of the issuer " + quoted(named) + ", but oidc.issuer is " + quoted(issuer));
        return ProviderDocument{endpoint(fields, "authorization_endpoint"),
                                endpoint(fields, "token_endpoint"), endpoint(fields, "jwks_uri")};
    });
}

OpenIdProvider::OpenIdProvider(ProviderOptions options, const IdentityServerFactory& open, const Clock& clock)
    : options_(std::move(options)), server_(open(options_.server)), clock_(clock) {}

std::optional<ProviderDocument> OpenIdProvider::kept_document() const {
    return document_.with([now = clock_.steady_now()](const auto& document) {
        return document.value && now - document.read_at < kept_for ? document.value : std::nullopt;
    });
}

// No lock is held while the provider answers: two logins at once may read it twice.
ProviderDocument OpenIdProvider::document() {
    if (const auto kept = kept_document()) return *kept;
    const SteadyTime now = clock_.steady_now();
    const std::string url = without_slash(options_.issuer) + "/.well-known/openid-configuration";
    const auto read = ProviderDocument::parse(server_->get(url), options_.issuer);
    document_.with([&](auto& document) { document = {read, now, now}; });
    return read;
}

std::string OpenIdProvider::id_token(const CodeExchange& exchange) {
    const std::string url = document().token_endpoint;
    const std::string answer = server_->post_form(url, authorization(exchange), form_of(exchange));
    return with_context("answer of the OpenID provider makes no sense", [&] {
        const Json json = Json::parse(answer);
        return JsonFields(json).require_string("id_token");
    });
}

OpenIdProvider::Keys OpenIdProvider::keys(bool searching) {
    const SteadyTime now = clock_.steady_now();
    const auto kept = keys_.with([&](auto& keys) {
        const bool stale = now - keys.read_at >= kept_for;
        if (keys.value && !stale && !(searching && now - keys.tried_at >= between_searches))
            return *keys.value;
        keys.tried_at = now;  // others go on with these keys meanwhile
        return Keys();
    });
    return kept ? kept : read_keys();
}

OpenIdProvider::Keys OpenIdProvider::read_keys() {
    const SteadyTime now = clock_.steady_now();
    const std::string text = server_->get(document().key_set);
    const Keys read = std::make_shared<const std::vector<WebKey>>(
        with_context("key set of the OpenID provider makes no sense", [&] { return parse_key_set(text); }));
    keys_.with([&](auto& keys) { keys = {read, now, now}; });
    return read;
}

Json OpenIdProvider::checked_claims(const std::string& text, const ExpectedToken& expected) {
    UncheckedToken token = parse_id_token(text);
    if (!is_signed_by_one_of(*keys(false), token) && !is_signed_by_one_of(*keys(true), token))
        throw Error(ErrorCode::forbidden, "ID token is not signed by a key of the OpenID provider");
    check_claims(token.claims, expected);
    return std::move(token.claims);
}

}  // namespace svc
