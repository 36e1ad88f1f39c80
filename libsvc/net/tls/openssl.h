#pragma once
// Internal to the folder net: owners of OpenSSL objects, and functions that several .cpp files of net use.
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "libsvc/base/error.h"
#include "libsvc/net/tls/tls.h"

namespace svc {

namespace net {

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
using ContextPtr = std::unique_ptr<SSL_CTX, Free<SSL_CTX_free>>;
using SslPtr = std::unique_ptr<SSL, Free<SSL_free>>;

using NamedContexts = std::map<std::string, ContextPtr, std::less<>>;  // by name in lower case

// "<what>: <OpenSSL's last reason>"; empties the thread's error queue.
Error openssl_error(ErrorCode code, std::string_view what);
std::string der_of(const X509* certificate);
std::string fingerprint_of(const X509* certificate);
ClientCertificate describe_certificate(const X509* certificate);
// A context with the settings of servers and clients: TLS 1.2 and 1.3, partial writes, no buffers while idle.
ContextPtr make_context(const SSL_METHOD* method);
// Throws invalid_argument when a file is absent or malformed, or the key is not that of the certificate.
void use_key_pair(SSL_CTX* context, const KeyPair& files);

}  // namespace net

struct TlsContext::State {
    net::ContextPtr context;
    std::string fingerprint;
    std::shared_ptr<const net::NamedContexts> named;  // `context` refers to it
};

}  // namespace svc
