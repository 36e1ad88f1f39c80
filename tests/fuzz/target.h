#pragma once
// A fuzz target is a function of bytes that returns, or ends the process: a finding. FUZZ_TARGET(name) begins
// it. Built for libFuzzer (Clang, -Dfuzz=true) each is a program of its own; in every other build all of them
// are in the tables of the programs fuzz-*, which quick.cpp runs with the other tests.
#include <cstddef>
#include <cstdint>

#ifdef SVC_LIBFUZZER
#define FUZZ_TARGET(name) extern "C" int LLVMFuzzerTestOneInput
#else
namespace svc::fuzz {

using Target = int (*)(const std::uint8_t* data, std::size_t size);
struct Registration {
    Registration(const char* name, Target target);
};

}  // namespace svc::fuzz
#define FUZZ_TARGET(name)                                                    \
    int run_##name(const std::uint8_t*, std::size_t);                        \
    const svc::fuzz::Registration registration_of_##name(#name, run_##name); \
    int run_##name
#endif
