#include "server/state/recover.h"

#include <sys/stat.h>

#include <algorithm>
#include <map>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/presence.h"
#include "libsvc/base/strings.h"
#include "libsvc/net/tls/tls.h"
#include "libsvc/runtime/lxc/layout.h"
#include "server/process/state_folder.h"
#include "server/state/check.h"
#include "server/state/database_swap.h"
#include "server/state/digests.h"
#include "server/state/quarantine.h"
#include "server/state/salvage.h"

namespace svc::server::state {

namespace {

namespace fs = std::filesystem;

std::string as_file_name(std::string key) {
    std::ranges::replace(key, '/', '_');
    return percent_encode(key);
}

// One thread.
class Recovery {
  public:
    Recovery(const StatePaths& paths, const RecoverOptions& options)
        : paths_(paths),
          options_(options),
          lock_(process::lock_state(paths.root(), "svcd")),
          quarantine_(paths.root()) {}

    Findings run() {
        if (undo_interrupted_swap(paths_))
            findings_.warning("svc.db", "svcd recover was interrupted; begun again with the old database",
                              "");
        if (is_there(paths_.database())) mend_database();
        mend_packages();
        mend_identity();
        if (options_.runtime == "lxc") mend_id_base();
        remove_leftovers();
        return std::move(findings_);
    }

  private:
    void mend_database();
    void drop_oversized(StoredValues& values);
    void drop_broken(StoredValues& values);
    void protect_containers(StoredValues& values);
    void mend_names(StoredValues& values);
    void replace_database(const StoredValues& values);
    void keep_unreferenced(const StoredValues& values);
    void mend_packages();
    void mend_pair(const std::string& object, const KeyPair& keys);
    void mend_identity();
    void mend_id_base();
    void remove_leftovers();
    bool has_container(std::string_view key) const;

    const StatePaths& paths_;
    const RecoverOptions& options_;
    FileDescriptor lock_;
    Quarantine quarantine_;
    Findings findings_;
    bool incomplete_ = false;  // records are gone: what they referred to must not be taken for garbage
};

void Recovery::mend_database() {
    Salvaged salvaged = salvage(paths_.database());
    StoredValues values = salvaged.values;
    if (!salvaged.whole) {
        incomplete_ = true;
        findings_.error("svc.db",
                        "damaged (" + salvaged.damage + "): " + std::to_string(values.size()) +
                            " records could be read, " + std::to_string(salvaged.from_pages) +
                            " of them only from single pages; others may be lost",
                        "the damaged file is in " + quarantine_.name());
    }
    drop_oversized(values);
    drop_broken(values);
    if (incomplete_) protect_containers(values);
    mend_names(values);
    const bool changed = !salvaged.whole || values.size() != salvaged.values.size() ||
                         !std::ranges::equal(
                             values, salvaged.values, {},
                             [](const auto& each) { return std::pair(each.first, each.second.value); },
                             [](const auto& each) { return std::pair(each.first, each.second.value); });
    if (changed) replace_database(values);
    if (incomplete_) keep_unreferenced(values);
}

bool Recovery::has_container(std::string_view key) const {
    constexpr std::string_view prefix = "instances/";
    return key.starts_with(prefix) &&
           is_there(lxc::Layout{paths_.runtime("lxc")}.container(key.substr(prefix.size())));
}

void Recovery::drop_oversized(StoredValues& values) {
    std::erase_if(values, [&](const auto& each) {
        if (each.second.value.size() <= Batch::max_value_bytes) return false;
        quarantine_.write("records/" + as_file_name(each.first), each.second.value);
        findings_.error("record " + each.first, "larger than any record; taken out of the database",
                        "it is in " + quarantine_.name());
        incomplete_ = true;
        return true;
    });
}

// The unreadable record of an instance whose container is there stays: it keeps the daemon from removing the
// container, whose disk may be all that is left.
void Recovery::drop_broken(StoredValues& values) {
    for (const BrokenRecord& broken : Records(values).broken) {
        if (broken.newer) {
            findings_.note("record " + broken.key, broken.reason + "; left as it is");
            continue;
        }
        if (has_container(broken.key)) {
            findings_.error("record " + broken.key, broken.reason,
                            "its container stays; save what you need of its files, then delete the instance");
            continue;
        }
        quarantine_.write("records/" + as_file_name(broken.key), values[broken.key].value);
        findings_.error("record " + broken.key, broken.reason + "; taken out of the database",
                        "it is in " + quarantine_.name());
        values.erase(broken.key);
        incomplete_ = true;
    }
}

// A container whose record is lost would be removed as unknown by the next start. An empty record, which
// cannot be read, protects it.
void Recovery::protect_containers(StoredValues& values) {
    const fs::path containers = lxc::Layout{paths_.runtime("lxc")}.containers();
    if (!is_there(containers)) return;
    for (const auto& entry : fs::directory_iterator(containers)) {
        const std::string id = entry.path().filename();
        if (!values.try_emplace("instances/" + id).second) continue;
        findings_.error("instance " + id, "its record is lost; its container stays",
                        "save what you need of its files, then delete the instance");
    }
}

void Recovery::mend_names(StoredValues& values) {
    const Records records(values);
    const auto is_unreadable = [&](const std::string& key) {
        return std::ranges::find(records.broken, key, &BrokenRecord::key) != records.broken.end();
    };
    for (const auto& [name, id] : records.names) {
        const auto wanted = records.wanted_names.find(name);
        const bool right = wanted != records.wanted_names.end() && wanted->second == id;
        if (right || is_unreadable(name.substr(0, name.find('/') + 1) + id)) continue;
        values.erase("names/" + name);
        findings_.warning("record names/" + name, "led nowhere and is removed", "");
    }
    for (const auto& [name, id] : records.wanted_names)
        if (values.try_emplace("names/" + name, StoredValue{id, 0}).second)
            findings_.warning("record names/" + name, "was missing and is made anew", "");
}

void Recovery::replace_database(const StoredValues& values) {
    const TemporaryDirectory folder(paths_.root(), ".recover-");
    const fs::path made = folder.path() / "svc.db";
    write_database(made, values);
    swap_database(paths_, made, quarantine_);
}

// svcd would remove them as garbage once all records can be read.
void Recovery::keep_unreferenced(const StoredValues& values) {
    const Records records(values);
    for (const fs::path& file : package_files(paths_))
        if (const std::string digest = file.filename(); !records.expected_blobs.contains(digest)) {
            quarantine_.move(file, fs::path("blobs") / digest);
            findings_.warning("package " + digest, "no record refers to it any more; taken out",
                              "it is in " + quarantine_.name());
        }
    const bool knows_layers = std::ranges::none_of(
        records.broken, [](const BrokenRecord& each) { return each.key.starts_with("instances/"); });
    const fs::path layers = paths_.runtime("lxc") / "layers";
    if (!knows_layers || options_.runtime != "lxc" || !is_there(layers)) return;
    for (const auto& entry : fs::directory_iterator(layers)) {
        const std::string name = entry.path().filename();
        if (name.starts_with('.') || records.expected_layers.contains(name)) continue;
        quarantine_.move(entry.path(), fs::path("layers") / name);
        findings_.warning("layer " + name, "no record refers to it any more; taken out",
                          "it is in " + quarantine_.name());
    }
}

void Recovery::mend_packages() {
    for (const fs::path& file : package_files(paths_)) {
        const std::string digest = file.filename();
        if (digest_of(file) == digest) continue;
        quarantine_.move(file, fs::path("blobs") / digest);
        findings_.error("package " + digest, "its content was not what its name says; taken out",
                        "svcd check tells what needs it");
    }
}

void Recovery::mend_pair(const std::string& object, const KeyPair& keys) {
    if (!is_there(keys.certificate) && !is_there(keys.key)) return;
    try {
        const TlsContext loaded(keys);
    } catch (const Error& e) {
        const fs::path folder = keys.key.parent_path().filename();
        quarantine_.move(keys.certificate, folder / keys.certificate.filename());
        quarantine_.move(keys.key, folder / keys.key.filename());
        findings_.error(object, e.what(),
                        "a new one is made when it is needed: clients have to trust it anew");
    }
}

void Recovery::mend_identity() {
    mend_pair("server certificate", paths_.server_keys());
    mend_pair("registry certificate", paths_.registry_keys());
    constexpr std::size_t secret_size = 64;
    const auto secret = read_if_there(paths_.token_secret());
    if (!secret || secret->size() == secret_size) return;
    quarantine_.move(paths_.token_secret(), "tokens.key");
    findings_.error("tokens.key", "damaged; taken out",
                    "a new one is made at the start: restart instances that run, their tokens are not valid");
}

// The root of every layer and disk belongs to the first id.
void Recovery::mend_id_base() {
    const fs::path file = paths_.runtime("lxc") / "id_base";
    if (!is_there(file) || read_id_base(paths_)) return;
    std::map<std::uint32_t, unsigned> owners;
    for (const auto& [folder, inside] : {std::pair{"layers", "rootfs"}, std::pair{"containers", "upper"}})
        if (const fs::path all = paths_.runtime("lxc") / folder; is_there(all))
            for (const auto& entry : fs::directory_iterator(all))
                if (struct stat info{};
                    ::lstat((entry.path() / inside).c_str(), &info) == 0 && info.st_uid != 0)
                    ++owners[info.st_uid];
    quarantine_.move(file, "id_base");
    if (owners.empty())
        return findings_.warning("lxc/id_base", "damaged, and nothing depends on it; made anew", "");
    const auto most = std::ranges::max_element(owners, {}, [](const auto& each) { return each.second; });
    write_file_atomically(file, std::to_string(most->first) + "\n");
    findings_.warning("lxc/id_base",
                      "damaged; it is " + std::to_string(most->first) + " by the owners of the files", "");
}

void Recovery::remove_leftovers() {
    std::vector<fs::path> leftovers;
    for (const fs::path& folder :
         {paths_.blobs() / "incoming", paths_.runtime("lxc") / "layers", paths_.root()})
        if (is_there(folder))
            for (const auto& entry : fs::directory_iterator(folder))
                if (const std::string name = entry.path().filename();
                    folder.filename() == "incoming" || name.starts_with(".tmp-") ||
                    name.starts_with(".recover-") || name.starts_with(".export-"))
                    leftovers.push_back(entry.path());
    for (const fs::path& each : leftovers) {
        remove_tree(each);
        findings_.note(each.lexically_relative(paths_.root()).string(),
                       "leftover of interrupted work; removed");
    }
}

}  // namespace

Findings recover_state(const StatePaths& paths, const RecoverOptions& options) {
    if (!is_there(paths.root())) throw Error(ErrorCode::not_found, paths.root().string() + " does not exist");
    return Recovery(paths, options).run();
}

}  // namespace svc::server::state
