#include "libsvc/net/socket/bind.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>
#include <thread>
#include <vector>

#include "tests/support/error_code.h"
#include "tests/support/eventually.h"

using namespace svc;

namespace {

// Zero: somebody listens there.
int connect_to(const std::filesystem::path& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.native().copy(address.sun_path, sizeof(address.sun_path) - 1);
    const FileDescriptor fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const bool connected =
        connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
    return connected || errno == EAGAIN ? 0 : errno;  // EAGAIN: many wait to be accepted already
}

std::size_t files_in(const std::filesystem::path& folder) {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator()));
}

}  // namespace

TEST_CASE("whoever sees the name of a socket can connect to it") {
    const TemporaryDirectory folder(std::filesystem::temp_directory_path(), "bind-test-");
    const auto path = folder.path() / "socket";
    std::atomic<int> seen = 0, refused = 0;
    std::jthread watcher([&](const std::stop_token& over) {
        while (!over.stop_requested()) {
            const int error = connect_to(path);
            if (error == 0) ++seen;
            if (error == ECONNREFUSED) ++refused;
        }
    });
    std::vector<FileDescriptor> listeners;  // all stay: who was about to connect must not be refused later
    for (int i = 0; i < 100; ++i) {
        listeners.push_back(net::bind_unix(path, 0666, -1));
        const int before = seen;
        test::eventually("the watcher has connected", [&] { return seen != before; });
        std::filesystem::remove(path);
    }
    watcher.request_stop();
    watcher.join();
    CHECK(refused == 0);
}

TEST_CASE("a socket has its mode and leaves no other file") {
    const TemporaryDirectory folder(std::filesystem::temp_directory_path(), "bind-test-");
    const auto path = folder.path() / "socket";
    const FileDescriptor listener = net::bind_unix(path, 0640, -1);
    struct stat status {};
    REQUIRE(stat(path.c_str(), &status) == 0);
    CHECK((status.st_mode & 07777U) == 0640U);
    CHECK(files_in(folder.path()) == 1);
    CHECK(test::code_of([&] { net::bind_unix(path, 0640, -1); }) == ErrorCode::busy);
    CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("a stale socket is replaced, and one with the longest name there may be is made") {
    const TemporaryDirectory folder(std::filesystem::temp_directory_path(), "bind-test-");
    const auto path =
        folder.path() / std::string(sizeof(sockaddr_un::sun_path) - 2 - folder.path().native().size(), 'x');
    for (int i = 0; i < 2; ++i) {
        const FileDescriptor listener = net::bind_unix(path, 0600, -1);
        CHECK(connect_to(path) == 0);
    }
    CHECK(connect_to(path) == ECONNREFUSED);
    CHECK(test::code_of([&] { net::bind_unix(path.native() + "y", 0600, -1); }) ==
          ErrorCode::invalid_argument);
}
