// Before the first input: inputs that are refused are no news.
#include "libsvc/base/log.h"

extern "C" int LLVMFuzzerInitialize(int*, char***) {
    svc::log::set_level(svc::log::Level::error);
    return 0;
}
