// application set and unset: change one field, by its name in the manifest.
#include <algorithm>
#include <array>
#include <charconv>

#include "cli/actions/object_lookup.h"
#include "cli/actions/operation_wait.h"
#include "cli/command_line/field_values.h"
#include "cli/commands/commands.h"
#include "cli/output/values.h"
#include "libsvc/base/strings.h"
#include "libsvc/model/values/numbers.h"

namespace svc::cli {
namespace {

enum class ApplicationFieldKind { text, list, boolean, number };

struct ApplicationField {
    std::string_view name;   // as the user writes it
    std::string_view group;  // the object that holds the field, or ""
    std::string_view key;    // as the API has it
    ApplicationFieldKind kind;
};
constexpr std::array fields{
    ApplicationField{"image", "", "image", ApplicationFieldKind::text},
    ApplicationField{"instance-type", "", "instance-type", ApplicationFieldKind::text},
    ApplicationField{"addons", "", "addons", ApplicationFieldKind::list},
    ApplicationField{"tags", "", "tags", ApplicationFieldKind::list},
    ApplicationField{"inhibit-auto-updates", "", "inhibit_auto_updates", ApplicationFieldKind::boolean},
    ApplicationField{"resources.cpus", "resources", "cpus", ApplicationFieldKind::number},
    ApplicationField{"resources.memory", "resources", "memory", ApplicationFieldKind::text},
    ApplicationField{"resources.disk-size", "resources", "disk-size", ApplicationFieldKind::text},
    ApplicationField{"resources.gpu-slots", "resources", "gpu-slots", ApplicationFieldKind::number},
    ApplicationField{"boot-activity", "", "boot_activity", ApplicationFieldKind::text},
    ApplicationField{"boot", "", "boot", ApplicationFieldKind::text},
    ApplicationField{"required-permissions", "", "required_permissions", ApplicationFieldKind::list},
    ApplicationField{"video-encoder", "", "video_encoder", ApplicationFieldKind::text},
    ApplicationField{"manifest-version", "", "manifest_version", ApplicationFieldKind::text},
    ApplicationField{"features", "", "features", ApplicationFieldKind::list},
    ApplicationField{"hooks.timeout", "hooks", "timeout", ApplicationFieldKind::text},
    ApplicationField{"bootstrap.keep", "bootstrap", "keep", ApplicationFieldKind::list},
    ApplicationField{"node-selector", "", "node_selector", ApplicationFieldKind::list},
    ApplicationField{"watchdog.disabled", "watchdog", "disabled", ApplicationFieldKind::boolean},
    ApplicationField{"watchdog.allowed-packages", "watchdog", "allowed-packages", ApplicationFieldKind::list},
    ApplicationField{"watchdog.command", "watchdog", "command", ApplicationFieldKind::text},
};

std::string field_names(bool lists_only) {
    std::vector<std::string> all;
    for (const ApplicationField& field : fields)
        if (!lists_only || field.kind == ApplicationFieldKind::list) all.emplace_back(field.name);
    return join(all, ", ");
}

const ApplicationField& find_field(const std::string& name) {
    const auto found = std::find_if(fields.begin(), fields.end(),
                                    [&](const ApplicationField& field) { return field.name == name; });
    if (found == fields.end()) throw UsageError(quoted(name) + " is none of " + field_names(false));
    return *found;
}

Json application_number(const ApplicationField& field, const std::string& text) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size())
        throw UsageError(std::string(field.name) + ": expected a number");
    return number_json(number);
}

Json application_value(const ApplicationField& field, const std::string& text) {
    switch (field.kind) {
        case ApplicationFieldKind::text:
            return text;
        case ApplicationFieldKind::list:
            return list_value(text);
        case ApplicationFieldKind::boolean:
            return boolean_value(field.name, text);
        case ApplicationFieldKind::number:
            return application_number(field, text);
    }
    return {};
}

// The service replaces all settings of the watchdog at once, so the others are sent unchanged.
Json group_of(Context& context, const std::string& application, const ApplicationField& field) {
    if (field.group != "watchdog") return Json::object();
    const Json record = context.client().application(application);
    const JsonArray& versions = items_of(record, "versions");
    const Json& present = versions.empty() ? Json() : member(versions.back(), "watchdog");
    return present.is_object() ? present : Json::object();
}

int change(Context& context, const Arguments& arguments, const ApplicationField& field, Json value) {
    Waiting waiting(context, arguments, false);
    const std::string application = application_named(context.client(), arguments.text("application"));
    Json body = Json::object();
    if (field.group.empty()) {
        body.set(std::string(field.key), std::move(value));
    } else {
        Json group = group_of(context, application, field);
        group.set(std::string(field.key), std::move(value));
        body.set(std::string(field.group), std::move(group));
    }
    waiting.finish(context.client().patch_application(application, body));
    return 0;
}

int set_application(Context& context, const Arguments& arguments) {
    const ApplicationField& field = find_field(arguments.text("field"));
    return change(context, arguments, field, application_value(field, arguments.text("value")));
}

int unset(Context& context, const Arguments& arguments) {
    const ApplicationField& field = find_field(arguments.text("field"));
    if (field.kind != ApplicationFieldKind::list)
        throw UsageError(std::string(field.name) + " cannot be unset, only " + field_names(true));
    return change(context, arguments, field, Json::array());
}

}  // namespace

Command application_set_command() {
    return {{"application", "set"},
            {},
            "change a field of an application",
            {{"application", "id or name of the application"},
             {"field", "its name"},
             {"value", "its value; lists with commas between"}},
            {timeout_flag()},
            set_application,
            "Fields: " + field_names(false) + ".\n\nsvcctl application set my-app resources.memory 4GB"};
}

Command application_unset_command() {
    return {{"application", "unset"},
            {},
            "empty a list of an application",
            {{"application", "id or name of the application"}, {"field", "its name"}},
            {timeout_flag()},
            unset,
            "Fields: " + field_names(true) + "."};
}

}  // namespace svc::cli
