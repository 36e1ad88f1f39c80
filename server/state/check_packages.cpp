// Packages and layers: which there are, and which the records need.
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/presence.h"
#include "server/state/check.h"
#include "server/state/digests.h"

namespace svc::server::state {

namespace {

namespace fs = std::filesystem;

std::string short_name(const std::string& name) {
    return is_sha256_hex(name) ? name.substr(0, 12) : name;
}

void check_layer(const fs::path& folder, std::uint32_t owner, Findings& findings) {
    const std::string object = "layer " + short_name(folder.filename());
    constexpr const char* advice = "delete what uses it and upload or create that again";
    struct stat root {};
    if (::lstat((folder / "rootfs").c_str(), &root) != 0 || !S_ISDIR(root.st_mode))
        findings.error(object, "has no rootfs", advice);
    try {
        if (const auto text = read_if_there(folder / "layer.json"))
            JsonFields(Json::parse(*text)).require_int("bytes");
        else
            findings.error(object, "has no layer.json and does not count as there", advice);
    } catch (const Error& e) {
        findings.error(object, std::string("layer.json: ") + e.what(), advice);
    }
    if (owner != 0 && root.st_uid < owner)
        findings.warning(object, "its root belongs to a user of the host", advice);
}

}  // namespace

std::string digest_of(const fs::path& file) {
    const FileDescriptor opened = open_file(file, O_RDONLY);
    Sha256 hash;
    std::array<char, 65536> buffer;
    for (;;) {
        const ssize_t got = ::read(opened.get(), buffer.data(), buffer.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) throw system_error("cannot read " + file.filename().string(), errno);
        if (got == 0) return hash.hex();
        hash.update({buffer.data(), static_cast<std::size_t>(got)});
    }
}

std::vector<fs::path> package_files(const StatePaths& paths) {
    std::vector<fs::path> files;
    if (!is_there(paths.blobs())) return files;
    for (const auto& folder : fs::directory_iterator(paths.blobs())) {
        if (folder.path().filename().native().size() != 2 || !folder.is_directory()) continue;
        for (const auto& file : fs::directory_iterator(folder.path()))
            if (is_sha256_hex(file.path().filename().native())) files.push_back(file.path());
    }
    return files;
}

void check_blob_content(const StatePaths& paths, Findings& findings) {
    for (const fs::path& file : package_files(paths)) {
        const std::string name = file.filename();
        try {
            if (digest_of(file) != name)
                findings.error("package " + short_name(name), "its content is not what its name says",
                               "stop svcd and run svcd recover, then upload it again");
        } catch (const Error& e) {
            if (e.code() == ErrorCode::not_found) continue;  // removed meanwhile
            findings.error("package " + short_name(name), e.what(), "look at the disk");
        }
    }
}

void check_blobs(const StatePaths& paths, const Records& records, Findings& findings) {
    std::set<std::string> present;
    for (const fs::path& file : package_files(paths)) present.insert(file.filename());
    for (const auto& [digest, needed_by] : records.blobs)
        if (!present.contains(digest))
            findings.error("package " + short_name(digest), "is missing; it is needed by " + needed_by,
                           "upload the package again as a new version");
    for (const std::string& digest : present)
        if (!records.expected_blobs.contains(digest))
            findings.note("package " + short_name(digest), "no record refers to it",
                          records.broken.empty() ? "svcd removes it" : "");
    if (is_there(paths.blobs() / "incoming") && !fs::is_empty(paths.blobs() / "incoming"))
        findings.note("blobs/incoming", "holds uploads that have not ended", "the next start removes them");
}

void check_layers(const StatePaths& paths, const Records& records, Findings& findings) {
    const fs::path folder = paths.runtime("lxc") / "layers";
    std::set<std::string> present;
    const std::uint32_t base = read_id_base(paths).value_or(0);
    if (is_there(folder))
        for (const auto& entry : fs::directory_iterator(folder)) {
            const std::string name = entry.path().filename();
            if (name.starts_with('.')) {
                findings.note("lxc/layers/" + name, "unfinished layer", "the next start removes it");
                continue;
            }
            present.insert(name);
            check_layer(entry.path(), base, findings);
            if (!records.expected_layers.contains(name))
                findings.note("layer " + short_name(name), "no record refers to it",
                              records.broken.empty() ? "svcd removes it" : "");
        }
    for (const auto& [name, needed_by] : records.layers)
        if (!present.contains(name))
            findings.error("layer " + short_name(name), "is missing; it is needed by " + needed_by,
                           "delete that and upload or create it again");
}

}  // namespace svc::server::state
