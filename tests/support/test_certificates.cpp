#include "tests/support/test_certificates.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <memory>
#include <stdexcept>

#include "libsvc/base/digest.h"
#include "libsvc/base/file.h"

namespace svc::test {

namespace {

template <auto free_function>
struct Free {
    template <class T>
    void operator()(T* object) const {
        free_function(object);
    }
};
using X509Ptr = std::unique_ptr<X509, Free<X509_free>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
using BioPtr = std::unique_ptr<BIO, Free<BIO_free_all>>;

void check(bool done) {
    if (!done) throw std::runtime_error("cannot make a certificate for a test");
}

template <class Write>
std::string to_text(Write&& write) {
    const BioPtr bio(BIO_new(BIO_s_mem()));
    check(bio && write(bio.get()) == 1);
    char* data = nullptr;
    const long size = BIO_get_mem_data(bio.get(), &data);
    return {data, static_cast<std::size_t>(size)};
}

template <class Pointer, class Read>
Pointer from_text(const std::string& text, Read&& read) {
    const BioPtr bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
    Pointer object(read(bio.get(), nullptr, nullptr, nullptr));
    check(object != nullptr);
    return object;
}

void add_extension(X509* certificate, X509* issuer, int nid, const std::string& value) {
    if (value.empty()) return;
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
    check(extension != nullptr && X509_add_ext(certificate, extension, -1) == 1);
    X509_EXTENSION_free(extension);
}

void set_names(X509* certificate, const std::string& name, X509* issuer) {
    X509_NAME* subject = X509_get_subject_name(certificate);
    check(X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8,
                                     reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0) == 1);
    check(X509_set_issuer_name(certificate, X509_get_subject_name(issuer)) == 1);
}

void set_numbers(X509* certificate, const CertificatePlan& plan) {
    std::uint64_t serial = 0;
    check(RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof(serial)) == 1);
    check(X509_set_version(certificate, 2) == 1);
    check(ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial | 1U) == 1);
    check(ASN1_TIME_set(X509_getm_notBefore(certificate), to_unix_seconds(plan.from)) != nullptr);
    check(ASN1_TIME_set(X509_getm_notAfter(certificate), to_unix_seconds(plan.until)) != nullptr);
}

}  // namespace

MadeCertificate make_certificate(const CertificatePlan& plan) {
    const KeyPtr key(EVP_EC_gen("P-256"));
    const X509Ptr certificate(X509_new());
    X509Ptr issuer;
    KeyPtr issuer_key;
    if (plan.issuer) {
        issuer = from_text<X509Ptr>(plan.issuer->pem, PEM_read_bio_X509);
        issuer_key = from_text<KeyPtr>(plan.issuer->key_pem, PEM_read_bio_PrivateKey);
    }
    X509* const signer = issuer ? issuer.get() : certificate.get();
    set_numbers(certificate.get(), plan);
    set_names(certificate.get(), plan.name, signer);
    check(X509_set_pubkey(certificate.get(), key.get()) == 1);
    add_extension(certificate.get(), signer, NID_basic_constraints,
                  plan.authority ? "critical,CA:TRUE" : "critical,CA:FALSE");
    add_extension(certificate.get(), signer, NID_key_usage, plan.key_usage);
    add_extension(certificate.get(), signer, NID_ext_key_usage, plan.extended_usage);
    add_extension(certificate.get(), signer, NID_subject_alt_name, plan.alternative_names);
    check(X509_sign(certificate.get(), issuer_key ? issuer_key.get() : key.get(),
                    plan.sha1 ? EVP_sha1() : EVP_sha256()) > 0);

    MadeCertificate made;
    made.pem = to_text([&](BIO* bio) { return PEM_write_bio_X509(bio, certificate.get()); });
    made.der = to_text([&](BIO* bio) { return i2d_X509_bio(bio, certificate.get()); });
    made.key_pem = to_text([&](BIO* bio) {
        return PEM_write_bio_PKCS8PrivateKey(bio, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
    });
    made.fingerprint = sha256_hex(made.der);
    return made;
}

bool certificate_names(const std::string& pem, const std::string& host) {
    const auto certificate = from_text<X509Ptr>(pem, PEM_read_bio_X509);
    return X509_check_ip_asc(certificate.get(), host.c_str(), 0) == 1 ||
           X509_check_host(certificate.get(), host.data(), host.size(), 0, nullptr) == 1;
}

KeyPair MadeCertificate::write_to(const std::filesystem::path& directory, const std::string& name) const {
    const KeyPair files{directory / (name + ".crt"), directory / (name + ".key")};
    write_file_atomically(files.key, key_pem);
    write_file_atomically(files.certificate, pem);
    return files;
}

}  // namespace svc::test
