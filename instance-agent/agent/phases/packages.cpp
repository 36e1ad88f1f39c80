#include "instance-agent/agent/phases/packages.h"

#include <fcntl.h>

#include <algorithm>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/failpoint.h"
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"
#include "libsvc/formats/package_unpack.h"

namespace svc::agent {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr int attempts = 3;
constexpr Duration first_pause = 1s;
constexpr Duration silence_limit = 30s;  // longest time without a byte

std::string marker_name(const PackageRef& package) {
    return package.is_application ? "app" : "addon-" + package.name;
}

fs::path download_of(const Paths& paths, const PackageRef& package) {
    if (!is_sha256_hex(package.fingerprint))
        throw Error(ErrorCode::invalid_argument, "fingerprint of " + describe(package) + " is invalid");
    return paths.downloads() / package.fingerprint;
}

// Writes the body of one reply to disk and hashes it.
class Download {
  public:
    Download(const PhaseContext& phase, const PackageRef& package, const fs::path& file)
        : work_(phase), package_(package), file_(open_file(file, O_WRONLY | O_CREAT | O_TRUNC)) {}

    void take(std::string_view bytes) {
        if (work_.stop.stop_requested()) throw Error(ErrorCode::cancelled, "was interrupted");
        if (work_.left() == Duration(0)) throw Error(ErrorCode::cancelled, "the time of the instance was up");
        if (bytes.size() > package_.size - size_)
            throw Error(ErrorCode::unavailable, "it is larger than expected");
        size_ += bytes.size();
        digest_.update(bytes);
        write_all(file_.get(), bytes);
    }

    void check() {
        if (size_ != package_.size) throw Error(ErrorCode::unavailable, "it is smaller than expected");
        if (!equal_constant_time(digest_.hex(), package_.fingerprint))
            throw Error(ErrorCode::unavailable, "its SHA-256 digest is not the expected one");
    }

  private:
    const PhaseContext& work_;
    const PackageRef& package_;
    FileDescriptor file_;
    Sha256 digest_;
    std::uint64_t size_ = 0;
};

[[noreturn]] void throw_refused(const ClientReply& reply) {
    const ErrorCode code = reply.status < 500 ? ErrorCode::forbidden : ErrorCode::unavailable;
    std::string text = "the service answered " + std::to_string(reply.status);
    try {
        text += ": " + Json::parse(reply.body).at("error").as_string();
    } catch (const Error&) {
        throw Error(code, text);  // the reply is none of the service's: its text is kept
    }
    throw Error(code, text);
}

void fetch_once(const PhaseContext& phase, const Call& call, const PackageRef& package,
                const fs::path& file) {
    std::optional<Download> download;
    const ClientReply reply = call_any(phase.session, call, [&] {
        ClientRequest request =
            authorised_request(phase.session, Method::get, "/1.0/artifacts/" + package.fingerprint);
        download.emplace(phase, package, file);
        request.sink = [&download](std::string_view bytes) { download->take(bytes); };
        request.timeout =
            std::chrono::ceil<std::chrono::milliseconds>(std::min(silence_limit, phase.left() + 1ms));
        return request;
    });
    if (reply.status != 200) throw_refused(reply);
    download->check();
}

void fetch_patiently(const PhaseContext& phase, const Call& call, const PackageRef& package,
                     const fs::path& file) {
    Duration pause = first_pause;
    for (int attempt = 1;; ++attempt, pause *= 2) try {
            return fetch_once(phase, call, package, file);
        } catch (const Error& e) {
            if (e.code() != ErrorCode::unavailable || attempt == attempts) throw;
            log::warning("package was not fetched", {{"package", describe(package)}, {"reason", e.what()}});
            if (!phase.clock.wait(phase.stop, std::min(pause, phase.left()))) throw;
        }
}

}  // namespace

bool is_unpacked(const Paths& paths, const PackageRef& package) try {
    return fs::is_directory(paths.directory_of(package)) &&
           read_file(paths.fetched() / marker_name(package)) == package.fingerprint;
} catch (const Error&) {
    return false;
}

void fetch_package(const PhaseContext& phase, const Call& call, const PackageRef& package) {
    with_context("cannot fetch " + describe(package), [&] {
        make_directories(phase.paths.downloads());
        fetch_patiently(phase, call, package, download_of(phase.paths, package));
        failpoint("agent.fetched");
    });
    log::info("package was fetched",
              {{"package", describe(package)}, {"bytes", std::to_string(package.size)}});
}

void unpack_fetched(const PhaseContext& phase, const PackageRef& package) {
    with_context("cannot unpack " + describe(package), [&] {
        const fs::path directory = phase.paths.directory_of(package);
        const fs::path download = download_of(phase.paths, package);
        const fs::path fresh = download.string() + ".d";
        remove_tree(fresh);
        make_directories(fresh, 0755);
        unpack_package(download, fresh, {}, phase.stop);
        failpoint("agent.unpacked");
        fs::remove(download);
        failpoint("agent.download_removed");
        make_directories(directory.parent_path(), 0755);
        remove_tree(directory);
        fs::rename(fresh, directory);
        failpoint("agent.package_placed");
        make_directories(phase.paths.fetched(), 0755);
        write_file_atomically(phase.paths.fetched() / marker_name(package), package.fingerprint);
    });
}

}  // namespace svc::agent
