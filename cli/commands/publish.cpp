#include <filesystem>

#include "cli/actions/object_lookup.h"
#include "cli/actions/operation_wait.h"
#include "cli/actions/snapshot_download.h"
#include "cli/actions/temporary_snapshot.h"
#include "cli/commands/commands.h"
#include "libsvc/base/file.h"
#include "libsvc/base/strings.h"
#include "libsvc/model/values/names.h"

namespace svc::cli {
namespace {

ImageRequest requested_image(const Arguments& arguments) {
    if (!arguments.given("name")) throw UsageError("--name is missing: the name of the new image");
    ImageRequest request;
    request.name = arguments.text("name");
    try {
        check_image_name("--name", request.name);
    } catch (const Error& e) {
        throw UsageError(e.what());
    }
    if (arguments.is_set("default")) request.is_default = true;
    return request;
}

// The service checks it as well, but only when the archive has arrived there.
void check_is_new(Context& context, const std::string& name) {
    try {
        context.client().image(name);
    } catch (const Error& e) {
        if (e.code() == ErrorCode::not_found) return;
        throw;
    }
    throw Error(ErrorCode::conflict, "image " + quoted(name) + " already exists");
}

int publish(Context& context, const Arguments& arguments) {
    const ImageRequest request = requested_image(arguments);
    Waiting waiting(context, arguments, false);
    const std::string instance = instance_named(context.client(), arguments.text("id"));
    check_is_new(context, request.name);
    const TemporaryDirectory scratch(std::filesystem::temp_directory_path(), "svcctl-");
    const std::filesystem::path archive = scratch.path() / "image.tar.gz";
    const bool deleted = with_temporary_snapshot(
        context, waiting, instance,
        [&](const std::string& snapshot) { download_snapshot(context, instance, snapshot, archive); });
    const Package package(archive, waiting.package_progress());
    const auto record = waiting.finish(context.client().create_image(request, package));
    context.console().print_line(resource_id(*record, {"images"}));
    return deleted ? 0 : 1;
}

}  // namespace

Command publish_command() {
    return {{"publish"},
            {},
            "make an image of a stopped instance",
            {{"id", "id or name of the instance"}},
            {{"name", 0, "IMAGE", "name of the new image"},
             {"default", 'd', "", "make it the default image"},
             timeout_flag()},
            publish,
            "Prints the id of the image. It has the disk of the instance and what the instance's own image "
            "says of its guest (init, variant, readiness), but no application, addons or services. A "
            "temporary snapshot is taken and deleted again, and its archive passes through this machine: "
            "TMPDIR (/tmp) needs room for it."};
}

}  // namespace svc::cli
