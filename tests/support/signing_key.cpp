#include "tests/support/signing_key.h"

#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>

#include <stdexcept>

#include "libsvc/base/digest.h"

namespace svc::test {

namespace {

template <auto free_function>
struct Free {
    template <class T>
    void operator()(T* object) const {
        free_function(object);
    }
};
using KeyPtr = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
using NumberPtr = std::unique_ptr<BIGNUM, Free<BN_free>>;
using ContextPtr = std::unique_ptr<EVP_MD_CTX, Free<EVP_MD_CTX_free>>;
using EcSignaturePtr = std::unique_ptr<ECDSA_SIG, Free<ECDSA_SIG_free>>;

constexpr int coordinate_bytes = 32;

void check(bool done) {
    if (!done) throw std::runtime_error("cannot sign for a test");
}

std::string text_of(const BIGNUM* number, int size) {
    std::string bytes(static_cast<std::size_t>(size), '\0');
    check(BN_bn2binpad(number, reinterpret_cast<unsigned char*>(bytes.data()), size) == size);
    return bytes;
}

std::string number_of(EVP_PKEY* key, const char* name, int size = 0) {
    BIGNUM* found = nullptr;
    check(EVP_PKEY_get_bn_param(key, name, &found) == 1);
    const NumberPtr number(found);
    return base64url_encode(text_of(found, size > 0 ? size : BN_num_bytes(found)));
}

std::string raw_signature(const std::string& der) {
    const auto* data = reinterpret_cast<const unsigned char*>(der.data());
    const EcSignaturePtr numbers(d2i_ECDSA_SIG(nullptr, &data, static_cast<long>(der.size())));
    check(numbers != nullptr);
    return text_of(ECDSA_SIG_get0_r(numbers.get()), coordinate_bytes) +
           text_of(ECDSA_SIG_get0_s(numbers.get()), coordinate_bytes);
}

}  // namespace

struct SigningKey::State {
    KeyPtr key;
    bool is_rsa;
};

SigningKey SigningKey::rsa(std::string id, unsigned bits) {
    return {std::move(id), std::make_shared<State>(State{KeyPtr(EVP_RSA_gen(bits)), true})};
}

SigningKey SigningKey::p256(std::string id) {
    return {std::move(id), std::make_shared<State>(State{KeyPtr(EVP_EC_gen("P-256")), false})};
}

Json SigningKey::web_key() const {
    EVP_PKEY* const key = state_->key.get();
    Json json = Json::object({{"kid", id_}, {"use", "sig"}, {"kty", state_->is_rsa ? "RSA" : "EC"}});
    if (state_->is_rsa) {
        json.set("n", number_of(key, OSSL_PKEY_PARAM_RSA_N));
        json.set("e", number_of(key, OSSL_PKEY_PARAM_RSA_E));
    } else {
        json.set("crv", "P-256");
        json.set("x", number_of(key, OSSL_PKEY_PARAM_EC_PUB_X, coordinate_bytes));
        json.set("y", number_of(key, OSSL_PKEY_PARAM_EC_PUB_Y, coordinate_bytes));
    }
    return json;
}

std::string SigningKey::sign(const std::string& algorithm, const std::string& text) const {
    const ContextPtr context(EVP_MD_CTX_new());
    EVP_PKEY_CTX* options = nullptr;  // belongs to `context`
    check(EVP_DigestSignInit(context.get(), &options, EVP_sha256(), nullptr, state_->key.get()) == 1);
    if (algorithm == "PS256")
        check(EVP_PKEY_CTX_set_rsa_padding(options, RSA_PKCS1_PSS_PADDING) == 1 &&
              EVP_PKEY_CTX_set_rsa_pss_saltlen(options, RSA_PSS_SALTLEN_DIGEST) == 1);
    const auto* data = reinterpret_cast<const unsigned char*>(text.data());
    std::size_t size = 0;
    check(EVP_DigestSign(context.get(), nullptr, &size, data, text.size()) == 1);
    std::string signature(size, '\0');
    check(EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size, data,
                         text.size()) == 1);
    signature.resize(size);
    return state_->is_rsa ? signature : raw_signature(signature);
}

std::string SigningKey::token_with(const Json& header, const Json& claims) const {
    const std::string text = base64url_encode(header.dump()) + "." + base64url_encode(claims.dump());
    return text + "." + base64url_encode(sign(header.at("alg").as_string(), text));
}

std::string SigningKey::token(const std::string& algorithm, const Json& claims) const {
    return token_with(Json::object({{"alg", algorithm}, {"kid", id_}}), claims);
}

std::string key_set(const std::vector<SigningKey>& keys) {
    Json list = Json::array();
    for (const SigningKey& key : keys) list.push_back(key.web_key());
    return Json::object({{"keys", std::move(list)}}).dump();
}

}  // namespace svc::test
