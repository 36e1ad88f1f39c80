#include "libsvc/services/applications/application_service.h"

#include <utility>

#include "libsvc/services/applications/application_versions.h"

namespace svc {

ApplicationService::ApplicationService(ApplicationServiceParts parts)
    : records_(parts.applications, parts.images),
      apks_(std::move(parts.apk_parser)),
      foundations_(parts.images, parts.addons, parts.config, parts.architecture),
      versions_(parts.clock, parts.ids),
      removal_({parts.applications, parts.instances, parts.content, parts.engine}),
      publication_(
          {parts.applications, records_, parts.instances, parts.config, removal_, parts.engine, jobs_}),
      bootstraps_({parts.applications, parts.instances, parts.config, parts.content, parts.engine, jobs_,
                   parts.clock, parts.ids, parts.bootstrap_limit, parts.bootstraps_at_once}),
      changes_({parts.applications, records_, foundations_, versions_, apks_, bootstraps_, removal_,
                parts.config, parts.content, parts.engine, parts.clock, parts.ids}),
      updates_({parts.applications, foundations_, versions_, changes_, parts.content, jobs_}),
      exports_(parts.applications, records_, parts.content),
      imports_({parts.applications, publication_, removal_, parts.content, parts.engine, parts.clock,
                parts.ids, parts.architecture}) {
    bootstraps_.on_active([this](const std::string& id) { publication_.version_active(id); });
    bootstraps_.on_ended([this](const std::string& id) { updates_.take_up_pending(id); });
    parts.content.add_referrer([&applications = parts.applications](ContentReferences& references) {
        for (const auto& application : applications.list())
            for (const ApplicationVersion& version : application->versions)
                references.merge(content_of(*application, version));
    });
}

// Before the members that the jobs use are destroyed.
ApplicationService::~ApplicationService() {
    jobs_.stop();
}

}  // namespace svc
