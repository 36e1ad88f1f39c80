#include "libsvc/services/trust/certificate_service.h"

#include <algorithm>
#include <utility>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"
#include "libsvc/net/tls/x509.h"
#include "libsvc/services/common/retry.h"

namespace svc {

namespace {

constexpr std::size_t min_prefix = 12;
constexpr std::string_view delete_kind = "certificate.delete";

template <class T>
bool is_valid_at(const T& certificate, Time now) {
    return certificate.not_before <= now && now < certificate.not_after;
}

std::shared_ptr<const TrustedAuthorities> authorities_of(const Certificates& certificates) {
    return std::make_shared<const TrustedAuthorities>(certificates.list());
}

X509Certificate certificate_of(const CertificateRequest& request, const CertificateAsker& asker) {
    if (!request.certificate.empty()) return parse_x509(request.certificate);
    if (asker.presented_der.empty()) throw Error(ErrorCode::invalid_argument, "certificate is required");
    return parse_x509(asker.presented_der);
}

Certificate record_of(const X509Certificate& parsed, Time now) {
    return {parsed.fingerprint,  parsed.pem, parsed.common_name, parsed.not_before, parsed.not_after,
            parsed.is_authority, now};
}

// A deletion at this moment may be behind a conflict: then there is room now.
std::shared_ptr<const Certificate> create_new(Certificates& certificates, const Certificate& record) {
    const auto check = [&] {
        if (certificates.find(record.fingerprint))
            throw Error(ErrorCode::conflict, "certificate already exists");
    };
    return retry_on_conflict(check, [&] { return certificates.create(record); });
}

}  // namespace

CertificateService::CertificateService(Certificates& certificates, CertificateChanges& changes,
                                       JoinTokens& tokens, const ConfigService& config, Engine& engine,
                                       Clock& clock, IdSource& ids)
    : certificates_(certificates),
      changes_(changes),
      engine_(engine),
      clock_(clock),
      tokens_(tokens, clock, ids),
      admission_(tokens_, config, clock),
      known_authorities_(changes.authorities()),  // read before the authorities themselves
      told_removals_(changes.removals()),
      authorities_(authorities_of(certificates)),
      last_look_(clock.now()) {
    engine.handle(std::string(delete_kind),
                  {[this](OperationContext& context) { return delete_work(context.operation()); }, {}, true});
    // When a call waits already it will see this change as well.
    changes_.on_change([this] { (void)follower_.post([this] { catch_up(); }); });
}

CertificateService::~CertificateService() {
    changes_.on_change({});
}

// An authority that is no longer in the store is not trusted, even while the snapshot still has it.
bool CertificateService::trusts(std::string_view der) const {
    if (der.empty()) return false;
    const std::string fingerprint = sha256_hex(der);
    const Time now = clock_.now();
    if (const auto record = certificates_.find(fingerprint)) return is_valid_at(*record, now);
    const auto authorities = authorities_.with([](const auto& present) { return present; });
    const auto certificate = authorities->look_up(fingerprint, der);
    return is_valid_at(*certificate, now) &&
           std::ranges::any_of(certificate->signers, [&](const auto& signer) {
               return is_valid_at(*signer, now) && certificates_.find(signer->fingerprint);
           });
}

std::shared_ptr<const Certificate> CertificateService::add(const CertificateRequest& request,
                                                           const CertificateAsker& asker) {
    const X509Certificate parsed = certificate_of(request, asker);
    const Time now = clock_.now();
    if (parsed.not_after <= now) throw Error(ErrorCode::invalid_argument, "certificate is expired");
    Batch together;
    std::string by = "trust";
    if (!asker.trusted) by = admission_.authorise(request, asker.address, asker.instance, together);
    const bool with_token = !together.empty();
    std::shared_ptr<const Certificate> added;
    try {
        added = with_token ? certificates_.create(record_of(parsed, now), std::move(together))
                           : create_new(certificates_, record_of(parsed, now));
    } catch (const Error& e) {
        // Another request has used the token since it was checked.
        if (e.code() != ErrorCode::conflict || !with_token || certificates_.find(parsed.fingerprint)) throw;
        throw Error(ErrorCode::forbidden, "Not Authorized");
    }
    catch_up();
    log::info("certificate added",
              {{"certificate", added->fingerprint}, {"name", added->common_name}, {"by", by}});
    return added;
}

void CertificateService::add_later(CertificateRequest request, CertificateAsker asker,
                                   std::function<void(std::exception_ptr)> done) {
    const auto work = [this, request = std::move(request), asker = std::move(asker), done] {
        std::exception_ptr error;
        try {
            add(request, asker);
        } catch (const std::exception&) {
            error = std::current_exception();
        }
        done(error);
    };
    if (password_workers_.post(work)) return;
    done(std::make_exception_ptr(Error(ErrorCode::exhausted, "too many passwords are being checked")));
}

Started CertificateService::remove(std::string_view fingerprint, std::string requestor) {
    const auto record = get(fingerprint);
    OperationSpec spec;
    spec.kind = delete_kind;
    spec.description = "Deleting certificate";
    spec.resources["certificates"] = {"/1.0/certificates/" + record->fingerprint};
    spec.claims = {"certificates/" + record->fingerprint};
    spec.arguments = Json::object({{"fingerprint", record->fingerprint}});
    spec.requestor = std::move(requestor);
    return engine_.start(std::move(spec), {});
}

OperationResult CertificateService::delete_work(const Operation& operation) {
    const std::string fingerprint = JsonFields(operation.arguments).require_string("fingerprint");
    OperationResult result;
    result.stage = [this, fingerprint](Batch& last) { certificates_.stage_remove(last, fingerprint); };
    result.after = [this, fingerprint] {
        log::info("certificate removed", {{"certificate", fingerprint}});
        catch_up();
    };
    return result;
}

std::shared_ptr<const Certificate> CertificateService::get(std::string_view fingerprint) const {
    const std::string wanted = to_lower(fingerprint);
    if (auto exact = certificates_.find(wanted)) return exact;
    std::shared_ptr<const Certificate> found;
    if (wanted.size() < min_prefix) throw Error(ErrorCode::not_found, "certificate not found");
    for (auto& certificate : certificates_.list()) {
        if (!certificate->fingerprint.starts_with(wanted)) continue;
        if (found) throw Error(ErrorCode::not_found, "certificate not found: more than one begins like that");
        found = std::move(certificate);
    }
    if (!found) throw Error(ErrorCode::not_found, "certificate not found");
    return found;
}

// Under a lock: of two calls, the later one must not put back what the earlier one has read; and what a call
// finds done has been told when it returns.
void CertificateService::catch_up() {
    const std::lock_guard lock(catching_up_);
    const std::uint64_t removals = changes_.removals();
    const std::uint64_t authorities = changes_.authorities();
    if (std::exchange(known_authorities_, authorities) != authorities) {
        auto fresh = authorities_of(certificates_);
        authorities_.with([&](auto& present) { std::swap(present, fresh); });
    }
    if (std::exchange(told_removals_, removals) != removals) tell_listeners();
}

void CertificateService::tell_listeners() const {
    const auto listeners = listeners_.with([](const auto& all) { return all; });
    for (const auto& listener : listeners) listener();
}

// A certificate also loses its trust when its validity ends.
void CertificateService::look_for_expired() {
    const Time now = clock_.now();
    const Time before = last_look_.with([&](Time& last) { return std::exchange(last, now); });
    const auto all = certificates_.list();
    const bool any = std::ranges::any_of(all, [&](const auto& certificate) {
        return certificate->not_after > before && certificate->not_after <= now;
    });
    const auto authorities = authorities_.with([](const auto& present) { return present; });
    if (any || authorities->any_expired(before, now)) tell_listeners();
}

std::vector<std::shared_ptr<const Certificate>> CertificateService::list() const {
    return certificates_.list();
}

void CertificateService::on_removed(std::function<void()> listener) {
    listeners_.with([&](auto& all) { all.push_back(std::move(listener)); });
}

void CertificateService::expire_tokens() {
    tokens_.remove_expired();
    look_for_expired();
}

}  // namespace svc
