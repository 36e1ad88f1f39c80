#include "tests/agent/phases/place.h"

#include <time.h>
#include <unistd.h>

#include "libsvc/base/error.h"

namespace svc::test {

namespace fs = std::filesystem;

Place::Place() : directory_(fs::temp_directory_path(), "agent-") {
    session.instance_id = "c08p730j1qm6t2783da0";
    session.instance_type = "regular";
    session.token = "secret-token";
    session.service_socket = (path() / "service.unix").string();
    session.boot_timeout_seconds = 60;
    paths = {path() / "data", path() / "guest", path() / "proc"};
    make_directories(paths.data);
    make_directories(paths.guest);
    write(paths.proc / "sys/kernel/random/boot_id", "6bdc9f30-0e8e-4a42-9aab-3a8c13d6cf01\n");
    restart_instance();
}

void Place::restart_instance() {
    timespec now{};
    ::clock_gettime(CLOCK_BOOTTIME, &now);
    const long ticks = now.tv_sec * ::sysconf(_SC_CLK_TCK) - ++starts_;
    write(paths.proc / "1/stat",
          "1 (in) it)) S 0 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 " + std::to_string(ticks) + " 9 9\n");
}

void Place::write(const fs::path& file, const std::string& text, unsigned mode) const {
    make_directories(file.parent_path(), 0755);
    write_file_atomically(file, text, mode);
}

std::string Place::read(const std::string& file) const try {
    return read_file(path() / file);
} catch (const Error&) {
    return "";
}

PackageRef& Place::add_package(const std::string& name,
                               const std::vector<std::pair<std::string, std::string>>& hooks,
                               bool application) {
    PackageRef package;
    package.name = name;
    package.is_application = application;
    make_directories(paths.directory_of(package), 0755);
    for (const auto& [hook, script] : hooks) {
        package.hooks.push_back(hook);
        write(paths.directory_of(package) / "hooks" / hook, "#!/bin/sh\n" + script + "\n", 0755);
    }
    if (application) session.app.name = name;
    session.packages.push_back(std::move(package));
    return session.packages.back();
}

agent::PhaseContext Place::phase() {
    if (!output_) output_.emplace(paths.logs() / "hooks.log", 1U << 20);
    return {session,          paths,    clock, clock.steady_now() + std::chrono::hours(1),
            stop.get_token(), *output_, {}};
}

std::optional<InstanceReport> Place::prepare(const agent::Call& call) {
    return agent::prepare_guest(session, paths, clock, call, stop.get_token());
}

InstanceReport Place::complete() {
    auto report = agent::complete_guest(session, paths, clock, stop.get_token());
    REQUIRE(report);
    return *report;
}

std::optional<InstanceReport> Place::follow(int exit_code) {
    return agent::follow_guest(session, paths, clock, exit_code, stop.get_token());
}

ClientReply Place::nobody(const Target&, const ClientRequest&) {
    throw Error(ErrorCode::unavailable, "nobody there");
}

std::string note_order(const Place& place, const std::string& word) {
    return "echo " + word + " >> " + (place.path() / "order").string();
}

}  // namespace svc::test
