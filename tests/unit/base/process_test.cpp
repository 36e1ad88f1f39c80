#include "libsvc/base/processes/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>
#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <iterator>

#include "libsvc/base/error.h"

using namespace std::chrono_literals;
using svc::run_command;

namespace {

svc::CommandResult shell(const std::string& script, std::string_view input = "") {
    return run_command({"/bin/sh", "-c", script}, 60s, input);
}

// While it lives no further file can be opened.
class NoFiles {
  public:
    NoFiles() {
        ::getrlimit(RLIMIT_NOFILE, &before_);
        const svc::FileDescriptor next(::open("/", O_PATH | O_CLOEXEC));
        const rlimit none{static_cast<rlim_t>(next.get()), before_.rlim_max};
        ::setrlimit(RLIMIT_NOFILE, &none);
    }
    ~NoFiles() { ::setrlimit(RLIMIT_NOFILE, &before_); }
    NoFiles(const NoFiles&) = delete;
    NoFiles& operator=(const NoFiles&) = delete;

  private:
    rlimit before_{};
};

template <class Call>
svc::ErrorCode code_of(Call call) {
    try {
        call();
    } catch (const svc::Error& e) {
        return e.code();
    }
    throw std::logic_error("it did not throw");
}

}  // namespace

TEST_CASE("a command gives its output, errors and exit code") {
    const auto result = shell("echo out; echo err >&2; exit 7");
    CHECK(result.output == "out\n");
    CHECK(result.errors == "err\n");
    CHECK(result.status.code == 7);
    CHECK(result.status.signal == 0);
    CHECK(shell("cat", "from us").output == "from us");
    CHECK(shell("exec cat").output.empty());
}

TEST_CASE("a command ended by a signal says which") {
    const auto result = shell("kill -TERM $$");
    CHECK(result.status.signal == SIGTERM);
    CHECK(result.status.code == 128 + SIGTERM);
}

TEST_CASE("output over the limit is dropped and the command still ends") {
    const auto result = shell("head -c 3000000 /dev/zero; head -c 200000 /dev/zero >&2");
    CHECK(result.output.size() == 1U << 20);
    CHECK(result.errors.size() == 64U << 10);
}

// Its `sleep` holds the output open: a call that waited for it would take an hour.
TEST_CASE("a command over its time is killed with its group") {
    try {
        run_command({"/bin/sh", "-c", "sleep 3600 & wait"}, 50ms);
        FAIL("did not throw");
    } catch (const svc::Error& e) {
        CHECK(e.code() == svc::ErrorCode::unavailable);
        CHECK(std::string(e.what()) == "command 'sh' did not end within 50 ms");
    }
}

TEST_CASE("a command that leaves a background process behind does not hold us up") {
    const auto result = shell("sleep 3600 & echo $!");
    CHECK(::kill(std::stoi(result.output), SIGKILL) == 0);
}

TEST_CASE("an absent program is told apart") {
    try {
        run_command({"/nonexistent/program"}, 1s);
        FAIL("did not throw");
    } catch (const svc::Error& e) {
        CHECK(e.code() == svc::ErrorCode::not_found);
        CHECK(std::string(e.what()) == "cannot run 'program': no such file or directory");
    }
}

TEST_CASE("a child inherits nothing it was not given") {
    const svc::FileDescriptor leak(::open("/dev/null", O_RDONLY));  // without O_CLOEXEC on purpose
    ::setenv("SVC_TEST_LEAK", "1", 1);
    const auto result = shell(
        "ls /proc/self/fd | wc -l; echo ${SVC_TEST_LEAK:-none}; grep -E 'Sig(Blk|Ign)' /proc/self/status");
    ::unsetenv("SVC_TEST_LEAK");
    CHECK(result.output ==  // 0, 1, 2 and the listing's own
          "4\nnone\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

TEST_CASE("a child of a process with many descriptors has none of them, and closes none of them") {
    std::vector<svc::FileDescriptor> many;
    for (int i = 0; i < 200; ++i) many.emplace_back(::open("/dev/null", O_RDONLY));
    CHECK(shell("ls /proc/self/fd | wc -l").output == "4\n");
    svc::SpawnOptions options;
    options.arguments = {"/bin/true"};
    options.descriptors = {
        {many.back().get(), many.front().get()}};  // the child's copy takes the place of another
    CHECK(svc::Child(options).wait().code == 0);
    options.arguments = {"/nonexistent/program"};
    CHECK_THROWS(svc::Child(options));
    for (const svc::FileDescriptor& one : many) CHECK(::fcntl(one.get(), F_GETFD) == 0);
}

TEST_CASE("descriptors are moved even when they cross") {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    const svc::FileDescriptor read_end(ends[0]);
    svc::FileDescriptor write_end(ends[1]);
    svc::SpawnOptions options;
    options.arguments = {"/bin/sh", "-c", "echo crossed >&" + std::to_string(ends[0])};
    if (ends[0] > 9) options.arguments = {"/bin/bash", "-c", "echo crossed >&" + std::to_string(ends[0])};
    options.descriptors = {{ends[1], ends[0]}, {ends[0], ends[1]}};
    svc::Child child(options);
    CHECK(child.wait().code == 0);
    write_end.reset();
    char buffer[16] = {};
    CHECK(::read(read_end.get(), buffer, sizeof buffer) == 8);
    CHECK(std::string(buffer) == "crossed\n");
}

TEST_CASE("waiting for a child ends at the limit or with the child") {
    svc::SpawnOptions options;
    options.arguments = {"/bin/sleep", "3600"};
    svc::Child child(options);
    CHECK_FALSE(child.wait_for(1ms));
    child.kill(SIGKILL);
    CHECK(child.wait_for(60s)->signal == SIGKILL);
    CHECK(child.wait().signal == SIGKILL);
}

TEST_CASE("a dropped child is killed and reaped") {
    pid_t pid = 0;
    {
        svc::SpawnOptions options;
        options.arguments = {"/bin/sleep", "3600"};
        svc::Child child(options);
        pid = child.pid();
        CHECK(svc::identify_process(pid));
    }
    CHECK(::kill(pid, 0) == -1);
}

TEST_CASE("a process is identified by pid and start time") {
    const auto self = svc::identify_process(::getpid());
    REQUIRE(self);
    CHECK(svc::is_alive(*self));
    CHECK_FALSE(svc::is_alive({self->pid, self->start_ticks + 1}));
    CHECK_FALSE(svc::identify_process(0));
    CHECK_FALSE(svc::open_process({self->pid, self->start_ticks + 1}));
    char before[16] = {};
    ::prctl(PR_GET_NAME, before);
    ::prctl(PR_SET_NAME, "a) R 1 (b");
    CHECK(svc::identify_process(::getpid()) == self);
    ::prctl(PR_SET_NAME, before);
}

TEST_CASE("an opened process becomes readable when it ends") {
    svc::SpawnOptions options;
    options.arguments = {"/bin/sleep", "3600"};
    svc::Child child(options);
    const auto process = svc::identify_process(child.pid());
    REQUIRE(process);
    const svc::FileDescriptor pidfd = svc::open_process(*process);
    REQUIRE(pidfd);
    child.kill(SIGTERM);
    pollfd ended{pidfd.get(), POLLIN, 0};
    CHECK(::poll(&ended, 1, 60'000) == 1);
    CHECK_FALSE(svc::is_alive(*process));  // a zombie is not alive
}

TEST_CASE("a process that cannot be looked at for want of files is not called dead") {
    const auto self = svc::identify_process(::getpid());
    REQUIRE(self);
    {
        const NoFiles none;
        CHECK(code_of([&] { svc::identify_process(self->pid); }) == svc::ErrorCode::exhausted);
        CHECK(code_of([&] { svc::is_alive(*self); }) == svc::ErrorCode::exhausted);
        CHECK(code_of([&] { svc::open_process(*self); }) == svc::ErrorCode::exhausted);
        CHECK(code_of([&] { svc::open_pid(self->pid); }) == svc::ErrorCode::exhausted);
        CHECK(svc::free_descriptors() == 0);
    }
    CHECK(svc::is_alive(*self));
    CHECK(svc::free_descriptors() > 0);
}

TEST_CASE("open files are counted, whichever numbers they have") {
    const std::uint64_t before = svc::free_descriptors();
    {
        std::vector<svc::FileDescriptor> files(8);
        for (auto& file : files) file = svc::open_file("/", O_PATH);
        CHECK(svc::free_descriptors() == before - 8);
        files.front().reset();  // its number is free below those of the others
        CHECK(svc::free_descriptors() == before - 7);
    }
    CHECK(svc::free_descriptors() == before);
    rlimit limit{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
    const std::filesystem::directory_iterator listed("/proc/self/fd");  // with its own
    const auto open = static_cast<std::uint64_t>(std::distance(begin(listed), end(listed)));
    CHECK(open + before == limit.rlim_cur + 1);
}

TEST_CASE("programs get the limit of open files that is set for them, not ours") {
    svc::set_file_limit_of_children(321);
    const auto limited = shell("ulimit -Sn");
    svc::set_file_limit_of_children(0);
    CHECK(limited.output == "321\n");
    rlimit own{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &own) == 0);
    CHECK(shell("ulimit -Sn").output == std::to_string(own.rlim_cur) + "\n");
}
