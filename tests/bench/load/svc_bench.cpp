// svc-bench: puts load on a server, or on the store, and prints one JSON object for each measurement.
#include <csignal>
#include <functional>
#include <iostream>
#include <map>

#include "tests/bench/load/commands.h"

namespace {

constexpr const char* usage =
    "usage: svc-bench http --target URL [--path /1.0] [--connections 1,64] [--seconds 3]\n"
    "                      [--peer URL [--peer-path PATH] [--rounds 3]]\n"
    "       svc-bench events --target URL --call PATH [--method POST] [--body JSON] [--subscribers 1000]\n"
    "                        [--rate 1000] [--seconds 5] [--path /1.0/events]\n"
    "       svc-bench idle --target URL --pid PID [--subscribers 10000] [--seconds 3] [--path /1.0/events]\n"
    "       svc-bench commits --directory DIR [--threads 1,8,64] [--rounds 9] [--milliseconds 400]\n"
    "       svc-bench relay|gateway --directory DIR [--sessions 1000]     serves until its input ends\n"
    "       svc-bench signalling --target URL --pid PID --paths FILE --echo URL --echo-pid PID\n"
    "                              [--rate 2000] [--seconds 5]\n"
    "                            [--bytes 300]          FILE: a line \"MASTER SLAVE SESSION\" for each\n"
    "URL: unix:PATH, http://ADDRESS:PORT or https://ADDRESS:PORT with [--certificate FILE --key FILE]\n";

const std::map<std::string, std::function<int(const svc::bench::Arguments&)>> commands{
    {"http", svc::bench::http_command},
    {"events", svc::bench::events_command},
    {"idle", svc::bench::idle_command},
    {"commits", svc::bench::commits_command},
    {"gateway", svc::bench::gateway_command},
    {"relay", svc::bench::relay_command},
    {"signalling", svc::bench::signalling_command},
};

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> words(argv + 1, argv + argc);
    const auto command = words.empty() ? commands.end() : commands.find(words.front());
    if (command == commands.end()) {
        std::cerr << usage;
        return 2;
    }
    std::signal(SIGPIPE, SIG_IGN);  // TLS writes cannot ask for silence
    try {
        return command->second(svc::bench::Arguments({words.begin() + 1, words.end()}));
    } catch (const std::exception& e) {
        std::cerr << "svc-bench: " << e.what() << "\n";
        return 1;
    }
}
