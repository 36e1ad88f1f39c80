#include "libsvc/runtime/lxc/lxc_runtime.h"

#include <sys/prctl.h>

#include "libsvc/runtime/lxc/engine.h"

namespace svc {

LxcRuntime::LxcRuntime(LxcOptions options, const Clock& clock) {
    // Monitors outlive the helper that started them: they become our children then, and are reaped one by
    // one.
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    engine_ = std::make_unique<Engine>(std::move(options), clock);
}

LxcRuntime::~LxcRuntime() = default;

LayerStore& LxcRuntime::layers() {
    return engine_->host().layers();
}
void LxcRuntime::tear_down() {
    engine_->tear_down();
}
void LxcRuntime::create(const ContainerSpec& spec) {
    engine_->create(spec);
}
void LxcRuntime::start(std::string_view id) {
    engine_->start(std::string(id));
}
void LxcRuntime::stop(std::string_view id, Duration grace) {
    engine_->stop(std::string(id), grace);
}
int LxcRuntime::run_once(std::string_view id, const std::vector<std::string>& command, Duration limit,
                         std::stop_token stop) {
    return engine_->run_once(std::string(id), command, limit, stop);
}
void LxcRuntime::remove(std::string_view id) {
    engine_->remove(std::string(id));
}
std::optional<ContainerInfo> LxcRuntime::inspect(std::string_view id) {
    return engine_->inspect(std::string(id));
}
std::vector<ContainerInfo> LxcRuntime::list() {
    return engine_->list();
}
std::vector<ContainerUsage> LxcRuntime::usage() {
    return engine_->usage();
}
std::vector<LogFile> LxcRuntime::logs(std::string_view id) {
    return engine_->logs(std::string(id));
}
Capacity LxcRuntime::capacity() {
    return engine_->host().capacity();
}

std::unique_ptr<ExecProcess> LxcRuntime::exec(std::string_view id, const ExecSpec& spec) {
    return engine_->exec(std::string(id), spec);
}

void LxcRuntime::on_event(std::function<void(const RuntimeEvent&)> listener) {
    engine_->listen(std::move(listener));
}

}  // namespace svc
