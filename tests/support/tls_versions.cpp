#include "tests/support/tls_versions.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <memory>
#include <string>

namespace svc::test {

namespace {

using Connection = std::unique_ptr<BIO, decltype(&BIO_free_all)>;

// Null: the handshake failed.
Connection shake_hands(const Target& server, TlsVersion version, const std::string& name) {
    const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_client_method()),
                                                                    SSL_CTX_free);
    const int number = version == TlsVersion::tls12 ? TLS1_2_VERSION : TLS1_3_VERSION;
    SSL_CTX_set_min_proto_version(context.get(), number);
    SSL_CTX_set_max_proto_version(context.get(), number);
    Connection connection(BIO_new_ssl_connect(context.get()), BIO_free_all);
    SSL* ssl = nullptr;
    BIO_get_ssl(connection.get(), &ssl);
    if (!name.empty()) SSL_set_tlsext_host_name(ssl, name.c_str());
    BIO_set_conn_hostname(connection.get(), (server.host + ":" + std::to_string(server.port)).c_str());
    if (BIO_do_handshake(connection.get()) != 1) connection.reset();
    ERR_clear_error();
    return connection;
}

}  // namespace

bool accepts(const Target& server, TlsVersion version) {
    return shake_hands(server, version, "") != nullptr;
}

std::string presented(const Target& server, TlsVersion version, const std::string& name) {
    const Connection connection = shake_hands(server, version, name);
    if (!connection) return "";
    SSL* ssl = nullptr;
    BIO_get_ssl(connection.get(), &ssl);
    char common_name[256] = {};
    X509_NAME_get_text_by_NID(X509_get_subject_name(SSL_get0_peer_certificate(ssl)), NID_commonName,
                              common_name, sizeof(common_name));
    return common_name;
}

}  // namespace svc::test
