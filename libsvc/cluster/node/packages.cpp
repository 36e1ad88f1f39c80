#include "libsvc/cluster/node/packages.h"

#include <fcntl.h>

#include <algorithm>
#include <chrono>
#include <system_error>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/log.h"
#include "libsvc/base/presence.h"

namespace svc::node {

namespace {

constexpr std::chrono::hours longest_wait{1};

std::filesystem::path package_path(const std::filesystem::path& folder, const std::string& name) {
    const bool hex = name.find_first_not_of("0123456789abcdef") == std::string::npos;
    if (name.empty() || name.size() > 64 || !hex)
        throw Error(ErrorCode::invalid_argument, "name of a package is not usable");
    return folder / name;
}

void forget(const std::filesystem::path& file) {
    std::error_code error;
    std::filesystem::remove(file, error);
    if (error) log::warning("received package cannot be removed", {{"error", error.message()}});
}

void remove_forgotten(const std::filesystem::path& folder) {
    const auto oldest = std::filesystem::file_time_type::clock::now() - longest_wait;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error))
        if (entry.last_write_time(error) < oldest && !error) forget(entry.path());
}

class PackageSink final : public BodySink {
  public:
    explicit PackageSink(std::filesystem::path path)
        : path_(std::move(path)), file_(open_file(path_, O_WRONLY | O_CREAT | O_TRUNC)) {}
    ~PackageSink() override {
        if (!finished_) forget(path_);
    }
    PackageSink(const PackageSink&) = delete;
    PackageSink& operator=(const PackageSink&) = delete;
    void write(std::string_view data) override { write_all(file_.get(), data); }
    void finish() override {
        file_.reset();
        finished_ = true;
    }

  private:
    std::filesystem::path path_;
    FileDescriptor file_;
    bool finished_ = false;
};

}  // namespace

WaitingPackage::WaitingPackage(const std::filesystem::path& folder, const std::string& name)
    : path_(package_path(folder, name)) {
    if (!is_there(path_)) throw Error(ErrorCode::not_found, "package was not received");
}

WaitingPackage::~WaitingPackage() {
    forget(path_);
}

std::shared_ptr<BodySink> receive_package(const std::filesystem::path& folder, const std::string& name) {
    make_directories(folder);
    remove_forgotten(folder);
    return std::make_shared<PackageSink>(package_path(folder, name));
}

}  // namespace svc::node
