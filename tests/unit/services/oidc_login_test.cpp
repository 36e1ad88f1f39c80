#include "libsvc/services/trust/oidc/oidc_login.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <future>

#include "libsvc/base/digest.h"
#include "libsvc/base/strings.h"
#include "tests/support/error_code.h"
#include "tests/support/eventually.h"
#include "tests/support/service_world.h"
#include "tests/support/signing_key.h"

namespace svc::test {

namespace {

constexpr const char* issuer = "https://login.example.com/realm";
constexpr const char* callback = "https://svc:8444/1.0/oidc/callback";

// A provider that is played: its documents by their URLs, and the ID token that it gives for a code.
struct PlayedProvider {
    std::map<std::string, std::string> documents;
    std::string answer;  // to the form
    std::string form, authorization;
    int key_reads = 0;
    std::optional<Error> failure;

    std::string get(const std::string& url) {
        if (failure) throw Error(*failure);
        if (url.ends_with("/keys")) ++key_reads;
        const auto found = documents.find(url);
        if (found == documents.end())
            throw Error(ErrorCode::not_found, "OpenID provider answers with status 404");
        return found->second;
    }
};

class PlayedServer final : public IdentityServer {
  public:
    explicit PlayedServer(PlayedProvider& provider) : provider_(provider) {}
    std::string get(const std::string& url) override { return provider_.get(url); }
    std::string post_form(const std::string& url, const std::string& authorization,
                          const std::string& form) override {
        CHECK(url == "https://login.example.com/token");
        provider_.form = form;
        provider_.authorization = authorization;
        return provider_.answer;
    }

  private:
    PlayedProvider& provider_;
};

std::map<std::string, std::string> parameters_of(const std::string& text) {
    std::map<std::string, std::string> found;
    for (const std::string& part : split(text.substr(text.find('?') + 1), '&')) {
        const auto equals = part.find('=');
        found[part.substr(0, equals)] = percent_decode(part.substr(equals + 1));
    }
    return found;
}

struct OidcWorld : ServiceWorld {
    PlayedProvider provider;
    SigningKey key = SigningKey::p256("k1");
    OidcLogin& login = life->oidc;

    OidcWorld() {
        open_identity_server = [this](const auto&) { return std::make_unique<PlayedServer>(provider); };
        describe(issuer);
        provider.documents["https://login.example.com/keys"] = key_set({key});
        configure("oidc.issuer", issuer);
        configure("oidc.client_id", "svc");
        configure("oidc.roles", "chiefs=admin");
    }
    void describe(const std::string& named,
                  const std::string& token_endpoint = "https://login.example.com/token") {
        provider.documents[std::string(issuer) + "/.well-known/openid-configuration"] =
            Json::object({{"issuer", named},
                          {"authorization_endpoint", "https://login.example.com/auth?x=1"},
                          {"token_endpoint", token_endpoint},
                          {"jwks_uri", "https://login.example.com/keys"}})
                .dump();
    }
    std::map<std::string, std::string> asked(const BegunLogin& begun) { return parameters_of(begun.url); }
    Json claims_for(const BegunLogin& begun) {
        const std::int64_t now = to_unix_seconds(clock.now());
        return Json::object({{"iss", issuer},
                             {"aud", "svc"},
                             {"sub", "u1"},
                             {"roles", "chiefs"},
                             {"iat", now},
                             {"exp", now + 300},
                             {"nonce", asked(begun).at("nonce")}});
    }
    void give(const std::string& token) { provider.answer = Json::object({{"id_token", token}}).dump(); }
    LoginAnswer answer_to(const BegunLogin& begun) {
        return {begun.cookie, asked(begun).at("state"), "the code", "", ""};
    }
    EndedLogin log_in() {
        const BegunLogin begun = login.begin(callback, "");
        give(key.token("ES256", claims_for(begun)));
        return login.end(answer_to(begun));
    }
    std::string refusal(const LoginAnswer& answer) {
        CHECK(code_of([&] { login.end(answer); }) == ErrorCode::forbidden);
        return message_of([&] { login.end(answer); });
    }
};

}  // namespace

TEST_CASE_METHOD(OidcWorld, "a browser is sent to the provider with what binds the answer to it") {
    const BegunLogin begun = login.begin(callback, "/ui/#/instances");
    CHECK(begun.url.starts_with("https://login.example.com/auth?x=1&response_type=code&client_id=svc&"));
    auto parameters = asked(begun);
    CHECK(parameters["redirect_uri"] == callback);
    CHECK(parameters["scope"] == "openid profile email");
    CHECK(parameters["code_challenge_method"] == "S256");

    give(key.token("ES256", claims_for(begun)));
    const EndedLogin ended = login.end(answer_to(begun));
    CHECK(ended.user.name == "u1");
    CHECK(ended.user.role == Role::admin);
    CHECK(ended.return_to == "/ui/#/instances");
    auto form = parameters_of("?" + provider.form);
    CHECK(form["grant_type"] == "authorization_code");
    CHECK(form["code"] == "the code");
    CHECK(form["client_id"] == "svc");
    CHECK(form["redirect_uri"] == callback);
    CHECK(base64url_encode(sha256_bytes(form["code_verifier"])) == parameters["code_challenge"]);
    // What the browser keeps, and what the provider sees of it, do not tell the verifier.
    CHECK((begun.cookie + begun.url).find(form["code_verifier"]) == std::string::npos);
}

TEST_CASE_METHOD(OidcWorld, "a client with a secret presents it in a header") {
    configure("oidc.client_secret", "a:b%");
    log_in();
    CHECK(provider.authorization == "Basic " + base64_encode("svc:a%3Ab%25"));
    CHECK(parameters_of("?" + provider.form).count("client_id") == 0);
    configure("oidc.client_secret", "");
    log_in();
    CHECK(provider.authorization.empty());
}

TEST_CASE_METHOD(OidcWorld, "two logins have nothing in common that could be guessed") {
    auto one = asked(login.begin(callback, "")), other = asked(login.begin(callback, ""));
    for (const char* name : {"state", "nonce", "code_challenge"}) {
        CHECK(one[name].size() == 43);
        CHECK(one[name] != other[name]);
    }
    CHECK(one["state"] != one["nonce"]);
}

TEST_CASE_METHOD(OidcWorld, "an answer counts only in the browser that has asked") {
    const BegunLogin begun = login.begin(callback, ""), other = login.begin(callback, "");
    give(key.token("ES256", claims_for(begun)));
    LoginAnswer answer = answer_to(begun);
    for (const std::string& cookie : {std::string(), std::string("x"), std::string("."), begun.cookie + "x",
                                      "x" + begun.cookie, std::string(5000, 'a')}) {
        answer.cookie = cookie;
        CHECK_THAT(refusal(answer), Catch::Contains("has not begun this login"));
    }
    answer.cookie = other.cookie;
    CHECK_THAT(refusal(answer), Catch::Contains("(state)"));
    answer = answer_to(begun);
    answer.state = "";
    CHECK_THAT(refusal(answer), Catch::Contains("(state)"));
    CHECK(provider.form.empty());  // nobody asked the provider
    // The token of one login in the answer to another.
    CHECK_THAT(refusal(answer_to(other)), Catch::Contains("(nonce)"));
}

TEST_CASE_METHOD(OidcWorld, "a login waits ten minutes, also over a restart") {
    const BegunLogin begun = login.begin(callback, "");
    clock.advance(std::chrono::minutes(9));
    give(key.token("ES256", claims_for(begun)));
    restart();
    CHECK(life->oidc.end(answer_to(begun)).user.name == "u1");
    clock.advance(std::chrono::minutes(1));
    CHECK(code_of([&] { life->oidc.end(answer_to(begun)); }) == ErrorCode::forbidden);
}

TEST_CASE_METHOD(OidcWorld, "a login leads into the console alone") {
    CHECK(log_in().return_to == "/ui/");
    for (const std::string& path :
         {std::string("//evil.example"), std::string("https://evil.example"), std::string("/"),
          std::string("/uix"), std::string("/ui/../1.0"), std::string("/ui/#login=abc"),
          std::string("/ui/#login-error=%zz"), std::string("/ui/\\evil"),
          std::string("/ui/\r\nSet-Cookie: a=b"), std::string("/ui/ x"), "/ui/" + std::string(600, 'a')})
        CHECK(code_of([&] { login.begin(callback, path); }) == ErrorCode::invalid_argument);
    CHECK(code_of([&] { login.begin("https://a b/1.0/oidc/callback", ""); }) == ErrorCode::invalid_argument);
}

TEST_CASE_METHOD(OidcWorld, "a redirect that is configured counts more than the host of the request") {
    configure("oidc.redirect_url", "https://front/1.0/oidc/callback");
    CHECK(asked(login.begin(callback, ""))["redirect_uri"] == "https://front/1.0/oidc/callback");
}

TEST_CASE_METHOD(OidcWorld, "what the provider refuses is told") {
    const BegunLogin begun = login.begin(callback, "");
    LoginAnswer answer = answer_to(begun);
    answer.error = "access_denied";
    CHECK(refusal(answer) == "OpenID provider has refused the login: 'access_denied'");
    answer.error = answer.code = "";
    CHECK(refusal(answer) == "answer of the OpenID provider has no code");
    answer.code = "the code";
    answer.issuer = "https://evil.example";
    CHECK_THAT(refusal(answer), Catch::Contains("of another OpenID provider"));
    answer.issuer = issuer;
    give(key.token("ES256", claims_for(begun)));
    CHECK_NOTHROW(login.end(answer));
}

TEST_CASE_METHOD(OidcWorld, "a user without a role is refused") {
    const BegunLogin begun = login.begin(callback, "");
    Json claims = claims_for(begun);
    claims.set("roles", "others");
    give(key.token("ES256", claims));
    CHECK_THAT(refusal(answer_to(begun)), Catch::StartsWith("user 'u1' has no role here"));
}

TEST_CASE_METHOD(OidcWorld, "a token of somebody else is refused") {
    const BegunLogin begun = login.begin(callback, "");
    give(SigningKey::p256("k1").token("ES256", claims_for(begun)));
    CHECK(refusal(answer_to(begun)) == "ID token is not signed by a key of the OpenID provider");
    for (const char* answer : {"", "{}", "[]", R"({"id_token": 5})", R"({"access_token": "x"})"}) {
        provider.answer = answer;
        CHECK(code_of([&] { login.end(answer_to(begun)); }) == ErrorCode::invalid_argument);
    }
}

TEST_CASE_METHOD(OidcWorld, "a new key of the provider is found, and unknown ones do not make it busy") {
    log_in();
    CHECK(provider.key_reads == 1);
    log_in();
    CHECK(provider.key_reads == 1);
    clock.advance(std::chrono::seconds(31));
    key = SigningKey::p256("k2");
    provider.documents["https://login.example.com/keys"] = key_set({key});
    log_in();
    CHECK(provider.key_reads == 2);

    key = SigningKey::p256("k3");
    for (int i = 0; i < 5; ++i) CHECK_THROWS(log_in());
    CHECK(provider.key_reads == 2);
    clock.advance(std::chrono::seconds(31));
    for (int i = 0; i < 5; ++i) CHECK_THROWS(log_in());
    CHECK(provider.key_reads == 3);
}

TEST_CASE_METHOD(OidcWorld, "keys are read again after an hour, and not used where that fails") {
    log_in();
    clock.advance(std::chrono::minutes(61));
    provider.failure = Error(ErrorCode::unavailable, "OpenID provider cannot be reached: no");
    CHECK(code_of([&] { log_in(); }) == ErrorCode::unavailable);
    provider.failure.reset();
    log_in();
    CHECK(provider.key_reads == 2);
}

TEST_CASE_METHOD(OidcWorld, "discovery documents that cannot be used are refused") {
    const auto refused = [&] { return message_of([&] { login.begin(callback, ""); }); };
    describe("https://login.example.com/other");
    CHECK_THAT(refused(),
               Catch::Contains("it is of the issuer 'https://login.example.com/other', but oidc.issuer is"));
    describe(issuer, "http://login.example.com/token");
    CHECK_THAT(refused(), Catch::Contains("token_endpoint") && Catch::Contains("https://"));
    for (const char* text : {"", "null", "[]", "{}", R"({"issuer": []})"}) {
        provider.documents[std::string(issuer) + "/.well-known/openid-configuration"] = text;
        CHECK_THAT(refused(),
                   Catch::StartsWith("discovery document of the OpenID provider makes no sense: "));
    }
    describe(issuer);  // what was refused is not kept
    CHECK(refused().empty());
}

TEST_CASE_METHOD(OidcWorld, "another provider is asked as soon as it is configured") {
    log_in();
    provider.documents["https://new.example.com/.well-known/openid-configuration"] =
        Json::object({{"issuer", "https://new.example.com/"},
                      {"authorization_endpoint", "https://new.example.com/auth"},
                      {"token_endpoint", "https://new.example.com/token"},
                      {"jwks_uri", "https://new.example.com/keys"}})
            .dump();
    configure("oidc.issuer", "https://new.example.com/");
    CHECK(login.begin(callback, "").url.starts_with("https://new.example.com/auth?"));
    CHECK(login.is_configured());
    configure("oidc.issuer", "");
    CHECK_FALSE(login.is_configured());
    CHECK(code_of([&] { login.begin(callback, ""); }) == ErrorCode::not_found);
}

TEST_CASE_METHOD(OidcWorld, "more logins than can wait are refused") {
    std::promise<void> go_on;
    const std::shared_future<void> gone_on = go_on.get_future().share();
    int taken = 0;
    const auto refused = code_of([&] {
        for (; taken < 1000; ++taken) login.run(std::to_string(taken), [gone_on] { gone_on.wait(); });
    });
    go_on.set_value();
    CHECK(refused == ErrorCode::exhausted);
    CHECK(taken <= 104);
}

TEST_CASE_METHOD(OidcWorld, "one source has four logins under way") {
    std::promise<void> go_on;
    const std::shared_future<void> gone_on = go_on.get_future().share();
    const auto wait = [gone_on] { gone_on.wait(); };
    for (int i = 0; i < 4; ++i) login.run("192.0.2.1", wait);
    CHECK(message_of([&] { login.run("192.0.2.1", wait); }) == "too many logins from 192.0.2.1");
    CHECK_NOTHROW(login.run("192.0.2.2", wait));
    go_on.set_value();
    eventually("there is room again", [&] { return !code_of([&] { login.run("192.0.2.1", [] {}); }); });
}

TEST_CASE_METHOD(OidcWorld, "a login begins without a thread while the provider's document is kept") {
    const auto at_once = [&] { return login.begin_at_once(callback, "/ui/#/nodes"); };
    CHECK_FALSE(at_once());
    login.begin(callback, "");
    provider.failure = Error(ErrorCode::unavailable, "OpenID provider cannot be reached: no");
    const auto begun = at_once();
    REQUIRE(begun);
    CHECK(asked(*begun)["redirect_uri"] == callback);
    CHECK(code_of([&] { login.begin_at_once(callback, "https://evil.example"); }) ==
          ErrorCode::invalid_argument);
    provider.failure.reset();
    give(key.token("ES256", claims_for(*begun)));
    CHECK(login.end(answer_to(*begun)).return_to == "/ui/#/nodes");

    clock.advance(std::chrono::minutes(61));
    CHECK_FALSE(at_once());
    login.begin(callback, "");
    configure("core.proxy_https", "http://proxy.example:3128");  // the way to the provider is another one
    CHECK_FALSE(at_once());
    configure("oidc.issuer", "");
    CHECK(code_of(at_once) == ErrorCode::not_found);
}

TEST_CASE_METHOD(OidcWorld, "logins that were taken are answered before the service is detached") {
    std::atomic<int> answered{0};
    for (int i = 0; i < 4; ++i) login.run("192.0.2.1", [&] { ++answered; });
    life->management.detach();
    CHECK(answered == 4);
    CHECK(code_of([&] { login.run("192.0.2.1", [] {}); }) == ErrorCode::exhausted);
    CHECK(code_of([&] { login.begin(callback, ""); }) == ErrorCode::unavailable);
    std::exception_ptr refused;
    life->management.certificates().add_later({}, {}, [&](std::exception_ptr error) { refused = error; });
    CHECK(refused);
}

}  // namespace svc::test
