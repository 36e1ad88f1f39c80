#include <fmt/format.h>

#include "cli/actions/object_lookup.h"
#include "cli/commands/commands.h"
#include "cli/connection/context.h"
#include "cli/output/document.h"
#include "cli/output/values.h"
#include "cli/terminal/progress.h"
#include "libsvc/client/instance_files.h"
#include "libsvc/model/values/size.h"

namespace svc::cli {
namespace {

std::string instance_of(Context& context, const Arguments& arguments) {
    return instance_named(context.client(), arguments.text("instance"));
}

std::string shown_name(const TreeFile& file, const std::string& asked) {
    const std::string name = file.path.empty() ? asked : file.path;
    return file.type == "directory" ? name + "/" : file.type == "link" ? name + " -> " + file.target : name;
}

// A folder is told by what is in it.
int list(Context& context, const Arguments& arguments) {
    const std::string path = arguments.text("path");
    std::vector<TreeFile> files =
        list_instance_files(context.client(), instance_of(context, arguments), path,
                            arguments.is_set("recursive") ? TreeDepth::all : TreeDepth::list);
    if (files.front().type == "directory") files.erase(files.begin());
    Document document{Json::array(), {{"MODE", "OWNER", "SIZE", "MODIFIED", "NAME"}, {}}};
    for (const TreeFile& file : files) {
        document.value.push_back(file.to_json());
        document.table.rows.push_back({fmt::format("{:04o}", file.mode),
                                       fmt::format("{}:{}", file.uid, file.gid),
                                       file.type == "file" ? format_size(file.size) : "",
                                       time_text(file.modified), shown_name(file, path)});
    }
    context.console().print(render(document, format_of(arguments)));
    return 0;
}

TransferOptions options_of(const Arguments& arguments, ProgressLine& line, const std::string& label) {
    TransferOptions options;
    options.resume = arguments.is_set("continue");
    options.progress = [&line, label](std::uint64_t done, std::uint64_t total) {
        if (total > 0)
            line.show_bytes(label, done, total);
        else
            line.show_busy(label + ": " + format_size(done));
    };
    return options;
}

std::uint32_t id_of(const Arguments& arguments, const char* name) {
    const std::int64_t id = arguments.integer(name).value_or(0);
    if (id < 0 || id > 65535) throw UsageError(fmt::format("--{}: {} is not between 0 and 65535", name, id));
    return static_cast<std::uint32_t>(id);
}

int push(Context& context, const Arguments& arguments) {
    const TreeOwner owner{id_of(arguments, "uid"), id_of(arguments, "gid")};
    ProgressLine line(context.console());
    TransferOptions options = options_of(arguments, line, "Pushing");
    options.owner = owner;
    push_files(context.client(), instance_of(context, arguments), arguments.text("source"),
               arguments.text("target"), options);
    return 0;
}

int pull(Context& context, const Arguments& arguments) {
    ProgressLine line(context.console());
    pull_files(context.client(), instance_of(context, arguments), arguments.text("source"),
               arguments.text("target"), options_of(arguments, line, "Pulling"));
    return 0;
}

}  // namespace

std::vector<Command> file_commands() {
    const Positional instance{"instance", "id or name of the instance, which must run"};
    const Flag resume{"continue", 'c', "", "leave out files that are there with the same size and time"};
    const char* const target_help =
        "A target that is a folder, or ends with /, gets the source under its own name; else the target is "
        "the\n"
        "new name. Folders are copied with all that is in them. What else is in the target stays.";
    return {
        {{"file", "push"},
         {},
         "copy a file or folder into an instance",
         {instance, {"source", "file or folder of this machine"}, {"target", "path in the instance"}},
         {{"uid", 0, "ID", "owner in the instance", "0"},
          {"gid", 0, "ID", "group in the instance", "0"},
          resume},
         push,
         target_help},
        {{"file", "pull"},
         {},
         "copy a file or folder out of an instance",
         {instance, {"source", "path in the instance"}, {"target", "path on this machine"}},
         {resume},
         pull,
         target_help},
        {{"file", "list"},
         {"ls"},
         "list a folder of an instance",
         {instance, {"path", "path in the instance"}},
         {{"recursive", 'r', "", "with all that is in its folders"}, format_flag("table")},
         list},
    };
}

}  // namespace svc::cli
