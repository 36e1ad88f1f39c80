#include "tests/support/image_package.h"

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/processes/process.h"

namespace svc::test {

namespace fs = std::filesystem;

std::string image_package(const PackageContent& content) {
    const TemporaryDirectory directory(fs::temp_directory_path(), "svc-package-");
    const fs::path root = directory.path() / "rootfs";
    for (const char* folder : {"etc", "sbin"}) fs::create_directories(root / folder);
    std::string metadata = "creation_date: 1700000000\nproperties: {os: test, ready_file: /run/ready}\n";
    if (!content.architecture.empty()) metadata = "architecture: " + content.architecture + "\n" + metadata;
    write_file_atomically(directory.path() / "metadata.yaml", metadata, 0644);
    write_file_atomically(root / "etc/motd", content.text, 0644);
    write_file_atomically(root / "sbin/init", "#!/bin/sh\n", 0755);
    if (content.padding) write_file_atomically(root / "data", random_bytes(content.padding), 0644);
    const fs::path package = directory.path() / "package.tar.gz";
    const auto made = run_command(
        {"/bin/tar", "-C", directory.path(), "--sort=name", "--mtime=@0", "--owner=0", "--group=0",
         "--use-compress-program=gzip -n", "-cf", package, "metadata.yaml", "rootfs"},
        std::chrono::seconds(60));
    if (made.status.code != 0) throw Error(ErrorCode::internal, "tar failed: " + made.errors);
    return read_file(package, std::size_t{1} << 30U);
}

}  // namespace svc::test
