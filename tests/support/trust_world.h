#pragma once
// The certificate service with all it needs.
#include "libsvc/base/error.h"
#include "libsvc/services/trust/certificate_service.h"
#include "tests/support/config_world.h"
#include "tests/support/test_certificates.h"

namespace svc::test {

struct TrustWorld : ConfigWorld {
    Certificates certificates{store};
    JoinTokens tokens{store};
    CertificateService service{certificates, tokens, config, engine, clock, ids};

    ~TrustWorld() { engine.stop(std::chrono::hours(1)); }

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
