#pragma once
// Packages on their way to a node: a leader sends the file first, and then the call that makes a layer of it.
#include <filesystem>
#include <memory>
#include <string>

#include "libsvc/net/http/request.h"

namespace svc::node {

// A received package; the destructor removes the file. Throws not_found, invalid_argument.
class WaitingPackage {
  public:
    WaitingPackage(const std::filesystem::path& folder, const std::string& name);
    ~WaitingPackage();
    WaitingPackage(const WaitingPackage&) = delete;
    WaitingPackage& operator=(const WaitingPackage&) = delete;
    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

// Writes the body of a request to `folder`/`name` (hexadecimal digits). Removes files that wait for their
// call longer than an hour: their leader has gone.
std::shared_ptr<BodySink> receive_package(const std::filesystem::path& folder, const std::string& name);

}  // namespace svc::node
