#pragma once
// Where what an encoder makes leaves its pipeline for those who take it. For media/ alone.
#include <gst/gst.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "libsvc/base/guarded.h"

namespace svc::streamer {

// Thread-safe. Each taker gets what comes until it is destroyed.
template <class Taker>
class Takers {
  public:
    void add(const std::shared_ptr<Taker>& taker) {
        takers_.with([&](auto& takers) { takers.push_back(taker); });
    }
    std::vector<std::shared_ptr<Taker>> present() {
        return takers_.with([](auto& weak) {
            std::erase_if(weak, [](const auto& one) { return one.expired(); });
            std::vector<std::shared_ptr<Taker>> present;
            for (const auto& one : weak)
                if (auto taker = one.lock()) present.push_back(std::move(taker));
            return present;
        });
    }

  private:
    Guarded<std::vector<std::weak_ptr<Taker>>> takers_;
};

// Called on the threads of the pipeline. Neither may own the pipeline.
struct EncoderOutput {
    std::function<void(GstSample* sample, GstClockTime time)> made;  // `time`: of the clock that all share
    std::function<void(const std::string& element, const std::string& reason)> failed;
};

// `sink`: the name of an appsink that emits signals. The pipeline keeps the output.
void listen(GstElement* pipeline, const char* sink, EncoderOutput output);

}  // namespace svc::streamer
