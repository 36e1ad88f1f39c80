#include "libsvc/net/client/client.h"

#include <httplib.h>

#include <mutex>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/net/client/direct_call.h"
#include "libsvc/net/client/not_reached.h"

namespace svc {

namespace {

using HttplibPtr = std::unique_ptr<httplib::Client>;

constexpr std::size_t max_pooled = 16;
constexpr std::chrono::seconds connect_limit{10};

// A pinned certificate is trusted by its fingerprint alone: its chain, names and dates are not checked.
int verify_pinned(X509_STORE_CTX* store, void* expected) {
    const X509* certificate = X509_STORE_CTX_get0_cert(store);
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    if (certificate == nullptr || X509_digest(certificate, EVP_sha256(), digest, &size) != 1) return 0;
    const auto found = to_hex(std::string_view(reinterpret_cast<const char*>(digest), size));
    return iequals(found, *static_cast<const std::string*>(expected)) ? 1 : 0;
}

HttplibPtr make_tls_client(const Target& target) {
    const auto url = target.describe();
    auto client = target.identity ? std::make_unique<httplib::Client>(url, target.identity->certificate,
                                                                      target.identity->key)
                                  : std::make_unique<httplib::Client>(url);
    if (!client->is_valid()) throw Error(ErrorCode::invalid_argument, "client certificate or key is invalid");
    SSL_CTX_set_min_proto_version(client->ssl_context(), TLS1_2_VERSION);
    if (target.server_fingerprint.empty()) return client;
    client->enable_server_certificate_verification(false);
    SSL_CTX_set_verify(client->ssl_context(), SSL_VERIFY_PEER, nullptr);
    SSL_CTX_set_cert_verify_callback(client->ssl_context(), verify_pinned,
                                     const_cast<std::string*>(&target.server_fingerprint));
    return client;
}

HttplibPtr make_client(const Target& target) {
    HttplibPtr client;
    if (!target.unix_path.empty()) {
        client = std::make_unique<httplib::Client>(target.unix_path.native(), 80);
        client->set_address_family(AF_UNIX);
    } else {
        client = target.tls ? make_tls_client(target)
                            : std::make_unique<httplib::Client>(target.host, target.port);
    }
    client->set_keep_alive(true);
    client->set_tcp_nodelay(true);
    client->set_follow_location(false);
    client->set_url_encode(false);
    client->set_decompress(false);
    return client;
}

void set_timeouts(httplib::Client& client, std::chrono::milliseconds timeout) {
    client.set_connection_timeout(std::min<std::chrono::milliseconds>(timeout, connect_limit));
    client.set_read_timeout(timeout);
    client.set_write_timeout(timeout);
}

// One call over one connection.
class Call {
  public:
    Call(const Target& target, const ClientRequest& request) : request_(request) {
        out_.method = std::string(to_text(request.method));
        out_.path = request.path;
        for (const auto& [name, value] : request.headers) out_.headers.emplace(name, value);
        if (!target.unix_path.empty() && request.headers.find("Host") == nullptr)
            out_.set_header("Host", "localhost");
        out_.body = request.body;
        if (request.sink) receive_into_sink();
    }

    httplib::Error run(httplib::Client& client) {
        httplib::Error error = httplib::Error::Success;
        set_timeouts(client, request_.timeout);
        client.send(out_, in_, error);
        if (sink_error_) std::rethrow_exception(sink_error_);
        return error;
    }

    // A second try repeats neither an action of the server nor bytes that the sink has got.
    bool can_repeat() const {
        const bool harmless = request_.method == Method::get || request_.method == Method::head;
        return harmless && !sink_used_;
    }

    ClientReply reply() {
        ClientReply reply;
        reply.status = in_.status;
        for (const auto& [name, value] : in_.headers) reply.headers.add(name, value);
        reply.body = request_.sink ? std::move(refused_body_) : std::move(in_.body);
        return reply;
    }

  private:
    void receive_into_sink() {
        out_.response_handler = [this](const httplib::Response& response) {
            wanted_ = response.status >= 200 && response.status < 300;
            return true;
        };
        out_.content_receiver = [this](const char* data, std::size_t size, std::uint64_t, std::uint64_t) {
            return take(std::string_view(data, size));
        };
    }

    bool take(std::string_view data) {
        if (!wanted_) {
            refused_body_.append(data);
            return refused_body_.size() <= request_.max_reply;
        }
        sink_used_ = true;
        try {
            request_.sink(data);
            return true;
        } catch (...) {
            sink_error_ = std::current_exception();
            return false;
        }
    }

    const ClientRequest& request_;
    httplib::Request out_;
    httplib::Response in_;
    bool wanted_ = false, sink_used_ = false;
    std::string refused_body_;
    std::exception_ptr sink_error_;
};

std::string_view reason_of(httplib::Error error) {
    switch (error) {
        case httplib::Error::Connection:
            return "no connection";
        case httplib::Error::Read:
            return "no answer, or only a part of one";
        case httplib::Error::Write:
            return "the connection ended";
        case httplib::Error::SSLConnection:
            return "TLS failed; perhaps its certificate is not the expected one";
        case httplib::Error::SSLServerVerification:
            return "its certificate is not trusted";
        default:
            return "the request failed";
    }
}

[[noreturn]] void throw_failed(const Target& target, httplib::Error error) {
    using enum httplib::Error;
    const std::string text = "cannot reach " + target.describe() + ": " + std::string(reason_of(error));
    if (error == Connection || error == SSLConnection || error == SSLServerVerification)
        throw NotReached(text);
    throw Error(ErrorCode::unavailable, text);
}

// cpp-httplib does not read while it sends, and would lose the reason for which a server refuses an upload.
ClientReply call_over_new_connection(const Target& target, const ClientRequest& request) {
    net::ClientChannel channel(target, std::min<std::chrono::milliseconds>(request.timeout, connect_limit));
    net::InputBuffer in;
    return net::exchange(channel, request, in);
}

}  // namespace

class HttpClient::Pool {
  public:
    // Null when none is idle.
    HttplibPtr take() {
        std::lock_guard lock(mutex_);
        if (idle_.empty()) return nullptr;
        HttplibPtr client = std::move(idle_.back());
        idle_.pop_back();
        return client;
    }
    void give_back(HttplibPtr client) {
        std::lock_guard lock(mutex_);
        if (idle_.size() < max_pooled) idle_.push_back(std::move(client));
    }

  private:
    std::mutex mutex_;
    std::vector<HttplibPtr> idle_;
};

HttpClient::HttpClient(Target target) : target_(std::move(target)), pool_(std::make_unique<Pool>()) {
    if (!target_.unix_path.empty() && target_.unix_path.native().size() >= sizeof(sockaddr_un::sun_path))
        throw Error(ErrorCode::invalid_argument, "socket path is too long");
}

HttpClient::~HttpClient() = default;

ClientReply HttpClient::call(const ClientRequest& request) {
    if (request.source || target_.proxy || target_.unverified || !target_.server_name.empty() ||
        !target_.authorities.empty())
        return call_over_new_connection(target_, request);
    HttplibPtr client = pool_->take();
    for (;;) {
        const bool reused = client != nullptr;
        if (!reused) client = make_client(target_);
        Call call(target_, request);
        const httplib::Error error = call.run(*client);
        if (error == httplib::Error::Success) {
            pool_->give_back(std::move(client));
            return call.reply();
        }
        // The server may have closed the kept connection at the same moment.
        if (!reused || !call.can_repeat()) throw_failed(target_, error);
        client.reset();
    }
}

}  // namespace svc
