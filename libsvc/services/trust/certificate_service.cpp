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

Certificate record_of(const X509Certificate& parsed, Time now, Role role) {
    return {parsed.fingerprint,
            parsed.pem,
            parsed.common_name,
            parsed.not_before,
            parsed.not_after,
            parsed.is_authority,
            now,
            role};
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
      told_losses_(changes.losses()),
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

void CertificateService::stop() {
    password_workers_.stop();
    follower_.stop();
    listeners_.with([](auto& all) { all.clear(); });
}

std::shared_ptr<const Certificate> CertificateService::valid(const std::string& fingerprint) const {
    auto record = certificates_.find(fingerprint);
    return record && is_valid_at(*record, clock_.now()) ? record : nullptr;
}

// An authority that is no longer in the store is not trusted, even while the snapshot still has it; and its
// role is the one in the store.
std::shared_ptr<const Certificate> CertificateService::signer_of(const std::string& fingerprint,
                                                                 std::string_view der) const {
    const auto authorities = authorities_.with([](const auto& present) { return present; });
    const auto certificate = authorities->look_up(fingerprint, der);
    std::shared_ptr<const Certificate> highest;
    if (!is_valid_at(*certificate, clock_.now())) return highest;
    for (const auto& signer : certificate->signers) {
        auto record = valid(signer->fingerprint);
        if (record && (!highest || highest->role < record->role)) highest = std::move(record);
    }
    return highest;
}

std::shared_ptr<const Certificate> CertificateService::vouching(std::string_view der) const {
    if (der.empty()) return nullptr;
    const std::string fingerprint = sha256_hex(der);
    return certificates_.find(fingerprint) ? valid(fingerprint) : signer_of(fingerprint, der);
}

std::shared_ptr<const Certificate> CertificateService::add(const CertificateRequest& request,
                                                           const CertificateAsker& asker) {
    const X509Certificate parsed = certificate_of(request, asker);
    const Time now = clock_.now();
    if (parsed.not_after <= now) throw Error(ErrorCode::invalid_argument, "certificate is expired");
    Batch together;
    Admitted admitted{"trust", Role::admin};
    if (!asker.admin) admitted = admission_.authorise(request, asker.address, asker.instance, together);
    const bool with_token = !together.empty();
    const Certificate record =
        record_of(parsed, now, std::min(admitted.role, request.role.value_or(Role::admin)));
    std::shared_ptr<const Certificate> added;
    try {
        added = with_token ? certificates_.create(record, std::move(together))
                           : create_new(certificates_, record);
    } catch (const Error& e) {
        // Another request has used the token since it was checked.
        if (e.code() != ErrorCode::conflict || !with_token || certificates_.find(parsed.fingerprint)) throw;
        throw Error(ErrorCode::forbidden, "Not Authorized");
    }
    catch_up();
    log::info("certificate added", {{"certificate", added->fingerprint},
                                    {"name", added->common_name},
                                    {"role", std::string(to_text(added->role))},
                                    {"by", admitted.by}});
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

std::shared_ptr<const Certificate> CertificateService::set_role(
    std::string_view fingerprint, Role role, const std::function<void(const Certificate&)>& check) {
    const auto changed = certificates_.update(get(fingerprint)->fingerprint, [&](Certificate& certificate) {
        check(certificate);
        certificate.role = role;
    });
    log::info("certificate has another role",
              {{"certificate", changed->fingerprint}, {"role", std::string(to_text(role))}});
    catch_up();
    return changed;
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
    const std::uint64_t losses = changes_.losses();
    const std::uint64_t authorities = changes_.authorities();
    if (std::exchange(known_authorities_, authorities) != authorities) {
        auto fresh = authorities_of(certificates_);
        authorities_.with([&](auto& present) { std::swap(present, fresh); });
    }
    if (std::exchange(told_losses_, losses) != losses) tell_listeners();
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

void CertificateService::on_loss(std::function<void()> listener) {
    listeners_.with([&](auto& all) { all.push_back(std::move(listener)); });
}

void CertificateService::expire_tokens() {
    tokens_.remove_expired();
    look_for_expired();
}

}  // namespace svc
