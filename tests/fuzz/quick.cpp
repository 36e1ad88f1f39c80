// Runs fuzz targets without libFuzzer: first what is in the corpus, which holds every input that once was a
// finding, then changed inputs for a while. usage: fuzz-... --corpus FOLDER [--seconds N] [--seed N]
// [TARGET...]. Environment: SVC_FUZZ_SECONDS, SVC_FUZZ_SEED. A finding ends the process; its input is in the
// file that the last line names.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>

#include "libsvc/base/file.h"
#include "libsvc/base/log.h"
#include "tests/fuzz/dictionary.h"
#include "tests/fuzz/mutator.h"
#include "tests/fuzz/target.h"

namespace svc::fuzz {

namespace {

namespace fs = std::filesystem;

constexpr unsigned longest_run = 60;  // seconds: a parser that takes longer is a finding

std::map<std::string, Target>& targets() {
    static std::map<std::string, Target> all;
    return all;
}

// For the signal handler: what is being run.
std::string current;
std::array<char, 512> finding{};
std::array<char, 512> report{};

void save_finding(int signal) {
    const int file = ::open(finding.data(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0 || ::write(file, current.data(), current.size()) < 0 ||
        ::write(STDERR_FILENO, report.data(), std::strlen(report.data())) < 0)
        ::_exit(2);
    ::signal(signal, SIG_DFL);
    ::raise(signal);
}

struct Settings {
    fs::path corpus;
    double seconds = 1;
    std::uint64_t seed = 1;
    std::vector<std::string> names;
};

const char* from_environment(const char* name, const char* otherwise) {
    const char* const value = std::getenv(name);
    return value == nullptr ? otherwise : value;
}

Settings read_settings(int argc, char** argv) {
    Settings settings;
    settings.seconds = std::atof(from_environment("SVC_FUZZ_SECONDS", "1"));
    settings.seed = std::strtoull(from_environment("SVC_FUZZ_SEED", "1"), nullptr, 10);
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        const bool with_value = i + 1 < argc;
        if (word == "--corpus" && with_value)
            settings.corpus = argv[++i];
        else if (word == "--seconds" && with_value)
            settings.seconds = std::atof(argv[++i]);
        else if (word == "--seed" && with_value)
            settings.seed = std::strtoull(argv[++i], nullptr, 10);
        else
            settings.names.push_back(word);
    }
    return settings;
}

std::vector<std::string> read_corpus(const fs::path& folder) {
    std::vector<fs::path> files;
    std::error_code absent;
    for (const auto& file : fs::directory_iterator(folder, absent)) files.push_back(file.path());
    std::sort(files.begin(), files.end());
    std::vector<std::string> inputs;
    for (const fs::path& file : files) inputs.push_back(read_file(file));
    return inputs;
}

void run_one(Target target, std::string input) {
    current = std::move(input);
    ::alarm(longest_run);
    target(reinterpret_cast<const std::uint8_t*>(current.data()), current.size());
}

void announce(const std::string& name, const Settings& settings, std::uint64_t number) {
    std::snprintf(finding.data(), finding.size(), "finding-%s-%llu-%llu", name.c_str(),
                  static_cast<unsigned long long>(settings.seed), static_cast<unsigned long long>(number));
    std::snprintf(report.data(), report.size(), "fuzz: %s, seed %llu, input %llu: a finding, saved in %s\n",
                  name.c_str(), static_cast<unsigned long long>(settings.seed),
                  static_cast<unsigned long long>(number), finding.data());
}

void run_target(const std::string& name, Target target, const Settings& settings) {
    std::vector<std::string> corpus = read_corpus(settings.corpus / name);
    std::uint64_t number = 0;
    for (const std::string& input : corpus) {
        announce(name, settings, ++number);
        run_one(target, input);
    }
    Mutator mutator(settings.seed, std::move(corpus), read_dictionary(settings.corpus / (name + ".dict")));
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(settings.seconds);
    while (std::chrono::steady_clock::now() < end) {
        announce(name, settings, ++number);
        run_one(target, mutator.next());
    }
    std::fprintf(stderr, "%-20s seed %llu, %llu inputs\n", name.c_str(),
                 static_cast<unsigned long long>(settings.seed), static_cast<unsigned long long>(number));
}

// On a stack of its own: the finding may be that there is none left.
void catch_findings() {
    static std::array<char, 64U << 10> stack{};
    stack_t place{};
    place.ss_sp = stack.data();
    place.ss_size = stack.size();
    ::sigaltstack(&place, nullptr);
    struct sigaction action {};
    action.sa_handler = save_finding;
    action.sa_flags = SA_ONSTACK;
    for (const int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGALRM})
        ::sigaction(signal, &action, nullptr);
}

int run(const Settings& settings) {
    log::set_level(log::Level::error);
    catch_findings();
    for (const auto& [name, target] : targets()) {
        const bool wanted = settings.names.empty() || std::find(settings.names.begin(), settings.names.end(),
                                                                name) != settings.names.end();
        if (wanted) run_target(name, target, settings);
    }
    return 0;
}

}  // namespace

Registration::Registration(const char* name, Target target) {
    targets().emplace(name, target);
}

}  // namespace svc::fuzz

int main(int argc, char** argv) {
    return svc::fuzz::run(svc::fuzz::read_settings(argc, argv));
}
