#include "cli/terminal/interrupts.h"

#include <unistd.h>

#include <csignal>

namespace svc::cli {
namespace {

volatile std::sig_atomic_t interrupts = 0;
struct sigaction old_interrupt, old_terminate;

void count_interrupt(int) {
    if (interrupts > 0) ::_exit(130);
    interrupts = 1;
}

}  // namespace

Interrupts::Interrupts() {
    interrupts = 0;
    struct sigaction action {};
    action.sa_handler = count_interrupt;
    action.sa_flags = SA_RESTART;
    ::sigaction(SIGINT, &action, &old_interrupt);
    ::sigaction(SIGTERM, &action, &old_terminate);
}

Interrupts::~Interrupts() {
    ::sigaction(SIGINT, &old_interrupt, nullptr);
    ::sigaction(SIGTERM, &old_terminate, nullptr);
}

bool Interrupts::requested() noexcept {
    return interrupts > 0;
}

}  // namespace svc::cli
