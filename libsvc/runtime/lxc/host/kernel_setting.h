#pragma once
// Settings of the kernel (sysctl) that the containers of this machine need, and that are left on.
#include <filesystem>
#include <string_view>

namespace svc::lxc {

// Sets what has another value. False: the kernel refuses it, and a warning names the setting and what does
// not work without it. Throws nothing of its own: the machine serves what works.
bool set_kernel_setting(std::string_view name, std::string_view value, std::string_view without,
                        const std::filesystem::path& settings = "/proc/sys");

}  // namespace svc::lxc
