#pragma once
// A client whose calls, and their order, follow from its seed alone: never from what it is told.
#include <random>
#include <string>
#include <vector>

#include "tests/model/history.h"

namespace svc::test {

// What all clients of a run share. Made before the first of them.
struct ModelMaterial {
    std::vector<std::string> images;        // packages
    std::vector<std::string> addons;        // packages
    std::vector<std::string> certificates;  // PEM
};

// One thread.
class RandomClient {
  public:
    RandomClient(Target target, const ModelMaterial& material, History& history, std::uint64_t seed);
    void run(int calls);  // any error of the connection leaves it

    // For the kinds of calls: choices ...
    int pick(int count) { return static_cast<int>(random_() % static_cast<unsigned>(count)); }
    bool chance(int percent) { return pick(100) < percent; }
    std::string pick_name(const char* prefix, int count) { return prefix + std::to_string(pick(count)); }
    const ModelMaterial& material() const { return material_; }
    // ... and calls. Each is written down.
    ApiReply call(const std::string& kind, const std::string& name, Method method, const std::string& path,
                  const Json& body = {});
    ApiReply upload(const std::string& kind, const std::string& name, Method method, const std::string& path,
                    const std::string& request, const std::string& package);
    void cancel_recent(int back);  // one of the operations that this client has begun
    void wait_recent(int back, const std::string& timeout);

  private:
    ApiReply written_down(ModelCall call, Tick begun, ApiReply reply);
    std::string recent(int back) const;

    ApiCaller api_;
    const ModelMaterial& material_;
    History& history_;
    std::mt19937_64 random_;
    std::vector<std::string> operations_;
};

// A kind of call, and how often it comes.
struct CallKind {
    int weight;
    void (*make)(RandomClient& client);
};
std::vector<CallKind> instance_calls();
std::vector<CallKind> package_calls();
std::vector<CallKind> cluster_calls();

}  // namespace svc::test
