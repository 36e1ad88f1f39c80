// Keys, events, logs, and what lies in the folder besides.
#include <sys/stat.h>

#include <algorithm>
#include <array>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/presence.h"
#include "libsvc/base/strings.h"
#include "libsvc/net/tls/x509.h"
#include "server/state/check.h"

namespace svc::server::state {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t secret_bytes = 64;  // of libsvc/services/trust/agent_tokens.cpp
constexpr const char* mend_keys = "stop svcd and run svcd recover: the next start makes a new one";
constexpr std::array known_names{"agent",
                                 "audit-events",
                                 "audit.log",
                                 "audit.strangers.log",
                                 "blobs",
                                 "cluster.id",
                                 "events",
                                 "lock",
                                 "logs",
                                 "lxc",
                                 "lxd",
                                 "manager.id",
                                 "node-packages",
                                 "quarantine",
                                 "recovering",
                                 "registry",
                                 "server",
                                 "simulated",
                                 "svc.db",
                                 "svc.db-shm",
                                 "svc.db-wal",
                                 "svc.db.lock",
                                 "svc.db.reserve",
                                 "term",
                                 "tokens.key"};
constexpr std::array known_prefixes{"agent-", "audit.log.", "audit.strangers.log."};

void check_pair(const std::string& object, const KeyPair& keys, Findings& findings) {
    const bool certificate = is_there(keys.certificate);
    const bool key = is_there(keys.key);
    if (!certificate && !key) return;  // made when it is needed
    if (!certificate || !key)
        return findings.warning(object, "one of certificate and key is missing", mend_keys);
    try {
        parse_x509(read_file(keys.certificate));
        const TlsContext loaded(keys);  // says whether they belong together
    } catch (const Error& e) {
        findings.error(object, e.what(), mend_keys);
    }
    struct stat info {};
    if (::stat(keys.key.c_str(), &info) == 0 && (info.st_mode & 077) != 0)
        findings.error(object, "others may read the key", "chmod 600 " + keys.key.string());
}

void check_mode(const fs::path& path, unsigned wanted, Findings& findings) {
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) return;
    const unsigned open = info.st_mode & 0777U & ~wanted;
    if (open != 0)
        findings.warning(path.filename().string(), "others may use the folder more than they should",
                         "start svcd, which sets its mode");
    if (info.st_uid != ::geteuid())
        findings.warning(path.filename().string(), "it belongs to another user",
                         "chown it to the user of svcd");
}

bool is_number(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool is_known(const std::string& name) {
    const auto begins = [&](std::string_view prefix) { return name.starts_with(prefix); };
    return std::ranges::find(known_names, name) != known_names.end() ||
           std::ranges::any_of(known_prefixes, begins);
}

void check_events(const fs::path& row, Findings& findings) {
    const auto numbers = read_if_there(row / "numbers");
    if (numbers && !is_number(trim(*numbers)))
        findings.warning(row.filename().string() + "/numbers", "damaged: numbers of events may be used twice",
                         "clients that follow events from a number should read everything again");
}

}  // namespace

void check_identity(const StatePaths& paths, Findings& findings) {
    check_pair("server certificate", paths.server_keys(), findings);
    check_pair("registry certificate", paths.registry_keys(), findings);
    const auto secret = read_if_there(paths.token_secret());
    if (secret && secret->size() != secret_bytes)
        findings.error("tokens.key", "damaged: it signs the tokens of all instances",
                       "stop svcd and run svcd recover; running instances need a restart then");
}

void check_files(const StatePaths& paths, const Records& records, Findings& findings) {
    check_mode(paths.root(), 0711, findings);
    for (const fs::path& folder : {paths.blobs(), paths.logs(), paths.registry()})
        check_mode(folder, 0700, findings);
    for (const fs::path& row : {paths.events(), paths.audit_events()}) check_events(row, findings);
    if (is_there(paths.logs()))
        for (const auto& entry : fs::directory_iterator(paths.logs()))
            if (const std::string id = entry.path().filename();
                !records.instances.contains(id) && records.broken.empty())
                findings.note("logs/" + id, "there is no record of its instance", "remove the folder");
    for (const auto& entry : fs::directory_iterator(paths.root()))
        if (const std::string name = entry.path().filename(); !is_known(name))
            findings.note(name, "is not of svcd");
}

}  // namespace svc::server::state
