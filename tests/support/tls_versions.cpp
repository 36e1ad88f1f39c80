#include "tests/support/tls_versions.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <memory>
#include <string>

namespace svc::test {

bool accepts(const Target& server, TlsVersion version) {
    const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_client_method()),
                                                                    SSL_CTX_free);
    const int number = version == TlsVersion::tls12 ? TLS1_2_VERSION : TLS1_3_VERSION;
    SSL_CTX_set_min_proto_version(context.get(), number);
    SSL_CTX_set_max_proto_version(context.get(), number);
    const std::unique_ptr<BIO, decltype(&BIO_free_all)> connection(BIO_new_ssl_connect(context.get()),
                                                                   BIO_free_all);
    BIO_set_conn_hostname(connection.get(), (server.host + ":" + std::to_string(server.port)).c_str());
    const bool done = BIO_do_handshake(connection.get()) == 1;
    ERR_clear_error();
    return done;
}

}  // namespace svc::test
