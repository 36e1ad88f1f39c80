#pragma once
// The binder nodes of an Android guest, in a binderfs of its own (docs/android.md).
#include <filesystem>

namespace svc::agent {

// Mounts a binderfs at `<dev>/binderfs` and makes the nodes of the guest in it, with links in `dev`. Does
// nothing where `dev` has a node "binder": the host has given it devices. Can be repeated. Throws Error.
// Before the guest's init, as root of the container.
void make_binder_nodes(const std::filesystem::path& dev);

}  // namespace svc::agent
