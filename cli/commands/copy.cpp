#include <utility>
#include <vector>

#include "cli/actions/object_lookup.h"
#include "cli/actions/operation_wait.h"
#include "cli/actions/temporary_snapshot.h"
#include "cli/commands/commands.h"
#include "cli/output/values.h"
#include "libsvc/base/strings.h"

namespace svc::cli {
namespace {

constexpr std::int64_t most_copies = 1000;

std::int64_t number_of_copies(const Arguments& arguments) {
    const std::int64_t count = *arguments.integer("count");
    if (count < 1 || count > most_copies)
        throw UsageError("--count: expected a number from 1 to " + std::to_string(most_copies));
    return count;
}

// The launches of one command. One thread.
class Copies {
  public:
    Copies(Context& context, const Arguments& arguments)
        : context_(context), arguments_(arguments), count_(number_of_copies(arguments)) {}

    // Until the first one that the service refuses, or Ctrl-C. An accepted launch does not need the record of
    // the snapshot any more.
    void launch_all(const std::string& snapshot);
    // Prints the ids of the copies that run, and what has become of the others.
    void finish_all(Waiting& waiting);
    void print_operations() const;  // instead, for --no-wait
    bool all_well() const { return all_well_; }

  private:
    using Launch = std::pair<std::string, Json>;  // id of the instance, operation

    Json payload(const std::string& snapshot, std::int64_t number) const;
    std::string of_all(std::int64_t number) const;  // "copy 2 of 5"
    void finish(Waiting& waiting, const Launch& launch);
    std::vector<std::string> ids_from(std::size_t first) const;
    void tell(const std::string& what, const std::string& error);
    std::string fate_of(const std::string& id) const;

    Context& context_;
    const Arguments& arguments_;
    const std::int64_t count_;
    std::vector<Launch> launches_;
    bool all_well_ = true;
};

Json Copies::payload(const std::string& snapshot, std::int64_t number) const {
    Json payload = Json::object({{"snapshot", snapshot}});
    const std::string name = arguments_.text("name");
    if (!name.empty()) payload.set("name", count_ == 1 ? name : name + "-" + std::to_string(number));
    if (arguments_.given("node")) payload.set("node", arguments_.text("node"));
    Json tags = Json::array();
    for (const std::string& tag : arguments_.comma_list("tags")) tags.push_back(tag);
    payload.set("tags", std::move(tags));
    return payload;
}

std::string Copies::of_all(std::int64_t number) const {
    return "copy " + std::to_string(number) + " of " + std::to_string(count_);
}

void Copies::launch_all(const std::string& snapshot) {
    for (std::int64_t number = 1; number <= count_; ++number) {
        if (Interrupts::requested())
            return tell("interrupted", of_all(number) + " and later ones are not launched");
        try {
            const Json started = context_.client().launch(payload(snapshot, number));
            launches_.emplace_back(resource_id(started, {"instances", "containers"}), started);
        } catch (const Error& e) {
            if (launches_.empty()) throw;
            return tell(of_all(number), e.what());
        }
    }
}

void Copies::finish_all(Waiting& waiting) {
    std::size_t ended = 0;
    try {
        for (; ended < launches_.size(); ++ended) finish(waiting, launches_[ended]);
    } catch (const Error& e) {
        throw Error(e.code(),
                    std::string(e.what()) + "; launched, perhaps not up yet: " + join(ids_from(ended), ", "));
    }
}

// Throws when the service is gone.
void Copies::finish(Waiting& waiting, const Launch& launch) {
    try {
        waiting.finish(launch.second);
    } catch (const Error& e) {
        if (e.code() == ErrorCode::unavailable) throw;
        return tell(launch.first, e.what() + fate_of(launch.first));
    }
    context_.console().print_line(launch.first);
}

std::vector<std::string> Copies::ids_from(std::size_t first) const {
    std::vector<std::string> ids;
    for (std::size_t i = first; i < launches_.size(); ++i) ids.push_back(launches_[i].first);
    return ids;
}

void Copies::tell(const std::string& what, const std::string& error) {
    all_well_ = false;
    context_.console().print_error_line("Error: " + what + ": " + error);
}

std::string Copies::fate_of(const std::string& id) const {
    try {
        return "; the instance exists, its status is " + text_of(context_.client().instance(id), "status");
    } catch (const Error& e) {
        return e.code() == ErrorCode::not_found ? "; the instance is gone" : "; the instance may exist";
    }
}

void Copies::print_operations() const {
    for (const auto& [id, operation] : launches_)
        context_.console().print_line(operation.at("id").as_string());
}

int copy_instance(Context& context, const Arguments& arguments) {
    Copies copies(context, arguments);
    Waiting waiting(context, arguments, false);
    const std::string original = instance_named(context.client(), arguments.text("id"));
    const bool deleted = with_temporary_snapshot(
        context, waiting, original, [&](const std::string& snapshot) { copies.launch_all(snapshot); });
    if (arguments.is_set("no-wait"))
        copies.print_operations();
    else
        copies.finish_all(waiting);
    if (Interrupts::requested()) return 130;
    return copies.all_well() && deleted ? 0 : 1;
}

}  // namespace

Command copy_command() {
    return {
        {"copy"},
        {},
        "launch copies of a stopped instance",
        {{"id", "id or name of the instance"}},
        {{"name", 0, "NAME", "name of the copy; of several: NAME-1, NAME-2, ..."},
         {"count", 'c', "N", "how many copies", "1"},
         {"node", 'n', "NAME", "run on this node, not on one that the service picks"},
         {"tags", 0, "LIST", "tags of the copies, separated by commas", "", {}, true},
         no_wait_flag(),
         timeout_flag()},
        copy_instance,
        "Prints the ids of the copies. They begin with the disk of the instance and have its application, "
        "resources, services, features and platform; addresses, node ports and ids are their own, and tags "
        "and user data "
        "are not taken over. The instance stays stopped. A temporary snapshot is taken and deleted again: "
        "after Ctrl-C, too, but a second Ctrl-C leaves it."};
}

}  // namespace svc::cli
