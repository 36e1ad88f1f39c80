#pragma once
// The inside of ApplicationService. application_service.cpp takes requests; application_updates.cpp decides
// what a new version stands on and when one is due; application_bootstrap.cpp makes versions;
// application_publication.cpp publishes and cleans up; application_removal.cpp deletes;
// application_export.cpp and application_import.cpp let versions travel.
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/guarded.h"
#include "libsvc/base/thread_pool.h"
#include "libsvc/base/timer.h"
#include "libsvc/services/applications/application_package.h"
#include "libsvc/services/applications/application_service.h"
#include "libsvc/services/applications/bootstrap_queue.h"
#include "libsvc/services/common/retry.h"

namespace svc {

// Layers that records are about to refer to: they stay while this lives. One thread.
class LayerHold {
  public:
    explicit LayerHold(Content& content) : content_(content) {}
    ~LayerHold();
    LayerHold(const LayerHold&) = delete;
    LayerHold& operator=(const LayerHold&) = delete;
    void add(const std::vector<std::string>& layers);

  private:
    Content& content_;
    std::vector<std::string> layers_;
};

class ApplicationService::Implementation {
  public:
    explicit Implementation(ApplicationServiceParts parts);
    ~Implementation();

    Started create(UploadedPackage package, std::string_view fingerprint, std::string requestor);
    std::shared_ptr<const Application> check_update(std::string_view id_or_name) const;
    Started update(std::string_view id_or_name, UploadedPackage package, std::string_view fingerprint,
                   const std::string& requestor, const Precondition& unchanged);
    Started patch(std::string_view id_or_name, const ApplicationPatch& patch, const std::string& requestor,
                  const Precondition& unchanged);
    Started remove(std::string_view id_or_name, bool force, const std::string& requestor);
    Started remove_version(std::string_view id_or_name, int version, bool force,
                           const std::string& requestor);
    Started publish(std::string_view id_or_name, int version, bool published, const std::string& requestor);
    std::string manifest(std::string_view id_or_name, std::optional<int> version) const;
    ApplicationExport export_version(std::string_view id_or_name, int version);
    Started import_version(ImportedVersion version, const std::string& requestor);
    void image_changed(const std::string& image_id);
    void addon_changed(const std::string& addon);
    void global_addons_changed();
    void enforce_limits();
    void on_published(std::function<void(const std::string& id)> listener) {
        published_listener_ = std::move(listener);
    }
    const Applications& applications() const { return parts_.applications; }

  private:
    using Ptr = std::shared_ptr<const Application>;

    // What an operation works on, as stored in its arguments.
    struct Target {
        static constexpr int no_version = -1;
        std::string application;
        int version = no_version;
        std::string bootstrap;  // id of the operation that bootstraps it, chosen before it exists
        Json to_json() const;
        static Target of(const Operation& operation);
    };

    // What a version stands on.
    struct Foundation : ParentImage {
        std::vector<PackageRef> addons;
        std::vector<std::string> abi_support;  // of the addons
        std::uint64_t root_bytes = 0;          // what the image holds; 0: it is gone
    };

    // A bootstrap that goes on in this process.
    struct Bootstrap {
        Target target;
        std::string operation;
        std::string requestor;
        std::shared_ptr<OperationCompletion> completion;
        std::mutex step;             // held during each step
        bool over = false;           // belongs to `step`: no further step is wanted
        Timer::Ticket deadline = 0;  // belongs to `step`
    };
    using BootstrapPtr = std::shared_ptr<Bootstrap>;

    // How calls back from elsewhere find us as long as we are there.
    struct Link {
        std::mutex mutex;
        Implementation* owner = nullptr;
    };

    // Changes the record of an application for an operation that starts with it; throws to refuse.
    using Edit = std::function<Target(Application&)>;

    // application_service.cpp
    void register_kinds();
    void add_references(ContentReferences& references) const;
    OperationSpec spec_for(std::string kind, std::string description, std::string_view addressed,
                           const Target& target, std::string requestor) const;
    Started start_update(std::string kind, std::string_view addressed, const std::string& id,
                         const Edit& edit, const std::string& requestor, LayerHold& hold);
    Application new_application(const ApplicationManifest& manifest) const;
    Target take_package(Application& application, const ApplicationPackage& package,
                        const BlobInfo& blob) const;
    Target take_patch(Application& application, const ApplicationPatch& patch) const;

    // application_updates.cpp
    OperationResult run_update(OperationContext& context);
    OperationResult undo_update(const Operation& operation);
    OperationResult undo_create(const Operation& operation);
    bool operation_exists(const std::string& id) const;
    void choose_image(Application& application, const std::string& reference) const;
    void check_addons(const std::vector<std::string>& addons) const;
    void choose_abi(Application& application, const ApplicationManifest& manifest,
                    const Foundation& foundation) const;
    Foundation newest_foundation(const Application& application, bool image_required) const;
    static Foundation foundation_of(const ApplicationVersion& version);
    std::vector<std::string> wanted_addons(const Application& application) const;
    void add_addons(const Application& application, Foundation& foundation) const;
    ApplicationVersion& add_version(Application& application, const Foundation& foundation,
                                    ApplicationManifest manifest) const;
    static void set_package(ApplicationVersion& version, const std::string& name,
                            const std::string& fingerprint, std::uint64_t size,
                            const std::vector<std::string>& hooks);
    Target repeat_version(Application& application, const Foundation& foundation,
                          ApplicationManifest manifest) const;
    static bool is_behind(const ApplicationVersion& version, const Foundation& foundation);
    bool may_update_itself(const Application& application) const;
    void update_where(const std::function<bool(const Application&)>& depends);
    void update_if_behind(const std::string& id);
    bool try_update_if_behind(const std::string& id);
    Target take_newest(Application& application) const;
    bool image_is_gone(const Application& application) const;
    void take_up_pending(const std::string& id);

    // application_bootstrap.cpp
    void start_bootstrap(const Target& target, const std::string& requestor);
    OperationResult run_bootstrap(OperationContext& context);
    OperationResult undo_bootstrap(const Operation& operation, const Error& error);
    void cancel_bootstrap(const std::string& operation, const Error& reason);
    void do_step(const BootstrapPtr& bootstrap, const std::function<void()>& step);
    void begin(const BootstrapPtr& bootstrap);
    void launch(const BootstrapPtr& bootstrap, const Application& application);
    std::string choose_base(const Target& target);
    void set_deadline(const BootstrapPtr& bootstrap, const std::string& base);
    void await_guest(const BootstrapPtr& bootstrap, const std::string& base);
    void guest_ended(const BootstrapPtr& bootstrap, const std::string& base);
    void activate(const Target& target, const std::string& base);
    void remove_base(const BootstrapPtr& bootstrap, const std::string& base);
    void base_removed(const BootstrapPtr& bootstrap);
    OperationResult conclude(const BootstrapPtr& bootstrap);
    void forget(const std::string& operation);
    void fail_version(const Target& target, const std::string& reason);
    void fail_base(const std::string& base, const std::string& reason);
    // Runs `call` on a thread of ours, whoever calls; does nothing once we are gone.
    static void call_later(const std::shared_ptr<Link>& link, std::function<void(Implementation&)> call);
    void post(std::function<void()> job);

    // application_publication.cpp
    OperationResult run_publish(const Operation& operation);
    void enforce_limit(const std::string& id);
    std::vector<int> surplus(const Application& application) const;
    bool is_used(const std::string& application, int version) const;

    // application_removal.cpp
    OperationResult run_delete(OperationContext& context);
    OperationResult run_delete_version(OperationContext& context);
    OperationResult without_bases(OperationContext& context, const std::vector<std::string>& bases,
                                  std::function<OperationResult()> last);
    OperationResult erase(const std::string& id);
    OperationResult erase_version(const Target& target);
    Started start_removal(std::string_view addressed, const Target& target, const std::string& requestor);
    ContentReferences content_of(const Application& application, const ApplicationVersion& version) const;
    void drop(const ContentReferences& content);

    // application_export.cpp
    ExportRequest export_request(const Application& application, const ApplicationVersion& version) const;
    void measure_export(const Application& application, const ApplicationVersion& version,
                        const ExportRequest& request, ApplicationExport& result);

    // application_import.cpp
    Application imported_application(const ImportedVersion& imported) const;
    OperationResult run_import(OperationContext& context);
    OperationResult undo_import(const Operation& operation);

    void tell_published(const std::string& id) const;

    ApplicationServiceParts parts_;
    std::function<void(const std::string& id)> published_listener_;  // may be empty
    std::shared_ptr<Link> link_ = std::make_shared<Link>();
    BootstrapQueue queue_;
    Guarded<std::map<std::string, BootstrapPtr, std::less<>>> bootstraps_;  // by operation
    Timer timer_;
    ThreadPool pool_;  // last: its threads use all of the above
};

// Used by more than one of the files.
std::string layer_name(const std::string& application, int version);
std::string version_claim(const std::string& application, int version);
std::string update_claim(const std::string& application, int version);
bool is_initializing(const Application& application);                 // any version
const ApplicationVersion& newest_of(const Application& application);  // throws internal when there is none
const ApplicationVersion& version_of(const Application& application, int n);  // throws not_found
const PackageRef* own_package(const ApplicationVersion& version);             // of the application itself
// What an export says; a change of it makes known fingerprints of exports wrong.
ExportedVersion exported(const Application& application, const ApplicationVersion& version);
void forget_stale_exports(const Application& before, Application& application);
[[noreturn]] void throw_deleting();
[[noreturn]] void throw_not_allowed(std::string_view what);  // forbidden "<what> not allowed"

}  // namespace svc
