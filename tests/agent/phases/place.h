#pragma once
// An instance below a temporary directory: its data, a guest, and what /proc says of its first process.
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "instance-agent/agent/phases/phases.h"
#include "libsvc/base/file.h"
#include "tests/agent/phases/hasty_clock.h"

namespace svc::test {

class Place {
  public:
    Place();
    std::filesystem::path path() const { return directory_.path(); }

    // A package with its hooks in place, named in the session: shell scripts by name.
    PackageRef& add_package(const std::string& name,
                            const std::vector<std::pair<std::string, std::string>>& hooks,
                            bool application = false);
    void write(const std::filesystem::path& file, const std::string& text, unsigned mode = 0644) const;
    std::string read(const std::string& file) const;  // below the place; "" when absent
    bool has(const std::string& file) const { return std::filesystem::exists(path() / file); }
    void restart_instance();  // its first process is another one now

    agent::PhaseContext phase();
    std::optional<InstanceReport> prepare(const agent::Call& call = nobody);
    InstanceReport complete();
    std::optional<InstanceReport> follow(int exit_code = 0);

    static ClientReply nobody(const Target&, const ClientRequest&);

    AgentSession session;
    agent::Paths paths;
    HastyClock clock;
    std::stop_source stop;

  private:
    TemporaryDirectory directory_;
    int starts_ = 0;
    std::optional<agent::BoundedFile> output_;
};

// A hook that appends `word` to the file `order` beside the data.
std::string note_order(const Place& place, const std::string& word);

}  // namespace svc::test
