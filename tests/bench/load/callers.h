#pragma once
// The same API call again and again, at a given rate, over a few keep-alive connections.
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "tests/bench/load/endpoint.h"
#include "tests/bench/load/reply_reader.h"

namespace svc::bench {

// One thread; advance() is to be called often.
class Callers {
  public:
    Callers(const Endpoint& endpoint, const std::string& method, const std::string& path,
            const std::string& body);
    void set_rate(double per_second);
    // Sends what is due while `more`, takes replies in.
    void advance(bool more);
    std::uint64_t answered() const { return answered_; }  // with a status of 2xx
    std::uint64_t failed() const { return failed_; }
    bool busy() const;

  private:
    struct Caller {
        explicit Caller(const Endpoint& endpoint) : stream(endpoint) {}
        Stream stream;
        ReplyReader reader;
        bool waiting = false;
    };
    void receive(Caller& caller);
    void call(Caller& caller);

    std::string request_;
    std::vector<std::unique_ptr<Caller>> callers_;
    std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now();
    std::chrono::nanoseconds interval_{0};
    std::uint64_t answered_ = 0, failed_ = 0;
};

}  // namespace svc::bench
