// application set, unset: one field at a time, by its name in the manifest.
#include <algorithm>
#include <array>
#include <charconv>

#include "cli/commands/commands.h"
#include "cli/line/field_values.h"
#include "cli/output/values.h"
#include "cli/remote/named.h"
#include "cli/remote/waiting.h"
#include "libsvc/base/strings.h"

namespace svc::cli {
namespace {

enum class Kind { text, list, boolean, number };

struct Field {
    std::string_view name;   // as the user writes it
    std::string_view group;  // "" or the object it lies in
    std::string_view key;    // as the API has it
    Kind kind;
};
constexpr std::array fields{
    Field{"image", "", "image", Kind::text},
    Field{"instance-type", "", "instance-type", Kind::text},
    Field{"addons", "", "addons", Kind::list},
    Field{"tags", "", "tags", Kind::list},
    Field{"inhibit-auto-updates", "", "inhibit_auto_updates", Kind::boolean},
    Field{"resources.cpus", "resources", "cpus", Kind::number},
    Field{"resources.memory", "resources", "memory", Kind::text},
    Field{"resources.disk-size", "resources", "disk-size", Kind::text},
    Field{"resources.gpu-slots", "resources", "gpu-slots", Kind::number},
    Field{"boot-activity", "", "boot_activity", Kind::text},
    Field{"required-permissions", "", "required_permissions", Kind::list},
    Field{"video-encoder", "", "video_encoder", Kind::text},
    Field{"manifest-version", "", "manifest_version", Kind::text},
    Field{"features", "", "features", Kind::list},
    Field{"hooks.timeout", "hooks", "timeout", Kind::text},
    Field{"bootstrap.keep", "bootstrap", "keep", Kind::list},
    Field{"node-selector", "", "node_selector", Kind::list},
    Field{"watchdog.disabled", "watchdog", "disabled", Kind::boolean},
    Field{"watchdog.allowed-packages", "watchdog", "allowed-packages", Kind::list},
};

std::string names(bool lists_only) {
    std::vector<std::string> all;
    for (const Field& field : fields)
        if (!lists_only || field.kind == Kind::list) all.emplace_back(field.name);
    return join(all, ", ");
}

const Field& find_field(const std::string& name) {
    const auto found =
        std::find_if(fields.begin(), fields.end(), [&](const Field& field) { return field.name == name; });
    if (found == fields.end()) throw UsageError(quoted(name) + " is none of " + names(false));
    return *found;
}

Json number_value(const Field& field, const std::string& text) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size())
        throw UsageError(std::string(field.name) + ": expected a whole number");
    return number;
}

Json value_of(const Field& field, const std::string& text) {
    switch (field.kind) {
        case Kind::text:
            return text;
        case Kind::list:
            return list_value(text);
        case Kind::boolean:
            return boolean_value(field.name, text);
        case Kind::number:
            return number_value(field, text);
    }
    return {};
}

// The watchdog's settings are one value to the service: those not named stay what they are.
Json group_of(Context& context, const std::string& application, const Field& field) {
    if (field.group != "watchdog") return Json::object();
    const Json record = context.client().application(application);
    const JsonArray& versions = items_of(record, "versions");
    const Json& present = versions.empty() ? Json() : member(versions.back(), "watchdog");
    return present.is_object() ? present : Json::object();
}

int change(Context& context, const Arguments& arguments, const Field& field, Json value) {
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
    const Field& field = find_field(arguments.text("field"));
    return change(context, arguments, field, value_of(field, arguments.text("value")));
}

int unset(Context& context, const Arguments& arguments) {
    const Field& field = find_field(arguments.text("field"));
    if (field.kind != Kind::list)
        throw UsageError(std::string(field.name) + " cannot be unset, only " + names(true));
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
            "Fields: " + names(false) + ".\n\nsvcctl application set my-app resources.memory 4GB"};
}

Command application_unset_command() {
    return {{"application", "unset"},
            {},
            "empty a list of an application",
            {{"application", "id or name of the application"}, {"field", "its name"}},
            {timeout_flag()},
            unset,
            "Fields: " + names(true) + "."};
}

}  // namespace svc::cli
