#pragma once
// Many subscribers on one thread.
#include <chrono>
#include <memory>
#include <vector>

#include "tests/bench/load/poller.h"
#include "tests/bench/load/subscriber.h"

namespace svc::bench {

class Audience {
  public:
    Audience(const Endpoint& endpoint, std::string path, Subscriber::OnText on_text);
    // Opens so many more; throws unavailable when that does not succeed in a minute.
    void open(unsigned count);
    void poll(std::chrono::milliseconds patience);
    const std::vector<std::unique_ptr<Subscriber>>& all() const { return all_; }
    std::size_t count(Subscriber::State state) const;

  private:
    const Endpoint& endpoint_;
    const std::string path_;
    const Subscriber::OnText on_text_;
    std::string scratch_;
    Poller<Subscriber> poller_;
    std::vector<std::unique_ptr<Subscriber>> all_;
};

}  // namespace svc::bench
