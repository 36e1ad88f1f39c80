#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "server/http/etag.h"
#include "server/http/listing.h"
#include "server/http/query.h"
#include "server/http/response.h"
#include "server/routes/handlers.h"
#include "server/routes/routes.h"

namespace svc::server {

namespace {

constexpr std::string_view default_validity = "1h";

Response list_certificates(const Services& services, const Request& request) {
    const bool records = wants_records(request);
    return sync_list(request, services.certificates.list(), [records](const Certificate& certificate) {
        return records ? to_json(certificate) : Json("/1.0/certificates/" + certificate.fingerprint);
    });
}

Response refusal(const std::exception_ptr& error) {
    try {
        std::rethrow_exception(error);
    } catch (const std::exception& e) {
        return failure(e);
    }
}

// Open to everyone: from a client that is not trusted the service wants a password or token. Checking a
// password takes long; no request thread waits for it.
Response add_certificate(const Services& services, const Request& request) {
    const Peer& peer = *request.peer;
    const auto wanted = CertificateRequest::from_json(optional_json_body(request));
    const auto identity = services.authenticator.identify(request);
    // A trusted client that shows no secret hears which role it lacks.
    if (identity && wanted.trust_password.empty() && wanted.join_token.empty())
        services.authenticator.require(Role::admin, request);
    const CertificateAsker asker{identity && identity->role == Role::admin, peer.address,
                                 peer.certificate ? peer.certificate->der : "",
                                 services.instance_network.contains(peer)};
    if (asker.admin) {
        services.certificates.add(wanted, asker);
        return sync(nullptr);
    }
    Response response;
    response.later = [&certificates = services.certificates, wanted, asker](const Responder& respond) {
        certificates.add_later(wanted, asker, [respond](const std::exception_ptr& error) {
            respond(error ? refusal(error) : sync(nullptr));
        });
    };
    return response;
}

// Of the role, the only field that can be changed.
std::string etag_of(const Certificate& certificate) {
    return sha256_hex(
        Json::object({{"fingerprint", certificate.fingerprint}, {"role", to_text(certificate.role)}}).dump());
}

Response show_certificate(const Services& services, const Request& request) {
    const auto certificate = services.certificates.get(request.params.at("fingerprint"));
    return sync_tagged(to_json(*certificate), etag_of(*certificate));
}

Response update_certificate(const Services& services, const Request& request) {
    const std::string& fingerprint = request.params.at("fingerprint");
    const Json body = json_body(request);
    const Role role = parse_role(JsonFields(body).require_string("role"));
    const auto changed = services.certificates.set_role(
        fingerprint, role, [&](const Certificate& present) { check_if_match(request, etag_of(present)); });
    return sync_tagged(to_json(*changed), etag_of(*changed));
}

Response delete_certificate(const Services& services, const Request& request) {
    return async(*services.certificates.remove(request.params.at("fingerprint"), request.requestor));
}

// Records also without recursion, because an invitation has no URL of its own.
Response list_tokens(const Services& services, const Request& request) {
    wants_records(request);
    return sync_list(request, services.certificates.join_tokens().list(),
                     [](const JoinToken& token) { return to_json(token); });
}

// The only reply that has the token itself.
Response issue_token(const Services& services, const Request& request) {
    const Json body = json_body(request);
    const JsonFields fields(body);
    const std::string expiry = fields.string("expiry").value_or(std::string(default_validity));
    const Duration validity =
        with_context("argument expiry is invalid", [&] { return parse_duration(expiry); });
    const ServerIdentity server = services.identity();
    const IssuedToken issued = services.certificates.join_tokens().issue(
        fields.require_string("name"), parse_role(fields.string("role").value_or("admin")), validity,
        server.fingerprint, server.addresses);
    Json record = to_json(issued.token);
    record.set("token", issued.text);
    return sync(record);
}

Response revoke_token(const Services& services, const Request& request) {
    services.certificates.join_tokens().revoke(request.params.at("id"));
    return sync(Json::object());
}

}  // namespace

std::vector<Route> certificate_routes(const Services& services) {
    using enum Dispatch;
    using enum Access;
    const auto call = [&services](RouteFunction function) { return handler(services, function); };
    const std::string all = "/1.0/certificates";
    const std::string one = all + "/{fingerprint}";
    const std::string tokens = all + "/tokens";
    return {
        {Method::get, all, viewer, on_pool, "certificates", call(list_certificates)},
        {Method::post, all, everyone, on_pool, "certificates", call(add_certificate)},
        {Method::get, one, viewer, on_io_thread, "certificate", call(show_certificate)},
        {Method::patch, one, admin, on_pool, "certificate", call(update_certificate)},
        {Method::delete_, one, admin, on_pool, "certificate", call(delete_certificate)},
        {Method::get, tokens, viewer, on_pool, "certificate_tokens", call(list_tokens)},
        {Method::post, tokens, admin, on_pool, "certificate_tokens", call(issue_token)},
        {Method::delete_, tokens + "/{id}", admin, on_pool, "certificate_token", call(revoke_token)},
    };
}

}  // namespace svc::server
