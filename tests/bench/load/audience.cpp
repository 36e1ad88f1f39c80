#include "tests/bench/load/audience.h"

#include <algorithm>

namespace svc::bench {

namespace {

using Steady = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr std::size_t opened_at_once = 64;
constexpr auto patience_to_open = 60s;

}  // namespace

Audience::Audience(const Endpoint& endpoint, std::string path, Subscriber::OnText on_text)
    : endpoint_(endpoint), path_(std::move(path)), on_text_(std::move(on_text)), scratch_(256U << 10, '\0') {}

std::size_t Audience::count(Subscriber::State state) const {
    return static_cast<std::size_t>(
        std::count_if(all_.begin(), all_.end(), [&](const auto& one) { return one->state() == state; }));
}

void Audience::poll(std::chrono::milliseconds patience) {
    poller_.wait(patience, [this](Subscriber& one) { one.advance(scratch_, on_text_); });
}

void Audience::open(unsigned count) {
    const auto deadline = Steady::now() + patience_to_open;
    const std::size_t target = all_.size() + count;
    while (this->count(Subscriber::State::open) < target) {
        if (Steady::now() > deadline || this->count(Subscriber::State::ended) > 0)
            throw Error(
                ErrorCode::unavailable,
                "only " + std::to_string(this->count(Subscriber::State::open)) + " subscribers were served");
        for (std::size_t i = 0; i < opened_at_once && all_.size() < target; ++i) {
            all_.push_back(std::make_unique<Subscriber>(endpoint_, path_));
            poller_.add(all_.back()->fd(), *all_.back());
            all_.back()->advance(scratch_, on_text_);
        }
        while (this->count(Subscriber::State::open) < all_.size() && Steady::now() < deadline &&
               this->count(Subscriber::State::ended) == 0)
            poll(10ms);
    }
}

}  // namespace svc::bench
