#include "tests/support/application_package.h"

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/processes/process.h"

namespace svc::test {

namespace fs = std::filesystem;

std::string bzip2_package(const std::vector<PackedFile>& files) {
    const TemporaryDirectory directory(fs::temp_directory_path(), "svc-package-");
    for (const PackedFile& file : files) {
        fs::create_directories((directory.path() / file.path).parent_path());
        write_file_atomically(directory.path() / file.path, file.text, file.mode);
    }
    const TemporaryDirectory target(fs::temp_directory_path(), "svc-package-");
    const fs::path package = target.path() / "package.tar.bz2";
    const auto made = run_command({"/bin/tar", "-C", directory.path(), "--sort=name", "--mtime=@0",
                                   "--owner=0", "--group=0", "-cjf", package, "."},
                                  std::chrono::seconds(60));
    if (made.status.code != 0) throw Error(ErrorCode::internal, "tar failed: " + made.errors);
    return read_file(package, std::size_t{1} << 30U);
}

std::string addon_package(const std::string& text) {
    return bzip2_package({{"manifest.yaml", "name: addon\ndescription: " + text + "\n"},
                          {"hooks/install", "#!/bin/sh\n", 0755}});
}

std::string application_package(const std::string& name, const std::string& keys) {
    return bzip2_package({{"manifest.yaml", "name: " + name + "\n" + keys}});
}

}  // namespace svc::test
