#include "instance-agent/agent/phases/updates.h"

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"

namespace svc::agent {
namespace {

namespace fs = std::filesystem;

bool is_url(std::string_view word) {
    return word.starts_with("http://") || word.starts_with("https://") || word.starts_with("mirror://");
}

std::string line_with_mirror(const std::string& line, const std::string& mirror) {
    std::string result;
    for (std::size_t at = 0; at < line.size();) {
        const std::size_t word_end = std::min(line.find_first_of(" \t", at), line.size());
        const std::string word = line.substr(at, word_end - at);
        result += is_url(word) && word.find("debian-security") == std::string::npos ? mirror : word;
        at = std::min(line.find_first_not_of(" \t", word_end), line.size());
        result += line.substr(word_end, at - word_end);
    }
    return result;
}

// While it lives, updated packages do not start their services: the guest's init does not run yet.
class QuietServices {
  public:
    explicit QuietServices(const Paths& paths) : file_(paths.in_guest("/usr/sbin/policy-rc.d")) {
        std::error_code error;
        const bool wanted = fs::is_directory(file_.parent_path(), error);
        if (!wanted || fs::exists(fs::symlink_status(file_, error))) return;
        write_file_atomically(file_, "#!/bin/sh\nexit 101\n", 0755);
        written_ = true;
    }
    ~QuietServices() {
        std::error_code ignored;
        if (written_) fs::remove(file_, ignored);
    }
    QuietServices(const QuietServices&) = delete;
    QuietServices& operator=(const QuietServices&) = delete;

  private:
    fs::path file_;
    bool written_ = false;
};

void run(const PhaseContext& phase, const std::vector<std::string>& command) {
    Program program{command, program_environment(phase.session), phase.paths.guest, phase.left() / 3};
    program.environment.push_back("DEBIAN_FRONTEND=noninteractive");
    const std::string name = fs::path(command[0]).filename().string() + " " + command.back();
    const ProgramEnd end = run_in_phase(phase, program);
    if (end.timed_out) throw Error(ErrorCode::unavailable, name + " took too long");
    if (!end.succeeded()) throw Error(ErrorCode::unavailable, name + ": " + end.reason());
}

void copy_sources(const fs::path& from, const fs::path& to, const std::string& mirror) {
    std::error_code error;
    if (fs::is_regular_file(from, error))
        write_file_atomically(to, use_mirror(read_file(from), mirror), 0644);
}

// The guest's own source files stay as they are: an instance may run later where the mirror cannot be
// reached.
std::vector<std::string> mirror_options(const PhaseContext& phase) {
    if (phase.session.apt_mirror.empty()) return {};
    const fs::path folder = phase.paths.downloads() / "apt";
    const fs::path own = phase.paths.in_guest("/etc/apt");
    remove_tree(folder);
    make_directories(folder / "sources.list.d", 0755);
    copy_sources(own / "sources.list", folder / "sources.list", phase.session.apt_mirror);
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(own / "sources.list.d", error))
        copy_sources(entry.path(), folder / "sources.list.d" / entry.path().filename(),
                     phase.session.apt_mirror);
    return {"-o", "Dir::Etc::sourcelist=" + (folder / "sources.list").string(), "-o",
            "Dir::Etc::sourceparts=" + (folder / "sources.list.d").string()};
}

void update_with_apt(const PhaseContext& phase, const fs::path& apt) {
    const QuietServices quiet(phase.paths);
    std::vector<std::string> command{
        apt, "-q", "-y", "-o", "Dpkg::Options::=--force-confdef", "-o", "Dpkg::Options::=--force-confold"};
    for (const std::string& option : mirror_options(phase)) command.push_back(option);
    for (const char* verb : {"update", "upgrade"}) {
        command.emplace_back(verb);
        run(phase, command);
        command.pop_back();
    }
    remove_tree(phase.paths.downloads() / "apt");
}

}  // namespace

std::string use_mirror(const std::string& sources, const std::string& mirror) {
    std::vector<std::string> lines = split(sources, '\n');
    for (std::string& line : lines) {
        const std::string_view text = trim(line);
        if (text.starts_with("deb") || text.starts_with("URIs:")) line = line_with_mirror(line, mirror);
    }
    return join(lines, "\n");
}

std::optional<std::string> install_updates(const PhaseContext& phase) try {
    const fs::path apt = find_program(phase.paths, "apt-get");
    const fs::path apk = find_program(phase.paths, "apk");
    if (!apt.empty())
        update_with_apt(phase, apt);
    else if (!apk.empty())
        for (const char* verb : {"update", "upgrade"}) run(phase, {apk, verb});
    else
        return "security updates were not installed: the guest has no known package manager";
    log::info("security updates are installed");
    return std::nullopt;
} catch (const std::exception& e) {
    log::warning("security updates failed", {{"reason", e.what()}});
    return "security updates were not installed: " + std::string(e.what());
}

}  // namespace svc::agent
