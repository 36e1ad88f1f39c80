#pragma once
// The certificate service, by short names.
#include "tests/support/service_world.h"
#include "tests/support/test_certificates.h"

namespace svc::test {

struct TrustWorld : ServiceWorld {
    Store& store = freezing_store;
    Certificates& certificates = life->certificates;
    JoinTokens& tokens = life->join_tokens;
    Engine& engine = life->engine;
    ConfigService& config = life->config;
    CertificateService& service = life->certificate_service;

    void set_password(const std::string& password) {
        finish(config.patch({"core.trust_password", password}, "uid=0"));
    }
    void finish(const Started& started) {
        const auto ended = wait(started);
        if (ended->status != OperationStatus::success) throw Error(ErrorCode::internal, ended->err);
    }
    void trust(const MadeCertificate& certificate) { service.add({certificate.pem, "", ""}, local()); }
    void remove(const MadeCertificate& certificate) {
        finish(service.remove(certificate.fingerprint, "uid=0"));
    }
    static CertificateAsker local() { return {true, "", ""}; }
    static CertificateAsker from(std::string address) { return {false, std::move(address), ""}; }
};

}  // namespace svc::test
