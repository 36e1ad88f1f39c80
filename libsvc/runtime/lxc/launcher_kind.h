#pragma once
// What starts containers: liblxc, by the program svc-lxc, or the launcher of our own, by svc-launch (see
// docs/launcher.md). A container that runs stays with the one that has started it.

namespace svc::lxc {

enum class LauncherKind { liblxc, own };

}  // namespace svc::lxc
