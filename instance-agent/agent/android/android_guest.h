#pragma once
// What an Android guest is given before its init runs, and how it tells that it is up (docs/android.md).
// Blocking functions, in the phase before or with the guest.
#include <stop_token>
#include <string>
#include <vector>

#include "instance-agent/agent/files/paths.h"
#include "libsvc/base/clock.h"
#include "libsvc/model/instances/instance.h"

namespace svc::agent {

// Makes what Android expects below /dev: binder, /dev/kmsg, and folders. Can be repeated. Throws Error.
void prepare_android(const Paths& paths);

// Those of the image, `init`, and an androidboot.* argument for each setting of the display, the GPU and the
// name servers that the image does not set. Their names have the hardware's: androidboot.<hardware>_width.
std::vector<std::string> android_init(const AgentSession& session, const Paths& paths,
                                      std::vector<std::string> init);

// The image's check; of an Android guest without one, that it has completed its boot.
ReadinessCheck readiness_of(const AgentSession& session);

// Keeps logcat running, with its output in logs/android.log, until `stop` is requested. Returns at once where
// the guest is no Android or has no logcat.
void keep_android_log(const AgentSession& session, const Paths& paths, Clock& clock, std::stop_token stop);

}  // namespace svc::agent
