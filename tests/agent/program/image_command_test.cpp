#include "instance-agent/agent/processes/image_command.h"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>

#include "instance-agent/agent/processes/forwarding_init.h"
#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "tests/support/eventually.h"

using namespace svc;

namespace {

constexpr const char* users =
    "root:x:0:0:root:/root:/bin/sh\nweb:x:101:102:Web:/srv/web:/bin/false\nbroken:x:y\n";
constexpr const char* groups =
    "root:x:0:\nweb:x:102:\naudio:x:29:web,other\nvideo:x:44:other\nweb2:x:200:web\n";

agent::ImageUser found(const std::string& user) {
    return agent::find_image_user(user, users, groups);
}

}  // namespace

TEST_CASE("the user of an image is found by name or number, with the groups") {
    CHECK(found("").uid == 0);
    CHECK(found("").home == "/root");
    const auto web = found("web");
    CHECK(web.uid == 101);
    CHECK(web.gid == 102);
    CHECK(web.groups == std::vector<unsigned>{102, 29, 200});
    CHECK(web.home == "/srv/web");
    CHECK(found("101").gid == 102);
    CHECK(found("web:video").gid == 44);
    CHECK(found("web:video").groups == std::vector<unsigned>{44});
    CHECK(found("7:8").uid == 7);
    CHECK(found("7:8").gid == 8);
    CHECK(found("7").gid == 0);
    CHECK_THROWS_WITH(found("absent"), "the image has no user 'absent'");
    CHECK_THROWS_WITH(found("web:absent"), "the image has no group 'absent'");
    CHECK(agent::find_image_user("", "", "").home == "/");
}

namespace {

// The exit status of a small init that runs a script, which makes the file "$READY" when it may get the
// signal.
int status_of(const std::string& script, int signal = 0) {
    const TemporaryDirectory place(std::filesystem::temp_directory_path(), "svc-init-");
    const auto mark = place.path() / "ready";
    const std::string whole = "READY=" + mark.string() + "; " + script;
    const pid_t init = ::fork();
    REQUIRE(init >= 0);
    if (init == 0) {
        const agent::BlockedSignals signals;
        const auto become = [&] {
            signals.restore();
            ::execl("/bin/sh", "sh", "-c", whole.c_str(), nullptr);
        };
        ::_exit(agent::run_below_init(become, SIGQUIT));
    }
    if (signal != 0) {
        test::eventually("the program is ready", [&] { return std::filesystem::exists(mark); });
        ::kill(init, signal);
    }
    int status = 0;
    REQUIRE(::waitpid(init, &status, 0) == init);
    return WEXITSTATUS(status);
}

}  // namespace

TEST_CASE("the small init ends as its program does, and passes on signals") {
    const std::string waiting = ": >$READY; while :; do sleep 0.01; done";
    CHECK(status_of("exit 7") == 7);
    CHECK(status_of("kill -9 $$") == 128 + 9);
    CHECK(status_of(waiting, SIGTERM) == 128 + SIGQUIT);
    CHECK(status_of(waiting, SIGHUP) == 128 + SIGHUP);
    CHECK(status_of("trap 'exit 5' USR1; " + waiting, SIGUSR1) == 5);
    CHECK(status_of("trap 'exit 6' QUIT; " + waiting, SIGPWR) == 6);
    CHECK(status_of("(sleep 0.05; exit 3) & exit 4") == 4);
}

TEST_CASE("the small init does not lose a signal that came before its program began") {
    const pid_t init = ::fork();
    REQUIRE(init >= 0);
    if (init == 0) {
        const agent::BlockedSignals signals;
        ::raise(SIGTERM);
        ::_exit(agent::run_below_init([] { ::execl("/bin/sh", "sh", "-c", "exec sleep 100", nullptr); },
                                      SIGKILL));
    }
    int status = 0;
    REQUIRE(::waitpid(init, &status, 0) == init);
    CHECK(WEXITSTATUS(status) == 128 + SIGKILL);
}
