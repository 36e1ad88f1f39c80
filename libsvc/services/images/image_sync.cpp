#include "libsvc/services/images/image_sync.h"

#include <algorithm>
#include <set>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/guarded.h"
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"
#include "libsvc/model/values/api.h"
#include "libsvc/model/values/names.h"
#include "libsvc/services/common/await_operation.h"
#include "libsvc/services/common/progress.h"
#include "libsvc/services/images/offered_images.h"

namespace svc {

namespace {

constexpr const char* sync_claim = "images/synchronisation";
constexpr const char* kind = "image.sync";

const ImageVersion* version_of_remote(const Image& image, const std::string& remote_id) {
    const auto found = std::find_if(image.versions.begin(), image.versions.end(),
                                    [&](const ImageVersion& one) { return one.remote_id == remote_id; });
    return found == image.versions.end() ? nullptr : &*found;
}

Json progress_of(const std::string& image, std::uint64_t bytes, std::uint64_t total) {
    return Json::object({{"image", image}, {"progress", progress_json(bytes, total)}});
}

}  // namespace

ImageSync::ImageSync(ImageSyncParts parts) : parts_(std::move(parts)) {
    OperationHandler handler;
    handler.run = [this](OperationContext& context) { return run(context); };
    handler.resumable = true;  // images that have arrived are not fetched again
    parts_.engine.handle(kind, std::move(handler));
    parts_.images.on_sync_request([this](const std::string& image) { synchronise_one(image); });
}

std::unique_ptr<ImageServer> ImageSync::open() const {
    const ConfigValues config = parts_.config.values();
    ImageServerOptions options;
    options.url = config.text("images.url");
    if (options.url.empty()) throw Error(ErrorCode::invalid_argument, "image server not configured");
    options.auth = config.text("images.auth");
    options.allow_insecure = config.boolean("images.allow_insecure");
    options.proxy_http = config.text("core.proxy_http");
    options.proxy_https = config.text("core.proxy_https");
    options.proxy_ignore_hosts = config.list("core.proxy_ignore_hosts");
    return parts_.open(options);
}

Started ImageSync::start(std::string description, Json arguments, const std::string& image,
                         std::string requestor) {
    OperationSpec spec;
    spec.kind = kind;
    spec.description = std::move(description);
    if (!image.empty()) spec.resources["images"] = {"/1.0/images/" + image};
    spec.claims = {sync_claim};
    spec.wait_for_claims = true;  // it waits for the operations that unpack: one at a time
    spec.cancel_holders = false;
    spec.cancellable = true;
    spec.arguments = std::move(arguments);
    spec.requestor = std::move(requestor);
    return parts_.engine.start(std::move(spec), {});
}

void ImageSync::synchronise() {
    if (parts_.config.text("images.url").empty() || parts_.engine.claimed(sync_claim)) return;
    if (new_images(open()->list()).empty()) return;
    start("Synchronising images", Json::object(), "", "");
}

void ImageSync::synchronise_one(const std::string& image_id) {
    if (parts_.config.text("images.url").empty())
        throw Error(ErrorCode::invalid_argument, "image server not configured");
    start("Synchronising images", Json::object({{"image", image_id}}), image_id, "");
}

Started ImageSync::import(std::string_view name, std::string_view remote, bool make_default,
                          std::string requestor) {
    check_image_name("name", name);
    ImageRequest request;
    request.name = std::string(name);
    request.is_default = make_default;
    parts_.images.check_create(request);
    const auto offered = find_offered(open()->list(), remote, parts_.architecture);
    if (!offered)
        throw Error(ErrorCode::not_found, "image " + quoted(remote) + " not found on the image server");
    return start(
        "Adding image",
        Json::object(
            {{"name", name}, {"remote", offered->name + "@" + offered->version}, {"default", make_default}}),
        request.name, std::move(requestor));
}

std::shared_ptr<const Image> ImageSync::find(std::string_view id_or_name) const {
    try {
        return parts_.images.get(id_or_name);
    } catch (const Error& e) {
        if (e.code() != ErrorCode::not_found) throw;
        return nullptr;
    }
}

bool ImageSync::is_missing(const OfferedImage& offered) const {
    if (useless_.with([&](const auto& known) { return known.contains(offered.fingerprint); })) return false;
    const auto image = find(offered.name);
    if (!image) return true;
    if (!image->immutable)
        log::debug("image is not synchronised, it was uploaded by hand", {{"image", offered.name}});
    return image->immutable && !image->deleting && version_of_remote(*image, offered.version) == nullptr;
}

std::vector<ImageSync::Wanted> ImageSync::new_images(const std::vector<OfferedImage>& offered) const {
    ImageChoice choice;
    choice.architecture = parts_.architecture;
    if (parts_.config.boolean("images.version_lockstep")) choice.lockstep_with = service_version;
    std::vector<Wanted> wanted;
    for (auto& image : newest_images(offered, choice))
        if (is_missing(image)) wanted.push_back({image, image.name, false});
    return wanted;
}

std::vector<ImageSync::Wanted> ImageSync::wanted_by(const Operation& operation,
                                                    const std::vector<OfferedImage>& offered) const {
    const JsonFields arguments(operation.arguments);
    if (const auto id = arguments.string("image")) {
        const auto image = parts_.images.get(*id);
        const auto found = find_offered(offered, image->name, parts_.architecture);
        if (!found)
            throw Error(ErrorCode::not_found,
                        "image " + quoted(image->name) + " not found on the image server");
        return {{*found, image->name, false}};
    }
    const auto remote = arguments.string("remote");
    if (!remote) return new_images(offered);
    const auto found = find_offered(offered, *remote, parts_.architecture);
    if (!found)
        throw Error(ErrorCode::not_found, "image " + quoted(*remote) + " not found on the image server");
    return {{*found, arguments.require_string("name"), arguments.boolean("default").value_or(false)}};
}

// An error with one image does not stop the others.
OperationResult ImageSync::run(OperationContext& context) {
    const auto server = open();
    std::optional<Error> failure;
    for (const Wanted& wanted : wanted_by(context.operation(), server->list())) {
        try {
            with_context("image " + quoted(wanted.name), [&] { fetch(*server, wanted, context); });
        } catch (const Error& e) {
            // Cancelled, so that the operation is resumed after the next start of the daemon.
            if (context.stop().stop_requested()) throw Error(ErrorCode::cancelled, e.what());
            if (e.code() == ErrorCode::unavailable) throw;
            failure.emplace(e);
        }
    }
    if (failure) throw Error(*failure);
    return {};
}

void ImageSync::fetch(ImageServer& server, const Wanted& wanted, OperationContext& context) {
    const auto image = find(wanted.name);
    if (image && version_of_remote(*image, wanted.offered.version) != nullptr) return;
    if (image && !image->immutable) throw Error(ErrorCode::conflict, "image already exists");
    UploadedPackage package = download(server, wanted, context);
    try {
        const Started unpacking = parts_.images.import(
            {wanted.name, wanted.offered.version, wanted.make_default}, std::move(package));
        if (unpacking) await_operation(parts_.engine, *unpacking, context);
    } catch (const Error& e) {
        if (e.code() == ErrorCode::invalid_argument || e.code() == ErrorCode::internal)
            useless_.with([&](auto& known) { known.insert(wanted.offered.fingerprint); });
        throw;
    }
    log::info("image synchronised", {{"image", wanted.name}, {"version", wanted.offered.version}});
}

UploadedPackage ImageSync::download(ImageServer& server, const Wanted& wanted, OperationContext& context) {
    UploadedPackage package;
    package.blob = parts_.blobs.create(wanted.offered.size);
    std::uint64_t bytes = 0;
    server.download(wanted.offered, [&](std::string_view piece) {
        if (context.stop().stop_requested()) throw Error(ErrorCode::cancelled, "download was cancelled");
        package.blob->write(piece);
        bytes += piece.size();
        context.progress(progress_of(wanted.name, bytes, wanted.offered.size));
    });
    package.info = package.blob->finish();
    if (package.info.digest != wanted.offered.fingerprint)
        throw Error(ErrorCode::invalid_argument, "fingerprint don't match, got " + package.info.digest +
                                                     " but expected " + wanted.offered.fingerprint);
    return package;
}

}  // namespace svc
