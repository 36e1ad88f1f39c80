#include "libsvc/services/registry/registry_withdrawals.h"

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/json.h"
#include "libsvc/base/log.h"

namespace svc {

void RegistryWithdrawals::withdraw(std::string_view name, int newest_version) {
    std::lock_guard lock(mutex_);
    Versions versions = load();
    versions[std::string(name)] = newest_version;
    store(versions);
}

void RegistryWithdrawals::forget(std::string_view name) {
    std::lock_guard lock(mutex_);
    Versions versions = load();
    if (versions.erase(std::string(name)) > 0) store(versions);
}

bool RegistryWithdrawals::covers(std::string_view name, int version) const {
    std::lock_guard lock(mutex_);
    const Versions versions = load();
    const auto found = versions.find(name);
    return found != versions.end() && version <= found->second;
}

RegistryWithdrawals::Versions RegistryWithdrawals::load() const {
    Versions versions;
    try {
        const Json stored = Json::parse(read_file(file_));
        for (const auto& [name, version] : stored.as_object())
            versions[name] = static_cast<int>(version.as_int());
    } catch (const Error& e) {
        if (e.code() != ErrorCode::not_found)
            log::warning("withdrawn applications cannot be read", {{"error", e.what()}});
    }
    return versions;
}

void RegistryWithdrawals::store(const Versions& versions) const {
    Json stored = Json::object();
    for (const auto& [name, version] : versions) stored.set(name, version);
    make_directories(file_.parent_path());
    write_file_atomically(file_, stored.dump_pretty() + "\n");
}

}  // namespace svc
