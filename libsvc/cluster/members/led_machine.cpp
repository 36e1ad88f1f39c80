#include "libsvc/cluster/members/led_machine.h"

namespace svc {

void LedRuntime::create(const ContainerSpec& spec) {
    const auto entered = enter_();
    own_.create(spec);
}

void LedRuntime::recreate_spec(const ContainerSpec& spec) {
    const auto entered = enter_();
    own_.recreate_spec(spec);
}

void LedRuntime::start(std::string_view id) {
    const auto entered = enter_();
    own_.start(id);
}

void LedRuntime::stop(std::string_view id, Duration grace) {
    const auto entered = enter_();
    own_.stop(id, grace);
}

void LedRuntime::freeze(std::string_view id) {
    const auto entered = enter_();
    own_.freeze(id);
}

void LedRuntime::thaw(std::string_view id) {
    const auto entered = enter_();
    own_.thaw(id);
}

int LedRuntime::run_once(std::string_view id, const std::vector<std::string>& command, Duration limit,
                         std::stop_token stop) {
    const auto entered = enter_();
    return own_.run_once(id, command, limit, std::move(stop));
}

void LedRuntime::remove(std::string_view id) {
    const auto entered = enter_();
    own_.remove(id);
}

void LedRuntime::forward_from(std::string_view node, const std::string& public_address) {
    const auto entered = enter_();
    own_.forward_from(node, public_address);
}

std::unique_ptr<ExecProcess> LedRuntime::exec(std::string_view id, const ExecSpec& spec) {
    const auto entered = enter_();
    return own_.exec(id, spec);
}

void LedLayers::add(std::string_view name, const std::filesystem::path& package, const Progress& progress) {
    const auto entered = enter_();
    own_.add(name, package, progress);
}

void LedLayers::remove(std::string_view name) {
    const auto entered = enter_();
    own_.remove(name);
}

void LedLayers::capture(std::string_view name, std::string_view container,
                        const std::vector<std::string>& leave_out) {
    const auto entered = enter_();
    own_.capture(name, container, leave_out);
}

void LedLayers::snapshot(std::string_view name, std::string_view container,
                         const std::vector<std::string>& leave_out, std::stop_token stop) {
    const auto entered = enter_();
    own_.snapshot(name, container, leave_out, std::move(stop));
}

void LedLayers::restore(std::string_view name, std::string_view container, std::stop_token stop) {
    const auto entered = enter_();
    own_.restore(name, container, std::move(stop));
}

void LedLayers::unpack(std::string_view name, ArchiveStream& packed, std::stop_token stop) {
    const auto entered = enter_();
    own_.unpack(name, packed, std::move(stop));
}

}  // namespace svc
