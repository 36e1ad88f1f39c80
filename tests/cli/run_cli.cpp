#include "tests/cli/run_cli.h"

#include <sys/mman.h>
#include <unistd.h>

#include "cli/run.h"
#include "libsvc/base/error.h"
#include "libsvc/base/file.h"

namespace svc::test {
namespace {

FileDescriptor memory_file(std::string_view content = "") {
    FileDescriptor file(::memfd_create("cli-test", MFD_CLOEXEC));
    if (!file) throw system_error("memfd", errno);
    write_all(file.get(), content);
    ::lseek(file.get(), 0, SEEK_SET);
    return file;
}

std::string content_of(const FileDescriptor& file) {
    ::lseek(file.get(), 0, SEEK_SET);
    std::string all, block(64U << 10, '\0');
    for (ssize_t got = 0; (got = ::read(file.get(), block.data(), block.size())) > 0;)
        all.append(block, 0, static_cast<std::size_t>(got));
    return all;
}

}  // namespace

CliRun run_cli(const std::vector<std::string>& words, const CliSettings& settings) {
    const FileDescriptor in = memory_file(settings.input), out = memory_file(), err = memory_file();
    cli::Environment environment;
    environment.in = in.get();
    environment.out = out.get();
    environment.err = err.get();
    environment.socket = settings.socket;
    environment.gateway_socket = settings.gateway_socket;
    environment.gateway_token = settings.gateway_token;
    environment.config_directory = settings.config_directory;
    const int status = cli::run(words, environment);
    return {status, content_of(out), content_of(err)};
}

}  // namespace svc::test
