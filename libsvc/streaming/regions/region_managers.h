#pragma once
// The managers of a region: one service, of which each answers everything.
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "libsvc/base/error.h"
#include "libsvc/client/api_client.h"
#include "libsvc/streaming/regions/management.h"

namespace svc {

// One of them, by two clients: questions must be answered soon, work may take longer.
struct RegionManager {
    explicit RegionManager(const Target& target);
    ApiClient asking, working;
};

// Thread-safe. Begins with the manager that answered last; those that do not answer are passed over, each
// once in a call. Throws unavailable when none is left.
class RegionManagers {
  public:
    explicit RegionManagers(const RegionConfig& config);  // throws invalid_argument with the region's name

    // `call` changes nothing: it may be made at several managers.
    template <class Call>
    auto read(Call call) {
        return first_answer(std::move(call), is_silence);
    }
    // Another manager is asked only where the one before has got nothing.
    template <class Call>
    auto change(Call call) {
        return first_answer(std::move(call), got_nothing);
    }
    std::size_t present() const { return present_; }
    void pass_over(std::size_t manager);  // unless another one is present already

  private:
    static bool is_silence(const Error& error);
    static bool got_nothing(const Error& error);
    // Of silence: the error as unavailable, after the manager was passed over.
    [[noreturn]] static void throw_for_caller(const Error& error);

    template <class Call>
    auto first_answer(Call call, const std::function<bool(const Error&)>& may_go_on) {
        for (std::size_t left = managers_.size();; --left) {
            const std::size_t manager = present_;
            try {
                return call(*managers_[manager]);
            } catch (const Error& error) {
                if (is_silence(error)) pass_over(manager);
                if (left == 1 || !may_go_on(error)) throw_for_caller(error);
            }
        }
    }

    const std::string region_;
    std::vector<std::unique_ptr<RegionManager>> managers_;
    std::atomic<std::size_t> present_{0};
};

}  // namespace svc
