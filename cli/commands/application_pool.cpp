// application pool: how many instances wait, booted, for the launches of an application.
#include "cli/actions/object_lookup.h"
#include "cli/actions/operation_wait.h"
#include "cli/commands/commands.h"
#include "cli/output/values.h"

namespace svc::cli {
namespace {

std::int64_t size_of(const Arguments& arguments, std::string_view name, std::int64_t otherwise) {
    const std::int64_t size = arguments.integer(name).value_or(otherwise);
    if (size < 0) throw UsageError("--" + std::string(name) + ": must be at least 0");
    return size;
}

int set_pool(Context& context, const Arguments& arguments) {
    const std::int64_t min = size_of(arguments, "min", 0);
    const std::int64_t max = size_of(arguments, "max", min);
    if (max < min) throw UsageError("--max: must not be below --min");
    Waiting waiting(context, arguments, false);
    const Json pool =
        Json::object({{"min", min}, {"max", max}, {"late_data", arguments.is_set("late-data")}});
    waiting.finish(context.client().patch_application(
        application_named(context.client(), arguments.text("application")), Json::object({{"pool", pool}})));
    return 0;
}

}  // namespace

Command application_pool_command() {
    return {{"application", "pool"},
            {},
            "keep booted instances of an application ready for its launches",
            {{"application", "id or name of the application"}},
            {{"min", 0, "NUMBER", "how many always wait", "0"},
             {"max", 0, "NUMBER", "how many wait while launches come; as many as --min when left out"},
             {"late-data", 0, "", "name and user data of a launch may reach its guest after the boot"},
             timeout_flag()},
            set_pool,
            "Sets all of it at once: what is left out is 0, or off. A launch takes a waiting instance when "
            "it asks for nothing that\n"
            "the guest would find at its boot.\n\nsvcctl application pool my-app --min 2 --max 5"};
}

}  // namespace svc::cli
