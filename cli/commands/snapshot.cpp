#include <filesystem>

#include "cli/actions/object_lookup.h"
#include "cli/actions/operation_wait.h"
#include "cli/actions/snapshot_download.h"
#include "cli/commands/commands.h"
#include "cli/connection/context.h"
#include "cli/output/document.h"
#include "cli/output/values.h"
#include "cli/terminal/interrupts.h"
#include "cli/terminal/prompt.h"
#include "libsvc/base/file.h"
#include "libsvc/base/strings.h"
#include "libsvc/client/snapshots.h"
#include "libsvc/model/values/size.h"

namespace svc::cli {
namespace {

Positional snapshot_owner() {
    return {"instance", "id or name of the instance"};
}

Positional one_snapshot() {
    return {"snapshot", "id or name of the snapshot"};
}

std::string owner_of(Context& context, const Arguments& arguments) {
    return instance_named(context.client(), arguments.text("instance"));
}

Json snapshot_value(const Json& record) {
    return Json::object({{"id", text_of(record, "id")},
                         {"name", text_of(record, "name")},
                         {"instance", text_of(record, "instance_id")},
                         {"status", text_of(record, "status")},
                         {"size", format_size(static_cast<std::uint64_t>(number_of(record, "size")))},
                         {"created-at", time_text(number_of(record, "created_at"))}});
}

int list_snapshots(Context& context, const Arguments& arguments) {
    Document document{Json::array(), {{"ID", "NAME", "STATUS", "SIZE", "CREATED"}, {}}};
    for (const Json& record : snapshots(context.client(), owner_of(context, arguments))) {
        const Json value = snapshot_value(record);
        document.table.rows.push_back({text_of(value, "id"), text_of(value, "name"), text_of(value, "status"),
                                       text_of(value, "size"), text_of(value, "created-at")});
        document.value.push_back(value);
    }
    context.console().print(render(document, format_of(arguments)));
    return 0;
}

int create_one(Context& context, const Arguments& arguments) {
    const std::string owner = owner_of(context, arguments);
    Waiting waiting(context, arguments, true);
    const auto record = waiting.finish(create_snapshot(context.client(), owner, arguments.text("name")));
    if (record) context.console().print(resource_id(*record, {"snapshots"}) + "\n");
    return 0;
}

int restore_one(Context& context, const Arguments& arguments) {
    const std::string owner = owner_of(context, arguments);
    const std::string name = arguments.text("snapshot");
    if (!arguments.is_set("yes"))
        confirm_removal(context.console(),
                        {"what instance " + owner + " has written since snapshot " + name});
    Waiting waiting(context, arguments, true);
    waiting.finish(restore_snapshot(context.client(), owner, name));
    return 0;
}

// Downloads into a temporary directory beside the file, which appears when it is whole.
int export_one(Context& context, const Arguments& arguments) {
    const Interrupts interrupts;
    const std::string owner = owner_of(context, arguments);
    const Json record = snapshot(context.client(), owner, arguments.text("snapshot"));
    const std::string id = text_of(record, "id");
    const std::filesystem::path target = arguments.given("file") ? arguments.text("file") : id + ".tar.gz";
    const TemporaryDirectory scratch(target.has_parent_path() ? target.parent_path() : ".", ".svcctl-");
    const std::filesystem::path partial = scratch.path() / "archive";
    download_snapshot(context, owner, id, partial);
    std::filesystem::rename(partial, target);
    context.console().print_line(target.string());
    return 0;
}

int delete_one(Context& context, const Arguments& arguments) {
    const std::string owner = owner_of(context, arguments);
    const std::string name = arguments.text("snapshot");
    if (!arguments.is_set("yes")) confirm_removal(context.console(), {"snapshot " + quoted(name)});
    Waiting waiting(context, arguments, true);
    waiting.finish(delete_snapshot(context.client(), owner, name));
    return 0;
}

int launch_one(Context& context, const Arguments& arguments) {
    const Json record = snapshot(context.client(), owner_of(context, arguments), arguments.text("snapshot"));
    Json payload = Json::object({{"snapshot", text_of(record, "id")}});
    if (arguments.given("name")) payload.set("name", arguments.text("name"));
    Waiting waiting(context, arguments, true);
    const auto launched = waiting.finish(context.client().launch(payload));
    if (launched) context.console().print(resource_id(*launched, {"instances", "containers"}) + "\n");
    return 0;
}

}  // namespace

std::vector<Command> snapshot_commands() {
    const Flag name{"name", 'n', "NAME", "name"};
    const Flag yes{"yes", 'y', "", "do not ask"};
    return {
        {{"snapshot", "create"},
         {},
         "keep a copy of a stopped instance's disk",
         {snapshot_owner()},
         {name, no_wait_flag(), timeout_flag()},
         create_one},
        {{"snapshot", "list"},
         {"ls"},
         "list the snapshots of an instance",
         {snapshot_owner()},
         {format_flag("table")},
         list_snapshots},
        {{"snapshot", "restore"},
         {},
         "make an instance's disk what it was",
         {snapshot_owner(), one_snapshot()},
         {yes, no_wait_flag(), timeout_flag()},
         restore_one,
         "What the instance has written since the snapshot is lost. The instance must not run."},
        {{"snapshot", "launch"},
         {},
         "launch another instance from a snapshot",
         {snapshot_owner(), one_snapshot()},
         {name, no_wait_flag(), timeout_flag()},
         launch_one},
        {{"snapshot", "export"},
         {},
         "write a snapshot into an archive that can be added as an image",
         {snapshot_owner(), one_snapshot(), {"file", "where to; <id of the snapshot>.tar.gz", false}},
         {},
         export_one},
        {{"snapshot", "delete"},
         {"rm"},
         "delete a snapshot",
         {snapshot_owner(), one_snapshot()},
         {yes, no_wait_flag(), timeout_flag()},
         delete_one},
    };
}

}  // namespace svc::cli
