#include <sys/utsname.h>

#include <set>

#include "cli/actions/object_lookup.h"
#include "cli/actions/oci_source.h"
#include "cli/actions/operation_wait.h"
#include "cli/command_line/version_flag.h"
#include "cli/commands/commands.h"
#include "cli/output/document.h"
#include "cli/output/values.h"
#include "cli/terminal/prompt.h"
#include "libsvc/base/strings.h"
#include "libsvc/model/values/size.h"

namespace svc::cli {
namespace {

Positional one_image() {
    return {"image", "id or name of the image"};
}

Json image_value(const Json& record) {
    Json value = Json::object();
    copy_members(record, value, {"id", "name", "status"});
    Json versions = Json::object();
    for (const Json& version : items_of(record, "versions")) {
        Json shown =
            Json::object({{"size", format_size(static_cast<std::uint64_t>(number_of(version, "size")))},
                          {"created-at", time_text(number_of(version, "created_at"))},
                          {"status", text_of(version, "status")},
                          {"fingerprint", text_of(version, "fingerprint")}});
        copy_members(version, shown, {"error_message"});
        versions.set(std::to_string(number_of(version, "version")), std::move(shown));
    }
    value.set("versions", std::move(versions));
    value.set("used_by", Json(items_of(record, "used_by")));
    copy_members(record, value, {"architecture", "default", "immutable"});
    return value;
}

std::string named_image(Context& context, const Arguments& arguments) {
    return image_named(context.client(), arguments.text("image"));
}

int list_images(Context& context, const Arguments& arguments) {
    Document document{Json::array(), {{"ID", "NAME", "STATUS", "VERSIONS", "ARCHITECTURE", "DEFAULT"}, {}}};
    for (const Json& record : context.client().images()) {
        document.value.push_back(image_value(record));
        document.table.rows.push_back({text_of(record, "id"), text_of(record, "name"),
                                       text_of(record, "status"),
                                       std::to_string(items_of(record, "versions").size()),
                                       text_of(record, "architecture"), yes_no(is_true(record, "default"))});
    }
    context.console().print(render(document, format_of(arguments)));
    return 0;
}

int show_image(Context& context, const Arguments& arguments) {
    const Json record = context.client().image(named_image(context, arguments));
    context.console().print(render(describe(image_value(record)), format_of(arguments)));
    return 0;
}

ImageRequest request_of_image(const Arguments& arguments) {
    ImageRequest request;
    if (arguments.is_set("default")) request.is_default = true;
    return request;
}

// That of the nodes; where there is none, of this machine.
std::string cluster_architecture(Context& context) {
    std::set<std::string> all;
    for (const Json& node : context.client().nodes())
        if (std::string architecture = text_of(node, "architecture"); !architecture.empty())
            all.insert(std::move(architecture));
    if (all.size() > 1)
        throw UsageError("the nodes are of several architectures: say with --arch which the image is for, " +
                         join({all.begin(), all.end()}, " or "));
    if (!all.empty()) return *all.begin();
    utsname machine{};
    ::uname(&machine);
    return machine.machine;
}

std::string architecture_of(Context& context, const Arguments& arguments) {
    return arguments.given("arch") ? arguments.text("arch") : cluster_architecture(context);
}

// A package, or an OCI image that becomes one.
void check_source(const Arguments& arguments) {
    if (arguments.given("path") && arguments.given("oci"))
        throw UsageError("give a package or --oci, not both");
    for (const char* const flag : {"init", "arch"})
        if (arguments.given(flag) && !arguments.given("oci"))
            throw UsageError("--" + std::string(flag) + " is for --oci");
}

OciPackage oci_package(Context& context, const Arguments& arguments, const PackageProgress& progress) {
    return {{arguments.text("oci"), architecture_of(context, arguments), arguments.text("init")}, progress};
}

// A path that is no file names an image on the image server.
Json start_add(Context& context, const Arguments& arguments, const PackageProgress& progress) {
    check_source(arguments);
    ImageRequest request = request_of_image(arguments);
    request.name = arguments.text("name");
    if (arguments.given("oci"))
        return context.client().create_image(request, oci_package(context, arguments, progress).package());
    if (!arguments.given("path")) throw UsageError("give a package, or an OCI image with --oci");
    const std::string path = arguments.text("path");
    if (std::filesystem::exists(path) || path.find('/') != std::string::npos) {
        const Package package(path, progress);
        return context.client().create_image(request, package);
    }
    return context.client().import_image(Json::object(
        {{"name", request.name}, {"path", path}, {"default", request.is_default.value_or(false)}}));
}

int add(Context& context, const Arguments& arguments) {
    Waiting waiting(context, arguments, false);
    const auto record = waiting.finish(start_add(context, arguments, waiting.package_progress()));
    context.console().print_line(resource_id(*record, {"images"}));
    return 0;
}

int update_image(Context& context, const Arguments& arguments) {
    check_source(arguments);
    const bool with_package = arguments.given("path") || arguments.given("oci");
    if (!with_package && !arguments.is_set("default"))
        throw UsageError("nothing to change: give a package or --oci, --default, or both");
    Waiting waiting(context, arguments, false);
    const std::string image = named_image(context, arguments);
    if (arguments.given("oci")) {
        const OciPackage made = oci_package(context, arguments, waiting.package_progress());
        waiting.finish(context.client().update_image(image, request_of_image(arguments), made.package()));
        return 0;
    }
    if (!with_package) {
        waiting.finish(context.client().patch_image(image, ImagePatch{true}));
        return 0;
    }
    const Package package(arguments.text("path"), waiting.package_progress());
    waiting.finish(context.client().update_image(image, request_of_image(arguments), package));
    return 0;
}

int make_default(Context& context, const Arguments& arguments) {
    Waiting waiting(context, arguments, false);
    waiting.finish(context.client().patch_image(named_image(context, arguments), ImagePatch{true}));
    return 0;
}

int synchronise(Context& context, const Arguments& arguments) {
    Waiting waiting(context, arguments, false);
    waiting.finish(context.client().synchronise_image(named_image(context, arguments)));
    return 0;
}

int remove_image(Context& context, const Arguments& arguments) {
    const auto version = version_of(arguments);
    const std::string image = named_image(context, arguments);
    if (!arguments.is_set("yes"))
        confirm_removal(context.console(), {"image " + quoted(image) + version_words(version)});
    Waiting waiting(context, arguments, false);
    waiting.finish(version ? context.client().delete_image_version(image, *version)
                           : context.client().delete_image(image, arguments.is_set("force")));
    return 0;
}

std::vector<Flag> source_flags() {
    return {{"default", 'd', "", "make it the default image"},
            {"oci", 0, "SOURCE",
             "an OCI image instead: a layout directory, an archive, or a name that skopeo fetches "
             "(docker://host/name:tag)"},
            {"init", 0, "COMMAND", "with --oci: a shell command that runs instead of the image's own"},
            {"arch",
             0,
             "ARCHITECTURE",
             "with --oci: the processor that the image is for, where the nodes are not all of one",
             "",
             {"x86_64", "aarch64"}},
            timeout_flag()};
}

}  // namespace

Command image_add_command() {
    return {{"image", "add"},
            {},
            "upload an image",
            {{"name", "name of the new image"},
             {"path",
              "package: a tar file compressed with gzip, bzip2 or xz; or <name>[@<version>] on the image "
              "server",
              false}},
            source_flags(),
            add,
            "Prints the id of the image. The time limit counts from the end of the upload."};
}

Command image_list_command() {
    return {{"image", "list"}, {"ls"}, "list images", {}, {format_flag("table")}, list_images};
}

Command image_show_command() {
    return {{"image", "show"},     {},        "show an image and its versions", {one_image()},
            {format_flag("yaml")}, show_image};
}

Command image_update_command() {
    return {{"image", "update"},
            {},
            "add a version to an image, or make it the default",
            {one_image(), {"path", "package of the new version", false}},
            source_flags(),
            update_image};
}

Command image_switch_command() {
    return {{"image", "switch"}, {},          "make an image the default", {one_image()},
            {timeout_flag()},    make_default};
}

Command image_sync_command() {
    return {
        {"image", "sync"}, {},         "ask the image server for a newer version of an image", {one_image()},
        {timeout_flag()},  synchronise};
}

Command image_delete_command() {
    return {{"image", "delete"},
            {"rm"},
            "delete an image or one of its versions",
            {one_image()},
            {version_flag(),
             {"force", 'f', "", "also when it is immutable or in use"},
             {"yes", 'y', "", "do not ask"},
             timeout_flag()},
            remove_image};
}

}  // namespace svc::cli
