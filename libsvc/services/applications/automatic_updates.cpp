#include "libsvc/services/applications/automatic_updates.h"

#include <algorithm>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/services/applications/application_versions.h"
#include "libsvc/services/common/layer_hold.h"

namespace svc {

namespace {

constexpr const char* own_requestor = "service";

void log_update(const Started& started, const std::string& application) {
    const Json& version = started->arguments.at("version");
    log::info("application updated by itself",
              {{"application", application}, {"version", std::to_string(version.as_int())}});
}

}  // namespace

void AutomaticUpdates::image_changed(const std::string& image_id) {
    update_where(
        [image_id](const Application& application) { return application.parent_image_id == image_id; });
}

void AutomaticUpdates::addon_changed(const std::string& addon) {
    update_where([this, addon](const Application& application) {
        const auto wanted = parts_.foundations.wanted_addons(application);
        return std::ranges::find(wanted, addon) != wanted.end();
    });
}

void AutomaticUpdates::global_addons_changed() {
    update_where([](const Application&) { return true; });
}

void AutomaticUpdates::update_where(const std::function<bool(const Application&)>& depends) {
    parts_.jobs.post([this, depends] {
        for (const auto& application : parts_.applications.list())
            if (application->pending_update || depends(*application)) update_if_behind(application->id.str());
    });
}

void AutomaticUpdates::update_if_behind(const std::string& id) {
    try {
        while (!try_update_if_behind(id)) continue;
    } catch (const Error& e) {
        log::warning("application cannot be updated by itself", {{"application", id}, {"error", e.what()}});
    }
}

// False when the record has changed in between: to be called again.
bool AutomaticUpdates::try_update_if_behind(const std::string& id) {
    const auto application = parts_.applications.find(id);
    if (!application || !parts_.foundations.may_update_itself(*application)) return true;
    if (!is_behind(newest_of(*application), parts_.foundations.newest(*application, false))) return true;
    if (is_initializing(*application)) {
        const auto now = parts_.applications.update(
            id, [](Application& record) { record.pending_update = is_initializing(record); });
        return now->pending_update;
    }
    try {
        LayerHold hold(parts_.content);
        const auto edit = [this](Application& record) { return take_newest(record); };
        log_update(parts_.changes.start("application.update", id, id, edit, own_requestor, hold), id);
        return true;
    } catch (const Error& e) {
        if (e.code() != ErrorCode::busy) throw;
        return false;
    }
}

ApplicationTarget AutomaticUpdates::take_newest(Application& application) const {
    const VersionFoundation foundation = parts_.foundations.newest(application, false);
    if (is_initializing(application) || !is_behind(newest_of(application), foundation))
        throw Error(ErrorCode::busy, "update already in progress");  // another trigger was faster
    return parts_.versions.repeat(application, foundation, newest_of(application).manifest);
}

void AutomaticUpdates::take_up_pending(const std::string& id) {
    const auto before = parts_.applications.find(id);
    if (!before || !before->pending_update || before->deleting || is_initializing(*before)) return;
    update_if_behind(id);
    const auto now = parts_.applications.find(id);
    if (!now || !now->pending_update) return;
    parts_.applications.update(  // it was not behind, or must not update itself any more
        id, [](Application& record) { record.pending_update &= is_initializing(record); });
}

}  // namespace svc
