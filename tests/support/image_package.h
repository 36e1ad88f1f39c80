#pragma once
// Small image packages, made for a test.
#include <filesystem>
#include <string>

namespace svc::test {

struct PackageContent {
    std::string architecture = "x86_64";  // "": metadata.yaml leaves it out
    std::string text = "hello";           // of /etc/motd: another text is another package
    std::size_t padding = 0;              // bytes of /data that do not compress
};

// The bytes of a gzip tarball with metadata.yaml and rootfs/. The same content gives the same bytes.
std::string image_package(const PackageContent& content = {});

}  // namespace svc::test
