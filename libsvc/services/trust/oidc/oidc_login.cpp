#include "libsvc/services/trust/oidc/oidc_login.h"

#include <algorithm>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/services/trust/oidc/provider.h"

namespace svc {

namespace {

constexpr std::size_t threads = 4, max_waiting = 100;
constexpr int max_of_source = 4;
constexpr std::size_t id_bytes = 32;
constexpr std::size_t max_path = 512, max_url = 1024;
constexpr std::string_view console = "/ui/";

ProviderOptions options_of(const ConfigValues& config) {
    return {config.text("oidc.issuer"),
            {config.text("oidc.ca"), config.text("core.proxy_http"), config.text("core.proxy_https"),
             config.list("core.proxy_ignore_hosts")}};
}

bool is_printable(std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f' && c != '"' && c != '\\'; });
}

// A login leads into the console and nowhere else; neither to a link that logs in another user (#login=), nor
// to the text of an error (#login-error=).
std::string checked_path(const std::string& path) {
    if (path.empty()) return std::string(console);
    const bool climbs = path.find("/..") != std::string::npos;
    const bool logs_in = path.find("#login") != std::string::npos;
    if (!path.starts_with(console) || path.size() > max_path || climbs || logs_in || !is_printable(path))
        throw_invalid("return", "it must be a path below /ui/");
    return path;
}

std::string checked_url(const std::string& url) {
    if (url.size() > max_url || !is_printable(url)) throw_invalid("Host", "it is no host");
    return url;
}

std::string challenge_of(const std::string& verifier) {
    return base64url_encode(sha256_bytes(verifier));
}

std::string with_parameters(std::string url,
                            const std::vector<std::pair<std::string, std::string>>& parameters) {
    char separator = url.find('?') == std::string::npos ? '?' : '&';
    for (const auto& [name, value] : parameters) {
        url += separator + name + "=" + percent_encode(value);
        separator = '&';
    }
    return url;
}

PendingLogin new_login(const ConfigValues& config, const std::string& callback_url,
                       const std::string& return_to, Time ends) {
    const std::string redirect_url = config.text("oidc.redirect_url");
    return {base64url_encode(random_bytes(id_bytes)), ends,
            redirect_url.empty() ? checked_url(callback_url) : redirect_url, checked_path(return_to)};
}

void check_answer(const LoginAnswer& answer, const std::string& state, const std::string& issuer) {
    const auto refuse = [](const std::string& why) { throw Error(ErrorCode::forbidden, why); };
    if (!equal_constant_time(answer.state, state))
        refuse("this answer belongs to another login (state): log in again");
    if (!answer.error.empty()) refuse("OpenID provider has refused the login: " + quoted(answer.error));
    if (!answer.issuer.empty() && answer.issuer != issuer)
        refuse("this answer is of another OpenID provider: " + quoted(answer.issuer));
    if (answer.code.empty()) refuse("answer of the OpenID provider has no code");
}

}  // namespace

OidcLogin::OidcLogin(const ConfigService& config, const std::string& key, const Clock& clock,
                     IdentityServerFactory open)
    : config_(config),
      seal_(key),
      clock_(clock),
      open_(std::move(open)),
      threads_("login", threads, max_waiting) {}

OidcLogin::~OidcLogin() {
    stop();
}

void OidcLogin::stop() {
    stopping_ = true;
    threads_.stop();
}

bool OidcLogin::is_configured() const {
    const ConfigValues config = config_.values();
    return config.is_set("oidc.issuer") && config.is_set("oidc.client_id");
}

// A place among the logins under way: whoever asks again and again keeps nobody else out.
std::shared_ptr<void> OidcLogin::place_of(const std::string& source) {
    const bool taken = under_way_.with([&](auto& jobs) {
        int& count = jobs[source];
        return count < max_of_source && ++count > 0;
    });
    if (!taken) throw Error(ErrorCode::exhausted, "too many logins from " + source);
    return {nullptr, [this, source](void*) {
                under_way_.with([&](auto& jobs) {
                    if (--jobs.at(source) == 0) jobs.erase(source);
                });
            }};
}

void OidcLogin::run(const std::string& source, std::function<void()> job) {
    if (!threads_.post([place = place_of(source), job = std::move(job)] { job(); }))
        throw Error(ErrorCode::exhausted, "server is too busy");
}

void OidcLogin::check_running() const {
    if (stopping_) throw Error(ErrorCode::unavailable, "service is stopping");
}

std::shared_ptr<OpenIdProvider> OidcLogin::provider(const ConfigValues& config) {
    if (!config.is_set("oidc.issuer") || !config.is_set("oidc.client_id"))
        throw Error(ErrorCode::not_found, "no OpenID provider is configured (oidc.issuer, oidc.client_id)");
    ProviderOptions options = options_of(config);
    return provider_.with([&](auto& provider) {
        if (!provider || provider->options() != options)
            provider = std::make_shared<OpenIdProvider>(std::move(options), open_, clock_);
        return provider;
    });
}

BegunLogin OidcLogin::begun(const std::string& endpoint, const PendingLogin& login,
                            const ConfigValues& config) const {
    return {with_parameters(endpoint, {{"response_type", "code"},
                                       {"client_id", config.text("oidc.client_id")},
                                       {"redirect_uri", login.redirect_url},
                                       {"scope", config.text("oidc.scopes")},
                                       {"state", seal_.state(login)},
                                       {"nonce", seal_.nonce(login)},
                                       {"code_challenge", challenge_of(seal_.verifier(login))},
                                       {"code_challenge_method", "S256"}}),
            seal_.close(login)};
}

BegunLogin OidcLogin::begin(const std::string& callback_url, const std::string& return_to) {
    check_running();
    const ConfigValues config = config_.values();
    const PendingLogin login = new_login(config, callback_url, return_to, clock_.now() + pending);
    return begun(provider(config)->document().authorization_endpoint, login, config);
}

std::optional<BegunLogin> OidcLogin::begin_at_once(const std::string& callback_url,
                                                   const std::string& return_to) {
    check_running();
    const ConfigValues config = config_.values();
    const PendingLogin login = new_login(config, callback_url, return_to, clock_.now() + pending);
    const auto document = provider(config)->kept_document();
    if (!document) return std::nullopt;
    return begun(document->authorization_endpoint, login, config);
}

EndedLogin OidcLogin::end(const LoginAnswer& answer) {
    check_running();
    const PendingLogin login = seal_.open(answer.cookie, clock_.now());
    const ConfigValues config = config_.values();
    const std::string issuer = config.text("oidc.issuer"), client = config.text("oidc.client_id");
    check_answer(answer, seal_.state(login), issuer);
    const auto provider = this->provider(config);
    const std::string token = provider->id_token(
        {answer.code, seal_.verifier(login), login.redirect_url, client, config.text("oidc.client_secret")});
    const Json claims = provider->checked_claims(token, {issuer, client, seal_.nonce(login), clock_.now()});
    return {user_of(claims, config), login.return_to};
}

}  // namespace svc
