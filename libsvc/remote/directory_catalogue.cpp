#include "libsvc/remote/directory_catalogue.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <optional>

#include "libsvc/base/digest.h"
#include "libsvc/base/disk_room.h"
#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/remote/verified_bytes.h"

namespace svc {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t directory_catalogue_max_versions = 10'000, directory_catalogue_max_architectures = 16,
                      max_details = 1U << 20;
constexpr unsigned directory_mode = 0755, file_mode = 0644;  // for whoever else may read the directory
constexpr const char* unfinished_prefix = ".unfinished-";
constexpr std::chrono::hours unfinished_limit{24};  // what is older was left by a service that died

template <class Work>
auto reaching(Work&& work) {
    try {
        return std::forward<Work>(work)();
    } catch (const Error& e) {
        if (e.code() != ErrorCode::unavailable) throw;
        throw Error(ErrorCode::unavailable, std::string("registry cannot be reached: ") + e.what());
    }
}

void add_missing(std::vector<std::string>& to, const std::vector<std::string>& from) {
    for (const auto& one : from)
        if (std::find(to.begin(), to.end(), one) == to.end()) to.push_back(one);
}

bool is_version(const std::string& text) {
    try {
        parse_version_number(text);
        return true;
    } catch (const Error&) {
        return false;
    }
}

// Versions are in the order of their numbers: the newest one decides the fields of the application.
void merge(CatalogueApplication& application, CatalogueApplication&& one, const std::string& architecture) {
    add_missing(application.architectures, {architecture});
    application.boot_package = std::move(one.boot_package);
    application.instance_type = std::move(one.instance_type);
    application.tags = std::move(one.tags);
    const int number = one.versions.at(0).number;
    if (application.versions.empty() || application.versions.back().number != number)
        application.versions.push_back(std::move(one.versions.at(0)));
}

std::string stored_details(const CatalogueUpload& upload) {
    CatalogueApplication application = upload.application;
    application.architectures = {upload.architecture};
    Json details = application.to_json();
    details.set("fingerprint", upload.fingerprint);
    details.set("size", upload.size);
    return details.dump_pretty() + "\n";
}

void write_archive(const CatalogueUpload& upload, const fs::path& path) {
    constexpr std::size_t piece_bytes = 256U << 10;
    const FileDescriptor file = open_file(path, O_WRONLY | O_CREAT | O_EXCL, file_mode);
    VerifiedBytes checked(upload.fingerprint, upload.size);
    // The directory may be on the disk of the store, of this machine or of another.
    DiskRoom room(path.parent_path().parent_path(), DiskFloor{std::uint64_t{64} << 20, 0},
                  "store an archive");
    for (std::string piece = upload.read(piece_bytes); !piece.empty(); piece = upload.read(piece_bytes)) {
        checked.add(piece);
        room.take(piece.size());
        write_all(file.get(), piece);
    }
    checked.finish();
    if (::fsync(file.get()) != 0) throw system_error("cannot store the archive", errno);
}

}  // namespace

std::vector<CatalogueApplication> DirectoryCatalogue::list() {
    return reaching([this] {
        std::vector<CatalogueApplication> found;
        for (const auto& name : tree_.directories("", max_catalogue_applications))
            if (auto application = read_application(name)) found.push_back(std::move(*application));
        return found;
    });
}

// Nothing for a directory that is no application, is damaged or is removed meanwhile: the others are listed
// all the same.
std::optional<CatalogueApplication> DirectoryCatalogue::read_application(const std::string& name) const {
    CatalogueApplication application;
    application.name = name;
    try {
        check_catalogue_name(name);
        std::vector<int> numbers;
        for (const auto& text : tree_.directories(name, directory_catalogue_max_versions))
            if (is_version(text)) numbers.push_back(parse_version_number(text));
        std::sort(numbers.begin(), numbers.end());
        for (const int number : numbers)
            for (const auto& architecture : tree_.directories(name + "/" + std::to_string(number),
                                                              directory_catalogue_max_architectures))
                if (auto one = read_details({name, number, architecture}, nullptr))
                    merge(application, std::move(*one), architecture);
    } catch (const Error& e) {
        if (e.code() != ErrorCode::not_found && e.code() != ErrorCode::invalid_argument) throw;
    }
    if (application.versions.empty()) return std::nullopt;
    return application;
}

std::optional<CatalogueApplication> DirectoryCatalogue::read_details(const CatalogueKey& key,
                                                                     std::string* fingerprint) const {
    try {
        const Json details = Json::parse(tree_.read(key.path() + "/details.json", max_details));
        auto application = CatalogueApplication::from_json(details);
        if (application.name != key.name || application.versions.size() != 1 ||
            application.versions[0].number != key.version)
            return std::nullopt;
        const auto digest = JsonFields(details).require_string("fingerprint");
        if (!is_sha256_hex(digest)) return std::nullopt;
        if (fingerprint != nullptr) *fingerprint = digest;
        return application;
    } catch (const Error& e) {
        if (e.code() != ErrorCode::not_found && e.code() != ErrorCode::invalid_argument) throw;
        return std::nullopt;
    }
}

bool DirectoryCatalogue::has(std::string_view name, int version, std::string_view architecture) {
    const CatalogueKey key(name, version, architecture);
    if (std::error_code ignored; !fs::exists(tree_.root(), ignored)) return false;  // upload() makes it
    return reaching([&] { return tree_.has_file(key.path() + "/archive.tar.gz"); });
}

void DirectoryCatalogue::upload(const CatalogueUpload& upload) {
    const CatalogueKey key(upload.application.name, upload.version, upload.architecture);
    reaching([&] {
        ::mkdir(tree_.root().c_str(), directory_mode);
        tree_.open("", O_PATH | O_DIRECTORY);
        remove_leftovers();
        const TemporaryDirectory unfinished(tree_.root(), unfinished_prefix);
        write_version(upload, unfinished.path());
        move_into_place(key, unfinished.path(), upload.fingerprint);
    });
}

void DirectoryCatalogue::write_version(const CatalogueUpload& upload, const fs::path& folder) const {
    write_archive(upload, folder / "archive.tar.gz");
    write_file_atomically(folder / "manifest.yaml", upload.manifest, file_mode);
    write_file_atomically(folder / "details.json", stored_details(upload), file_mode);
    if (::chmod(folder.c_str(), directory_mode) != 0) throw system_error("cannot store the version", errno);
    sync_directory(folder);
}

// Makes the parent directories again when the application was removed meanwhile. They are opened beneath the
// root, where symbolic links are not followed.
void DirectoryCatalogue::move_into_place(const CatalogueKey& key, const fs::path& folder,
                                         const std::string& fingerprint) const {
    const FileDescriptor root = tree_.open("", O_RDONLY | O_DIRECTORY);
    for (int attempt = 0; attempt < 10; ++attempt) {
        try {
            ::mkdirat(root.get(), key.name.c_str(), directory_mode);
            const FileDescriptor application = tree_.open(key.name, O_RDONLY | O_DIRECTORY);
            ::mkdirat(application.get(), std::to_string(key.version).c_str(), directory_mode);
            const FileDescriptor version = tree_.open(key.version_path(), O_RDONLY | O_DIRECTORY);
            if (::renameat2(root.get(), folder.filename().c_str(), version.get(), key.architecture.c_str(),
                            RENAME_NOREPLACE) == 0) {
                ::fsync(version.get());
                ::fsync(application.get());
                ::fsync(root.get());
                return;
            }
            if (errno != EEXIST && errno != ENOENT) throw system_error("cannot store the version", errno);
        } catch (const Error& e) {
            if (e.code() != ErrorCode::not_found) throw;
        }
        std::string present;
        if (read_details(key, &present) && present == fingerprint) return;
        if (!present.empty())
            throw Error(ErrorCode::conflict, "version " + std::to_string(key.version) + " of application " +
                                                 quoted(key.name) + " already exists in the registry");
    }
    throw Error(ErrorCode::conflict, "version " + std::to_string(key.version) + " of application " +
                                         quoted(key.name) + " cannot be put into the registry");
}

void DirectoryCatalogue::remove_leftovers() const {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(tree_.root(), ignored)) {
        if (!entry.path().filename().string().starts_with(unfinished_prefix)) continue;
        const auto age = fs::file_time_type::clock::now() - entry.last_write_time(ignored);
        if (!ignored && age > unfinished_limit) remove_tree(entry.path());
    }
}

CatalogueDownload DirectoryCatalogue::download(std::string_view name, int version,
                                               std::string_view architecture,
                                               const std::function<void(std::string_view)>& write) {
    const CatalogueKey key(name, version, architecture);
    return reaching([&] {
        CatalogueDownload result;
        if (!read_details(key, &result.fingerprint))
            throw Error(ErrorCode::not_found, "application version not found in the registry");
        result.manifest = tree_.read(key.path() + "/manifest.yaml", max_catalogue_manifest);
        VerifiedBytes checked(result.fingerprint);
        tree_.read(key.path() + "/archive.tar.gz", [&](std::string_view piece) {
            checked.add(piece);
            write(piece);
        });
        checked.finish();
        return result;
    });
}

void DirectoryCatalogue::remove(std::string_view name) {
    check_catalogue_name(name);
    reaching([&] {
        const FileDescriptor root = tree_.open("", O_RDONLY | O_DIRECTORY);
        const auto away = unfinished_prefix + to_hex(random_bytes(8));
        struct stat status {};
        const int found = ::fstatat(root.get(), std::string(name).c_str(), &status, AT_SYMLINK_NOFOLLOW);
        if (found != 0 || !S_ISDIR(status.st_mode) ||
            ::renameat(root.get(), std::string(name).c_str(), root.get(), away.c_str()) != 0)
            throw Error(ErrorCode::not_found, "application not found in the registry");
        ::fsync(root.get());
        remove_tree(tree_.root() / away);
    });
}

}  // namespace svc
