#pragma once
// What the random clients did and were told, in the order in which calls began and ended.
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "libsvc/base/json.h"
#include "tests/support/api_caller.h"

namespace svc::test {

// A moment: calls that overlap in time have overlapping ticks.
using Tick = std::uint64_t;
constexpr Tick never = ~Tick{0};

// One call of a client and its answer.
struct ModelCall {
    std::string kind{};  // "instances.launch": noun and verb
    std::string name{};  // of the object, as it was addressed
    std::string method{}, path{}, body{};
    Tick begun = 0, ended = 0;
    ApiReply reply{};
    std::string operation{};  // of a 202 that began one
    std::string noun() const { return kind.substr(0, kind.find('.')); }
    std::string verb() const { return kind.substr(kind.find('.') + 1); }
    bool accepted() const { return reply.status == 202 && !operation.empty(); }
    std::string describe() const;
};

// Thread-safe.
class History {
  public:
    Tick now() { return ++ticks_; }
    void add(ModelCall call);
    // Somebody was told that the operation is final.
    void note_final(const std::string& operation, Tick when);
    std::vector<ModelCall> calls() const;
    std::string summary() const;  // how often each kind was answered with each status
    Tick known_final(const std::string& operation) const;  // `never`: nobody was told

  private:
    std::atomic<Tick> ticks_{0};
    mutable std::mutex mutex_;
    std::vector<ModelCall> calls_;
    std::map<std::string, Tick> final_;
};

// What the model does not allow. Thread-safe.
class Findings {
  public:
    void add(const std::string& text);
    void expect(bool holds, const std::string& text) {
        if (!holds) add(text);
    }
    std::vector<std::string> all() const;

  private:
    mutable std::mutex mutex_;
    std::vector<std::string> all_;
};

}  // namespace svc::test
