#pragma once
// Which launches an instance of a pool can be used for (docs/pool.md). Pure.
#include "libsvc/model/instances/instance.h"

namespace svc {

// Whether `pooled` is what a launch of `wanted` would make: same version, resources, services and settings.
// Tags and the protection from deletion do not count: the guest does not see them.
bool is_made_like(const Instance& pooled, const Instance& wanted);
// Whether the launch has something that a guest finds at its boot, which a pooled one has behind it: a name,
// which is its host name, or user data.
bool has_data_for_guest(const Instance& wanted);
// Whether a guest that runs can be told that. Not where the user data names gateways: which of them the guest
// may reach is decided at its start.
bool can_be_told_late(const Instance& wanted);
// Gives `pooled` what the launch of `wanted` asked for and its guest does not see: it is that launch's from
// now on.
void take_over(Instance& pooled, const Instance& wanted);

}  // namespace svc
