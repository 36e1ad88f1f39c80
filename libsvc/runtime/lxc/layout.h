#pragma once
// The paths below the runtime's state directory (docs/runtime.md, "On disk"). Pure.
#include <filesystem>
#include <string>
#include <string_view>

namespace svc::lxc {

struct Layout {
    std::filesystem::path state_dir;

    std::filesystem::path layers() const { return state_dir / "layers"; }
    std::filesystem::path layer(std::string_view name) const { return layers() / name; }
    std::filesystem::path layer_rootfs(std::string_view name) const { return layer(name) / "rootfs"; }
    std::filesystem::path containers() const { return state_dir / "containers"; }  // liblxc's "lxcpath"
    std::filesystem::path container(std::string_view id) const { return containers() / id; }
    std::filesystem::path spec(std::string_view id) const { return container(id) / "spec.json"; }
    std::filesystem::path run(std::string_view id) const { return container(id) / "run.json"; }
    std::filesystem::path config(std::string_view id) const { return container(id) / "config"; }
    std::filesystem::path upper(std::string_view id) const { return container(id) / "upper"; }
    std::filesystem::path work(std::string_view id) const { return container(id) / "work"; }
    std::filesystem::path capture(std::string_view id) const { return container(id) / "capture"; }
    std::filesystem::path restored(std::string_view id) const { return container(id) / "restored"; }
    std::filesystem::path rootfs(std::string_view id) const { return container(id) / "rootfs"; }
    std::filesystem::path console_log(std::string_view id) const { return container(id) / "console.log"; }
    std::filesystem::path lxc_log(std::string_view id) const { return container(id) / "lxc.log"; }
    std::filesystem::path exit_file(std::string_view id) const { return container(id) / "exit"; }
    std::filesystem::path oom_file(std::string_view id) const { return container(id) / "oom"; }
    std::filesystem::path agent_file(std::string_view id) const { return container(id) / "agent"; }
    std::filesystem::path init_file(std::string_view id) const { return container(id) / "init"; }
    std::filesystem::path monitor_file(std::string_view id) const { return container(id) / "monitor"; }
    std::filesystem::path devices(std::string_view id) const { return container(id) / "devices"; }
    std::filesystem::path lock(std::string_view id) const { return container(id) / "lock"; }
    std::filesystem::path id_base() const { return state_dir / "id_base"; }
    std::filesystem::path seccomp() const { return state_dir / "seccomp"; }
    std::filesystem::path apparmor() const { return state_dir / "apparmor"; }
    std::filesystem::path agent_program() const { return state_dir / "svc-agent"; }
    std::filesystem::path lxc_lock(std::string_view id) const {
        return std::filesystem::path("/run/lxc/lock") / containers().relative_path() /
               ("." + std::string(id));
    }
};

}  // namespace svc::lxc
