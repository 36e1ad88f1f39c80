#include <algorithm>

#include "cli/actions/lifetime.h"
#include "cli/actions/object_lookup.h"
#include "cli/actions/operation_wait.h"
#include "cli/commands/commands.h"
#include "cli/output/values.h"
#include "cli/terminal/prompt.h"
#include "cli/views/instance_view.h"
#include "libsvc/base/strings.h"

namespace svc::cli {
namespace {

Positional selected_instance() {
    return {"id", "id or name of the instance"};
}

Positional selected_instances(bool required) {
    return {"id", "ids or names of the instances", required, true};
}

int list_instances(Context& context, const Arguments& arguments) {
    const auto conditions = parse_conditions(arguments.list("filter"), instance_condition_keys(), "filter");
    JsonArray records = context.client().instances();
    std::erase_if(records, [&](const Json& record) {
        return !std::all_of(conditions.begin(), conditions.end(),
                            [&](const Condition& condition) { return instance_matches(record, condition); });
    });
    const auto around = surroundings_of(context.client(), records);
    context.console().print(render(instance_list(records, around), format_of(arguments)));
    return 0;
}

std::string named_instance(Context& context, const Arguments& arguments) {
    return instance_named(context.client(), arguments.text("id"));
}

int show_instance(Context& context, const Arguments& arguments) {
    const Json record = context.client().instance(named_instance(context, arguments));
    const auto around = surroundings_of(context.client(), {record});
    context.console().print(render(describe(instance_value(record, around)), format_of(arguments)));
    return 0;
}

int set_status(Context& context, const Arguments& arguments, std::string_view status) {
    Waiting waiting(context, arguments, true);
    waiting.finish(context.client().set_instance_status(named_instance(context, arguments), status));
    return 0;
}

int start(Context& context, const Arguments& arguments) {
    if (!arguments.is_set("yes")) {
        const Json record = context.client().instance(named_instance(context, arguments));
        if (text_of(record, "status") == "error")
            confirm(context.console(),
                    "Instance " + quoted(text_of(record, "id")) +
                        " has failed. Starting it drops its stored logs. Do you want to continue?");
    }
    return set_status(context, arguments, "running");
}

// Reports an error of one object and goes on with the others.
void tell_failure(Context& context, const std::string& id, const Error& error) {
    if (error.code() == ErrorCode::unavailable) throw;
    context.console().print_error_line("Error: " + id + ": " + error.what());
}

// The given objects that exist.
std::vector<std::string> named_ids(Context& context, const std::vector<std::string>& given) {
    std::vector<std::string> ids;
    for (const auto& text : given) {
        try {
            ids.push_back(instance_named(context.client(), text));
        } catch (const Error& e) {
            if (given.size() == 1) throw;
            tell_failure(context, text, e);
        }
    }
    return ids;
}

using Start = std::function<Json(const std::string& id)>;

// Starts an operation for each instance and waits for all, whatever becomes of the others. False: one failed.
bool start_each(Context& context, const Arguments& arguments, const std::vector<std::string>& ids,
                const Start& start) {
    Waiting waiting(context, arguments, true);
    bool all_well = true;
    std::vector<std::pair<std::string, Json>> started;
    for (const auto& id : ids) {
        try {
            started.emplace_back(id, start(id));
        } catch (const Error& e) {
            if (ids.size() == 1) throw;
            tell_failure(context, id, e);
            all_well = false;
        }
    }
    return waiting.finish_all(started) && all_well;
}

int set_protection(Context& context, const Arguments& arguments, bool wanted) {
    Waiting waiting(context, arguments, true);
    waiting.finish(context.client().protect_instance(named_instance(context, arguments), wanted));
    return 0;
}

Command protection_command(std::string name, std::string summary, bool wanted) {
    return {{std::move(name)},
            {},
            std::move(summary),
            {selected_instance()},
            {no_wait_flag(), timeout_flag()},
            [wanted](Context& context, const Arguments& arguments) {
                return set_protection(context, arguments, wanted);
            }};
}

int set_each(Context& context, const Arguments& arguments, const Start& start) {
    const std::vector<std::string> given = arguments.list("id");
    const std::vector<std::string> ids = named_ids(context, given);
    return start_each(context, arguments, ids, start) && ids.size() == given.size() ? 0 : 1;
}

int extend(Context& context, const Arguments& arguments) {
    Json limits = Json::object();
    set_lifetime(limits, arguments);
    if (limits.as_object().empty()) throw UsageError("--expires-after or --idle-after is missing");
    return set_each(context, arguments,
                    [&](const std::string& id) { return context.client().extend_instance(id, limits); });
}

std::vector<std::string> chosen_ids(Context& context, const Arguments& arguments) {
    const bool all = arguments.is_set("all");
    if (!all && arguments.given("node")) throw UsageError("--node needs --all");
    if (all && arguments.given("id")) throw UsageError("--all and ids exclude each other");
    if (!all && !arguments.given("id")) throw UsageError("argument <id> is missing");
    if (!all) return named_ids(context, arguments.list("id"));
    std::vector<std::string> ids;
    for (const Json& record : context.client().instances())
        if (!arguments.given("node") || text_of(record, "node") == arguments.text("node"))
            ids.push_back(text_of(record, "id"));
    return ids;
}

int remove_instance(Context& context, const Arguments& arguments) {
    const std::vector<std::string> ids = chosen_ids(context, arguments);
    const std::size_t given = arguments.list("id").size();
    bool all_well = ids.size() >= given;
    if (ids.empty()) return all_well ? 0 : 1;
    if (!arguments.is_set("yes")) confirm_removal(context.console(), ids);
    const bool force = arguments.is_set("force");
    all_well =
        start_each(context, arguments, ids,
                   [&](const std::string& id) { return context.client().delete_instance(id, force); }) &&
        all_well;
    return all_well ? 0 : 1;
}

int pause(Context& context, const Arguments& arguments) {
    return set_each(context, arguments, [&](const std::string& id) {
        return context.client().set_instance_status(id, "paused");
    });
}

int restart(Context& context, const Arguments& arguments) {
    return set_each(context, arguments, [&](const std::string& id) {
        return context.client().set_instance_status(id, "restarted");
    });
}

// The service would start one that does not run.
int resume(Context& context, const Arguments& arguments) {
    return set_each(context, arguments, [&](const std::string& id) {
        if (const std::string status = instance_status(context.client().instance(id)); status != "paused")
            throw Error(ErrorCode::invalid_argument,
                        "resuming an instance that is " + status + " not allowed");
        return context.client().set_instance_status(id, "running");
    });
}

}  // namespace

Command list_command() {
    return {{"list"},
            {"ls"},
            "list instances",
            {},
            {{"filter",
              'f',
              "KEY=VALUE",
              "only those with this app, image, status, node, type or tags",
              "",
              {},
              true},
             format_flag("table")},
            list_instances};
}

Command show_command() {
    return {{"show"}, {}, "show an instance", {selected_instance()}, {format_flag("yaml")}, show_instance};
}

Command start_command() {
    return {
        {"start"},
        {},
        "start a stopped or prepared instance",
        {selected_instance()},
        {{"yes", 'y', "", "do not ask before a failed instance is started"}, no_wait_flag(), timeout_flag()},
        start};
}

Command stop_command() {
    return {{"stop"},
            {},
            "stop an instance",
            {selected_instance()},
            {no_wait_flag(), timeout_flag()},
            [](Context& context, const Arguments& arguments) {
                return set_status(context, arguments, "stopped");
            }};
}

Command restart_command() {
    return {{"restart"},
            {},
            "stop running instances and start them again",
            {selected_instances(true)},
            {no_wait_flag(), timeout_flag()},
            restart};
}

Command pause_command() {
    return {{"pause"},
            {},
            "freeze running instances, with all that they have in memory",
            {selected_instances(true)},
            {no_wait_flag(), timeout_flag()},
            pause};
}

Command resume_command() {
    return {{"resume"},
            {},
            "let paused instances go on",
            {selected_instances(true)},
            {no_wait_flag(), timeout_flag()},
            resume};
}

Command protect_command() {
    return protection_command("protect", "refuse to delete an instance, whoever asks for it", true);
}

Command unprotect_command() {
    return protection_command("unprotect", "let an instance be deleted again", false);
}

Command extend_command() {
    std::vector<Flag> flags = lifetime_flags();
    flags.insert(flags.end(), {no_wait_flag(), timeout_flag()});
    return {{"extend"},
            {},
            "change when instances are deleted by themselves",
            {selected_instances(true)},
            std::move(flags),
            extend};
}

Command delete_command() {
    return {{"delete"},
            {"rm"},
            "delete instances",
            {selected_instances(false)},
            {{"all", 'a', "", "all instances"},
             {"node", 'n', "NAME", "with --all: only those on this node"},
             {"force", 'f', "", "without a graceful stop"},
             {"yes", 'y', "", "do not ask"},
             no_wait_flag(),
             timeout_flag()},
            remove_instance};
}

}  // namespace svc::cli
