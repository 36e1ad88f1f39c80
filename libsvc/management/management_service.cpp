#include "libsvc/management/management_service.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "libsvc/base/log.h"
#include "libsvc/management/bulk_kinds.h"
#include "libsvc/management/connections.h"
#include "libsvc/management/periodic_jobs.h"

namespace svc {

namespace {

constexpr std::chrono::seconds last_run{
    2};  // what stop() gives a follower whose network has not answered yet

Follower::Interval interval_of(ConfigService& config, const char* key) {
    return [&config, key] { return config.values().duration(key); };
}

std::string architecture_of(Runtime& runtime) {
    return runtime.capacity().architecture;
}

}  // namespace

ManagementService::ManagementService(ManagementSeams seams, ManagementOptions options)
    : seams_(std::move(seams)),
      records_(seams_.store),
      containers_(seams_.runtime, records_.instances, records_.nodes),
      content_(seams_.blobs, seams_.layers),
      engine_(seams_.store, seams_.events, seams_.clock, seams_.ids, options.engine),
      tokens_(options.token_secret, seams_.clock),
      config_(records_.config, records_.addons, engine_),
      certificates_(records_.certificates, records_.certificate_changes, records_.join_tokens, config_,
                    engine_, seams_.clock, seams_.ids),
      sessions_(records_.sessions, records_.session_ends, config_, certificates_, seams_.clock, seams_.ids),
      oidc_(config_, tokens_.secret_for("oidc"), seams_.clock, seams_.open_identity_server),
      nodes_({seams_.store, records_.nodes, records_.removed_nodes, containers_, config_, engine_,
              seams_.clock, std::move(options.nodes), seams_.machine_cluster}),
      addons_({records_.addons, records_.applications, records_.instances, records_.config, content_, engine_,
               seams_.clock}),
      images_({seams_.store, records_.images, records_.applications, content_, engine_, seams_.clock,
               seams_.ids, architecture_of(seams_.runtime)}),
      image_sync_({images_, config_, seams_.blobs, engine_, architecture_of(seams_.runtime),
                   seams_.open_image_server}),
      instances_({records_.instances, records_.instance_listener, records_.nodes, records_.images,
                  records_.applications, records_.addons, records_.snapshots, config_, content_, nodes_,
                  containers_, engine_, seams_.events, tokens_, seams_.clock, seams_.ids,
                  std::move(options.session_template), std::move(options.service_reach),
                  std::move(options.instances)}),
      applications_({records_.applications, addons_, images_, instances_, config_, content_, engine_,
                     seams_.clock, seams_.ids, architecture_of(seams_.runtime), std::move(options.apk_parser),
                     options.bootstrap_limit, options.bootstraps_at_once}),
      registry_({applications_, certificates_, config_, seams_.blobs, engine_,
                 std::move(options.registry_keys), architecture_of(seams_.runtime), seams_.open_catalogue}),
      exec_(records_.instances, instances_.uses(), containers_, engine_, seams_.clock, seams_.ids),
      captures_(records_.instances, instances_.uses(), containers_),
      snapshots_({records_.snapshots, records_.instances, content_, engine_, seams_.events, seams_.clock,
                  seams_.ids}),
      bulk_(engine_, bulk_kinds(applications_, instances_), options.bulk_deletions_at_once),
      unreadable_(records_, engine_, instances_),
      image_follower_("image-server", interval_of(config_, "images.update_interval"),
                      [this] { image_sync_.synchronise(); }),
      registry_follower_("registry", interval_of(config_, "registry.update_interval"),
                         [this] {
                             if (!config_.text("registry.url").empty()) registry_.synchronise();
                         }),
      jobs_(std::move(options.jobs)) {
    content_.keep_all_while([this] { return !records_.know_all_content(); });
    connect_services({config_, addons_, images_, applications_, registry_, instances_});
    connect_followers(config_, image_follower_, registry_follower_);
}

// The engine's work ends before the services that it calls; the services and their own threads, which may
// still call the engine and are refused, end before the engine itself.
ManagementService::~ManagementService() {
    stop(Duration(0));
    stop_followers(std::chrono::hours(1));
    if (recovered_) seams_.runtime.on_event({});
    engine_.join();
}

void ManagementService::recover() {
    nodes_.recover();
    instances_.recover();
    engine_.recover();
    nodes_.listen();
    recovered_ = true;
    if (seams_.guest_reports != nullptr) seams_.guest_reports->open(instances_.reports());
}

void ManagementService::start() {
    if (!recovered_) recover();
    first_reconciliation_ = std::jthread([this] { reconcile_first(); });
    unreadable_.tell();
    std::vector<PeriodicJob> jobs = periodic_jobs(*this);
    std::ranges::move(jobs_, std::back_inserter(jobs));
    periodic_.emplace(seams_.clock, std::move(jobs));
    instances_.start_expiry();
    image_follower_.start();
    registry_follower_.start();
}

void ManagementService::reconcile_first() {
    try {
        instances_.reconciler().reconcile();
        snapshots_.remove_orphans();
        content_.collect_garbage();
        // A crash may have come between a change and the call that tells the applications of it.
        applications_.updates().global_addons_changed();
        applications_.publication().enforce_limits();
    } catch (const std::exception& e) {
        log::error("first reconciliation failed", {{"error", e.what()}});
    }
}

bool ManagementService::stop(Duration grace) {
    captures_.stop();
    instances_.stop_expiry();
    engine_.stop(grace);
    const bool idle = is_idle();
    periodic_.reset();
    nodes_.stop();
    const bool followed = stop_followers(last_run);
    first_reconciliation_ = {};
    if (seams_.guest_reports != nullptr) seams_.guest_reports->close();
    return idle && followed;
}

void ManagementService::detach() {
    instances_.stop_expiry();
    oidc_.stop();
    certificates_.stop();
    sessions_.stop();
}

bool ManagementService::is_idle() const {
    return std::ranges::all_of(engine_.list(),
                               [](const Started& operation) { return is_final(operation->status); });
}

bool ManagementService::stop_followers(Duration limit) {
    const bool images_ended = image_follower_.stop(limit);
    return registry_follower_.stop(limit) && images_ended;
}

}  // namespace svc
