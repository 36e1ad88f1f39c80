// ensure_key_pair(): the self-signed certificate a server or client starts with.
#include <openssl/pem.h>
#include <openssl/rand.h>

#include "libsvc/base/file.h"
#include "libsvc/base/strings.h"
#include "libsvc/net/tls/openssl.h"
#include "libsvc/net/tls/tls.h"

namespace svc {

namespace {

constexpr long validity_seconds = 3650L * 24 * 3600;
constexpr long clock_skew_seconds = 3600;  // a machine whose clock is a little behind accepts it as well

using net::openssl_error;
using NamesPtr = std::unique_ptr<GENERAL_NAMES, net::Free<GENERAL_NAMES_free>>;
using ExtensionPtr = std::unique_ptr<X509_EXTENSION, net::Free<X509_EXTENSION_free>>;

void check(bool done) {
    if (!done) throw openssl_error(ErrorCode::internal, "cannot make certificate");
}

void add_name(GENERAL_NAMES* names, int type, ASN1_STRING* value) {
    GENERAL_NAME* name = GENERAL_NAME_new();
    check(name != nullptr && value != nullptr);
    GENERAL_NAME_set0_value(name, type, value);
    check(sk_GENERAL_NAME_push(names, name) > 0);
}

NamesPtr alternative_names(const std::vector<std::string>& dns_names,
                           const std::vector<std::string>& addresses) {
    NamesPtr names(GENERAL_NAMES_new());
    for (const auto& dns : dns_names) {
        ASN1_IA5STRING* text = ASN1_IA5STRING_new();
        check(text != nullptr && ASN1_STRING_set(text, dns.data(), static_cast<int>(dns.size())) == 1);
        add_name(names.get(), GEN_DNS, text);
    }
    for (const auto& address : addresses) {
        ASN1_OCTET_STRING* bytes = a2i_IPADDRESS(address.c_str());
        if (bytes == nullptr)
            throw openssl_error(ErrorCode::invalid_argument, "address " + quoted(address) + " is malformed");
        add_name(names.get(), GEN_IPADD, bytes);
    }
    return names;
}

void add_extension(X509* certificate, int nid, const char* value) {
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
    const ExtensionPtr extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value));
    check(extension && X509_add_ext(certificate, extension.get(), -1) == 1);
}

void set_random_serial(X509* certificate) {
    unsigned char bytes[16];
    check(RAND_bytes(bytes, sizeof(bytes)) == 1);
    bytes[0] = static_cast<unsigned char>((bytes[0] & 0x7f) | 0x40);  // positive, of full length
    const std::unique_ptr<BIGNUM, net::Free<BN_free>> number(BN_bin2bn(bytes, sizeof(bytes), nullptr));
    check(BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)) != nullptr);
}

void set_subject(X509* certificate, std::string_view common_name) {
    X509_NAME* name = X509_get_subject_name(certificate);
    const auto text = std::string(common_name.substr(0, 64));  // X.520's limit
    check(X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
                                     reinterpret_cast<const unsigned char*>(text.c_str()), -1, -1, 0) == 1);
    check(X509_set_issuer_name(certificate, name) == 1);
}

void set_validity(X509* certificate, const Clock& clock) {
    const std::time_t now = to_unix_seconds(clock.now());
    check(ASN1_TIME_set(X509_getm_notBefore(certificate), now - clock_skew_seconds) != nullptr);
    check(ASN1_TIME_set(X509_getm_notAfter(certificate), now + validity_seconds) != nullptr);
}

template <class Write>
std::string to_text(Write&& write) {
    const net::BioPtr bio(BIO_new(BIO_s_mem()));
    check(bio && write(bio.get()) == 1);
    char* data = nullptr;
    const long size = BIO_get_mem_data(bio.get(), &data);
    return std::string(data, static_cast<std::size_t>(size));
}

}  // namespace

void ensure_key_pair(const KeyPair& files, std::string_view common_name,
                     const std::vector<std::string>& dns_names, const std::vector<std::string>& addresses,
                     const Clock& clock) {
    namespace fs = std::filesystem;
    if (fs::exists(files.key) && fs::exists(files.certificate)) return;
    // The old certificate is of no use without its key, and must not stay beside the new key if the process
    // ends here.
    if (fs::remove(files.certificate)) sync_directory(files.certificate.parent_path());

    const net::KeyPtr key(EVP_EC_gen("P-256"));
    const net::X509Ptr certificate(X509_new());
    check(key && certificate && X509_set_version(certificate.get(), 2) == 1);
    set_random_serial(certificate.get());
    set_subject(certificate.get(), common_name);
    set_validity(certificate.get(), clock);
    check(X509_set_pubkey(certificate.get(), key.get()) == 1);
    add_extension(certificate.get(), NID_basic_constraints, "critical,CA:FALSE");
    add_extension(certificate.get(), NID_key_usage, "critical,digitalSignature,keyEncipherment");
    add_extension(certificate.get(), NID_ext_key_usage, "serverAuth,clientAuth");
    const auto names = alternative_names(dns_names, addresses);
    if (sk_GENERAL_NAME_num(names.get()) > 0)
        check(X509_add1_ext_i2d(certificate.get(), NID_subject_alt_name, names.get(), 0, 0) == 1);
    check(X509_sign(certificate.get(), key.get(), EVP_sha256()) > 0);

    const auto key_text = to_text([&](BIO* bio) {
        return PEM_write_bio_PKCS8PrivateKey(bio, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
    });
    const auto certificate_text =
        to_text([&](BIO* bio) { return PEM_write_bio_X509(bio, certificate.get()); });
    write_file_atomically(files.key, key_text, 0600);
    write_file_atomically(files.certificate, certificate_text, 0644);
}

}  // namespace svc
