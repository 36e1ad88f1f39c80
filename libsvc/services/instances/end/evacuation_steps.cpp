// The steps of an evacuation: what comes next for one instance.
#include "libsvc/base/error.h"
#include "libsvc/base/failpoint.h"
#include "libsvc/services/instances/end/evacuation_run.h"

namespace svc {

namespace {

bool is_being_removed(const InstancePtr& instance) {
    return !instance || instance->status == InstanceStatus::deleted;
}

}  // namespace

void EvacuationRun::begin(EvacuationMove& move) {
    const auto instance = parts_.instances.find(move.instance);
    if (instance && instance->pooled) return remove_pooled(move);
    switch (plan_.mode) {
        case EvacuationMode::stop:
            return stop(move);
        case EvacuationMode::remove:
            return remove(move);
        default:
            return relaunch(move);
    }
}

void EvacuationRun::stop(EvacuationMove& move) {
    const auto instance = parts_.instances.find(move.instance);
    if (!instance) return end(move, "deleted");
    if (instance->status == InstanceStatus::stopped) return end(move, "stopped");
    if (!may_be_up(instance->status)) return end(move, "does not run");
    const Started stopping = start_stop(*instance);
    if (!stopping) return begin(move);
    failpoint("evacuation.stop_begun");
    await(stopping->id.str(), move, [this, &move] { end(move, "stopped"); });
}

// A stop that is under way already is as good: an earlier process may have begun it. Null: it has ended.
Started EvacuationRun::start_stop(const Instance& instance) const {
    try {
        return parts_.calls.stop(instance, requestor_);
    } catch (const Error& e) {
        if (e.code() != ErrorCode::busy && e.code() != ErrorCode::invalid_argument) throw;
        for (const Started& other : parts_.engine.list())
            if (other->kind == "instance.stop" && !is_final(other->status) &&
                InstanceWork::of(*other).instance == instance.id.str())
                return other;
        const auto now = parts_.instances.find(instance.id.str());
        if (now && may_be_up(now->status)) throw;
        return nullptr;
    }
}

void EvacuationRun::remove(EvacuationMove& move) {
    const auto instance = parts_.instances.find(move.instance);
    const Started removal = instance ? start_removal(*instance, false) : nullptr;
    failpoint("evacuation.removal_begun");
    if (!removal) return end(move, "deleted");
    await(removal->id.str(), move, [this, &move] { end(move, "deleted"); });
}

// Another one is launched where there is room. One that was claimed at this moment is an instance like
// others.
void EvacuationRun::remove_pooled(EvacuationMove& move) {
    Started removal;
    try {
        removal = parts_.calls.remove_pooled(move.instance, requestor_);
    } catch (const Error& e) {
        if (e.code() != ErrorCode::busy && e.code() != ErrorCode::not_found) throw;
        return post(move, [this, &move] { begin(move); });
    }
    await(removal->id.str(), move, [this, &move] { end(move, "deleted"); });
}

// Null: it has gone meanwhile.
Started EvacuationRun::start_removal(const Instance& instance, bool nameless) const {
    try {
        return parts_.calls.remove(instance.id.str(), !parts_.nodes.is_within_reach(*instance.node), nameless,
                                   requestor_);
    } catch (const Error& e) {
        if (e.code() != ErrorCode::not_found) throw;
        return nullptr;
    }
}

void EvacuationRun::relaunch(EvacuationMove& move) {
    const auto instance = parts_.instances.find(move.instance);
    const auto successor = parts_.instances.find(move.successor);
    if (!successor && is_being_removed(instance)) return remove(move);  // somebody else does it
    const auto then = [this, &move] { replace(move); };
    if (!successor) {
        const Started launch = parts_.calls.launch_elsewhere(*instance, move.successor, requestor_);
        failpoint("evacuation.launch_begun");
        return await(launch->id.str(), move, then);
    }
    if (parts_.engine.stored().find(successor->launch_operation))
        await(successor->launch_operation, move, then);
    else
        replace(move);  // it was launched so long ago that its operation is forgotten
}

// From the commit on that marks the old instance as deleted the successor is the only one.
void EvacuationRun::replace(EvacuationMove& move) {
    const auto instance = parts_.instances.find(move.instance);
    if (!is_being_removed(instance)) check_successor(move);
    const Started removal = instance ? start_removal(*instance, true) : nullptr;
    failpoint("evacuation.replaced");
    const std::string outcome = "launched anew as " + move.successor + hand_over_name(move);
    failpoint("evacuation.name_given");
    if (!removal) return end(move, outcome);
    await(removal->id.str(), move, [this, &move, outcome] { end(move, outcome); });
}

void EvacuationRun::check_successor(const EvacuationMove& move) const {
    const auto successor = parts_.instances.find(move.successor);
    if (is_being_removed(successor))
        throw Error(ErrorCode::internal, "its successor " + move.successor + " was deleted");
    if (successor->status == InstanceStatus::error)
        throw Error(ErrorCode::internal,
                    "its successor " + move.successor + " has failed: " + *successor->error_message);
}

// Returns what is to be told of it.
std::string EvacuationRun::hand_over_name(const EvacuationMove& move) const {
    if (move.name.empty()) return "";
    try {
        parts_.calls.give_name(move.successor, move.name);
        return "";
    } catch (const Error& e) {
        if (e.code() != ErrorCode::conflict && e.code() != ErrorCode::not_found) throw;
        return ", without its name: " + std::string(e.what());
    }
}

}  // namespace svc
