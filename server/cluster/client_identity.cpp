#include "server/cluster/client_identity.h"

#include <charconv>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/net/tls/tls.h"

namespace svc::server {

namespace {

constexpr std::string_view forwarded_by = "Svc-Forwarded-By";
constexpr std::string_view client_listener = "Svc-Client-Listener";
constexpr std::string_view client_user = "Svc-Client-User";  // of a Unix socket
constexpr std::string_view client_address = "Svc-Client-Address";
constexpr std::string_view client_certificate = "Svc-Client-Certificate";

[[noreturn]] void throw_malformed(std::string_view header) {
    throw Error(ErrorCode::invalid_argument, "header " + std::string(header) + " is malformed");
}

uid_t user_of(const std::string& text) {
    uid_t user = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), user);
    if (end.ec != std::errc() || end.ptr != text.data() + text.size()) throw_malformed(client_user);
    return user;
}

void read_tls_client(const Headers& headers, Peer& client) {
    const std::string* const address = headers.find(client_address);
    if (!address) throw_malformed(client_address);
    client.transport = Transport::https;
    client.address = *address;
    if (const std::string* certificate = headers.find(client_certificate))
        client.certificate = parse_certificate(base64_decode(*certificate));
}

}  // namespace

bool is_between_managers(std::string_view header_name) {
    return header_name.size() >= between_managers.size() &&
           iequals(header_name.substr(0, between_managers.size()), between_managers);
}

void add_client(Headers& headers, const Peer& client, std::string_view manager) {
    headers.set(forwarded_by, std::string(manager));
    headers.set(client_listener, client.listener);
    if (client.transport == Transport::unix_socket)
        headers.set(client_user, std::to_string(client.uid));
    else
        headers.set(client_address, client.address);
    if (client.certificate) headers.set(client_certificate, base64_encode(client.certificate->der));
}

std::shared_ptr<const Peer> forwarded_client(const Request& request) {
    const std::string manager = request.headers.get(forwarded_by);
    if (manager.empty()) return nullptr;
    auto client = std::make_shared<Peer>();
    client->listener = request.headers.get(client_listener);
    client->forwarded_by = manager;
    if (const std::string* user = request.headers.find(client_user))
        client->uid = user_of(*user);
    else
        read_tls_client(request.headers, *client);
    return client;
}

}  // namespace svc::server
