#pragma once
// Small addon and application packages, made for a test.
#include <string>
#include <vector>

namespace svc::test {

struct PackedFile {
    std::string path;
    std::string text;
    unsigned mode = 0644;
};

// The bytes of a bzip2 tarball. The same files give the same bytes.
std::string bzip2_package(const std::vector<PackedFile>& files);
// manifest.yaml and an install hook; another text is another package.
std::string addon_package(const std::string& text = "hello");
// manifest.yaml alone: `name`, then `keys`, lines of YAML.
std::string application_package(const std::string& name, const std::string& keys = "");

}  // namespace svc::test
