#include "libsvc/runtime/lxc/guest_logs.h"

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
