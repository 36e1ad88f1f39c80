#pragma once
// One evacuation that is under way: which step of which instance comes next.
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "libsvc/base/thread_pool.h"
#include "libsvc/base/timer.h"
#include "libsvc/operations/engine.h"
#include "libsvc/services/common/records.h"
#include "libsvc/services/instances/end/evacuation_plan.h"
#include "libsvc/services/instances/instance_work.h"
#include "libsvc/services/nodes/node_service.h"

namespace svc {

// What an evacuation does with one instance; most start an operation.
struct EvacuationCalls {
    std::function<Started(const Instance&, const std::string& requestor)> stop;
    // Also one that is being deleted already. `nameless`: its name is free from the commit on.
    std::function<Started(const std::string& id, bool force, bool nameless, const std::string& requestor)>
        remove;
    // Throws busy when a launch has claimed it meanwhile.
    std::function<Started(const std::string& id, const std::string& requestor)> remove_pooled;
    std::function<std::string()> new_id;
    // The same guest as a new instance of this id, on another node.
    std::function<Started(const Instance&, const std::string& successor, const std::string& requestor)>
        launch_elsewhere;
    std::function<void(const std::string& successor, const std::string& name)> give_name;
};

struct EvacuationParts {
    const Instances& instances;
    const NodeService& nodes;
    Engine& engine;
    Timer& timer;
    EvacuationCalls calls;
};

// Each step looks at the records first, so that a step that an earlier process has taken is not taken again.
// Steps of all evacuations are taken on one thread, which never waits for an operation.
class EvacuationRun : public std::enable_shared_from_this<EvacuationRun> {
  public:
    using End = std::function<OperationResult(Json outcomes)>;  // when no instance is left
    EvacuationRun(const EvacuationParts& parts, ThreadPool& thread, const OperationContext& context,
                  EvacuationPlan plan, End end);
    void begin();

  private:
    using Step = std::function<void()>;
    void give_up();
    void post(EvacuationMove& move, Step step);
    void post_later(EvacuationMove& move, Step step);
    void take(EvacuationMove& move, const Step& step);
    void await(const std::string& operation, EvacuationMove& move, Step then);
    void end(EvacuationMove& move, const std::string& outcome);
    void fail(EvacuationMove& move, const std::string& reason);
    void conclude();

    void begin(EvacuationMove& move);
    void stop(EvacuationMove& move);
    void remove(EvacuationMove& move);
    void remove_pooled(EvacuationMove& move);
    void relaunch(EvacuationMove& move);
    void replace(EvacuationMove& move);
    Started start_stop(const Instance& instance) const;
    Started start_removal(const Instance& instance, bool nameless) const;
    void check_successor(const EvacuationMove& move) const;
    std::string hand_over_name(const EvacuationMove& move) const;

    const EvacuationParts& parts_;
    ThreadPool& thread_;
    OperationContext context_;
    const std::string requestor_;
    EvacuationPlan plan_;
    const End end_;
    Json outcomes_ = Json::object();     // of the instances that were seen to
    std::size_t left_ = 0;               // instances that are yet to be
    std::vector<std::string> failures_;  // of those that are still there
    std::mutex step_;                    // held during a step: none is taken once this was given up
    bool given_up_ = false;
    std::shared_ptr<OperationCompletion> completion_;
};

}  // namespace svc
