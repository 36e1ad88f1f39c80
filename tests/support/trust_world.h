#pragma once
// The certificate service with all it needs, over a store in memory and a clock that tests turn.
#include <memory>

#include "libsvc/base/error.h"
#include "libsvc/services/certificate_service.h"
#include "libsvc/store/sqlite/sqlite_store.h"
#include "tests/support/manual_clock.h"
#include "tests/support/sequence_ids.h"
#include "tests/support/test_certificates.h"

namespace svc::test {

struct TrustWorld {
    ManualClock clock;  // in 2024
    SequenceIds ids;
    EventBus events{clock};
    SqliteStore store{":memory:"};
    Certificates certificates{store};
    JoinTokens tokens{store};
    Addons addons{store};
    ConfigRecords config_records{store};
    Engine engine{store, events, clock, ids, {.workers = 2}};
    ConfigService config{config_records, addons, engine};
    CertificateService service{certificates, tokens, config, engine, clock, ids};

    ~TrustWorld() { engine.stop(std::chrono::hours(1)); }

    void set_password(const std::string& password) {
        finish(config.patch({"core.trust_password", password}, "uid=0"));
    }
    void finish(const Started& started) {
        const auto ended = engine.wait(started->id.str(), std::nullopt);
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
