#include "libsvc/runtime/lxc/container/guest_logs.h"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "libsvc/base/file.h"

using namespace svc;

namespace {

struct Upper {
    TemporaryDirectory directory{std::filesystem::temp_directory_path(), "svc-upper-"};
    std::filesystem::path logs = directory.path() / "var/lib/svc-agent/logs";
    std::vector<std::string> names() const {
        std::vector<std::string> all;
        for (const LogFile& log : lxc::guest_logs(directory.path()))
            all.push_back(log.name + " " + log.path.filename().native());
        return all;
    }
};

}  // namespace

TEST_CASE_METHOD(Upper, "logs of the agent are found where it wrote something") {
    CHECK(names().empty());
    std::filesystem::create_directories(logs);
    std::ofstream(logs / "agent.log") << "agent";
    std::ofstream(logs / "hooks.log") << "hooks";
    std::ofstream(logs / "empty.log");
    CHECK(names() == std::vector<std::string>{"system.log agent.log", "system.log hooks.log"});
}

TEST_CASE_METHOD(Upper, "a link of the guest leads nowhere") {
    std::filesystem::create_directories(logs.parent_path());
    std::filesystem::create_directories(directory.path() / "elsewhere");
    std::ofstream(directory.path() / "elsewhere/hooks.log") << "secret";
    std::filesystem::create_directory_symlink(directory.path() / "elsewhere", logs);
    CHECK(names().empty());
    std::filesystem::remove(logs);
    std::filesystem::create_directories(logs);
    std::filesystem::create_symlink(directory.path() / "elsewhere/hooks.log", logs / "hooks.log");
    CHECK(names().empty());
}

TEST_CASE_METHOD(Upper, "what a guest puts in the place of a log later is not read") {
    std::filesystem::create_directories(logs);
    std::ofstream(directory.path() / "secret") << "of the host";
    std::ofstream(logs / "hooks.log") << "hooks";
    const auto found = lxc::guest_logs(directory.path());
    std::filesystem::remove(logs / "hooks.log");
    std::filesystem::create_symlink(directory.path() / "secret", logs / "hooks.log");
    REQUIRE(found.size() == 1);
    std::string text(16, '\0');
    const auto size = ::pread(found[0].file->get(), text.data(), text.size(), 0);
    CHECK(text.substr(0, static_cast<std::size_t>(size)) == "hooks");
    CHECK(lxc::guest_logs(directory.path()).empty());
}

TEST_CASE_METHOD(Upper, "a pipe in the place of a log holds nobody") {
    std::filesystem::create_directories(logs);
    REQUIRE(::mkfifo((logs / "agent.log").c_str(), 0600) == 0);
    CHECK(names().empty());
}
