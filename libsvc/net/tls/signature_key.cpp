#include "libsvc/net/tls/signature_key.h"

#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/param_build.h>
#include <openssl/rsa.h>

#include <string>

#include "libsvc/net/tls/openssl.h"

namespace svc {

namespace {

using net::Free;
using NumberPtr = std::unique_ptr<BIGNUM, Free<BN_free>>;
using BuilderPtr = std::unique_ptr<OSSL_PARAM_BLD, Free<OSSL_PARAM_BLD_free>>;
using ParametersPtr = std::unique_ptr<OSSL_PARAM, Free<OSSL_PARAM_free>>;
using KeyContextPtr = std::unique_ptr<EVP_PKEY_CTX, Free<EVP_PKEY_CTX_free>>;
using DigestContextPtr = std::unique_ptr<EVP_MD_CTX, Free<EVP_MD_CTX_free>>;
using EcSignaturePtr = std::unique_ptr<ECDSA_SIG, Free<ECDSA_SIG_free>>;

constexpr int min_modulus_bits = 2048, max_modulus_bits = 8192, max_exponent_bits = 33;
constexpr std::size_t coordinate_bytes = 32;
constexpr char uncompressed_point = 4;

[[noreturn]] void throw_bad_key(const std::string& why) {
    ERR_clear_error();
    throw Error(ErrorCode::invalid_argument, "public key is malformed: " + why);
}

const unsigned char* bytes_of(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}

NumberPtr number_of(std::string_view bytes) {
    if (bytes.size() > max_modulus_bits / 8 + 1) throw_bad_key("a number is too long");
    NumberPtr number(BN_bin2bn(bytes_of(bytes), static_cast<int>(bytes.size()), nullptr));
    if (!number) throw_bad_key("a number cannot be read");
    return number;
}

net::KeyPtr key_of(const char* type, OSSL_PARAM_BLD* builder) {
    const ParametersPtr parameters(OSSL_PARAM_BLD_to_param(builder));
    const KeyContextPtr context(EVP_PKEY_CTX_new_from_name(nullptr, type, nullptr));
    EVP_PKEY* key = nullptr;
    if (!parameters || !context || EVP_PKEY_fromdata_init(context.get()) != 1 ||
        EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY, parameters.get()) != 1)
        throw_bad_key(std::string("its numbers are those of no ") + type + " key");
    return net::KeyPtr(key);
}

void check_rsa(const BIGNUM* modulus, const BIGNUM* exponent) {
    const int bits = BN_num_bits(modulus);
    if (bits < min_modulus_bits || bits > max_modulus_bits)
        throw_bad_key("an RSA key must have 2048 to 8192 bits");
    if (BN_is_odd(modulus) == 0) throw_bad_key("an RSA modulus must be odd");
    if (BN_is_odd(exponent) == 0 || BN_is_one(exponent) == 1 || BN_num_bits(exponent) > max_exponent_bits)
        throw_bad_key("an RSA exponent must be odd, from 3 to 2^32");
}

// Two numbers of 32 bytes, as tokens have them, in the form that OpenSSL takes.
std::string as_der(std::string_view signature) {
    if (signature.size() != 2 * coordinate_bytes) return "";
    const EcSignaturePtr numbers(ECDSA_SIG_new());
    NumberPtr r = number_of(signature.substr(0, coordinate_bytes));
    NumberPtr s = number_of(signature.substr(coordinate_bytes));
    if (!numbers || ECDSA_SIG_set0(numbers.get(), r.get(), s.get()) != 1) return "";
    static_cast<void>(r.release());
    static_cast<void>(s.release());
    unsigned char* data = nullptr;
    const int size = i2d_ECDSA_SIG(numbers.get(), &data);
    if (size <= 0) return "";
    std::string der(reinterpret_cast<const char*>(data), static_cast<std::size_t>(size));
    OPENSSL_free(data);
    return der;
}

bool use_pss(EVP_PKEY_CTX* context) {
    return EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING) == 1 &&
           EVP_PKEY_CTX_set_rsa_pss_saltlen(context, RSA_PSS_SALTLEN_DIGEST) == 1;
}

}  // namespace

struct SignatureKey::State {
    net::KeyPtr key;
    bool is_rsa;
};

SignatureKey SignatureKey::rsa(std::string_view modulus, std::string_view exponent) {
    const NumberPtr n = number_of(modulus);
    const NumberPtr e = number_of(exponent);
    check_rsa(n.get(), e.get());
    const BuilderPtr builder(OSSL_PARAM_BLD_new());
    if (!builder || OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, n.get()) != 1 ||
        OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, e.get()) != 1)
        throw net::openssl_error(ErrorCode::internal, "cannot read a public key");
    return SignatureKey(std::make_shared<State>(State{key_of("RSA", builder.get()), true}));
}

SignatureKey SignatureKey::p256(std::string_view x, std::string_view y) {
    if (x.size() != coordinate_bytes || y.size() != coordinate_bytes)
        throw_bad_key("coordinates of P-256 have 32 bytes");
    const std::string point = uncompressed_point + std::string(x) + std::string(y);
    const BuilderPtr builder(OSSL_PARAM_BLD_new());
    if (!builder ||
        OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0) != 1 ||
        OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(),
                                         point.size()) != 1)
        throw net::openssl_error(ErrorCode::internal, "cannot read a public key");
    return SignatureKey(std::make_shared<State>(State{key_of("EC", builder.get()), false}));
}

bool SignatureKey::fits(SignatureAlgorithm algorithm) const {
    return state_->is_rsa == (algorithm != SignatureAlgorithm::es256);
}

bool SignatureKey::has_signed(SignatureAlgorithm algorithm, std::string_view text,
                              std::string_view signature) const {
    if (!fits(algorithm)) return false;
    const std::string given = state_->is_rsa ? std::string(signature) : as_der(signature);
    const DigestContextPtr context(EVP_MD_CTX_new());
    EVP_PKEY_CTX* key_context = nullptr;  // belongs to `context`
    const bool good =
        !given.empty() && context &&
        EVP_DigestVerifyInit(context.get(), &key_context, EVP_sha256(), nullptr, state_->key.get()) == 1 &&
        (algorithm != SignatureAlgorithm::ps256 || use_pss(key_context)) &&
        EVP_DigestVerify(context.get(), bytes_of(given), given.size(), bytes_of(text), text.size()) == 1;
    ERR_clear_error();
    return good;
}

}  // namespace svc
