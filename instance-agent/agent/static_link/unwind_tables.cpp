// Linked with --wrap into the static program alone. There the C runtime's start hands the unwind tables over
// to be sorted at the first exception, which takes longer than all else that an agent does until it reports.
// Not handed over, they are found by the index that the linker has made of them, as in any dynamic program.

// The names are the linker's: "__wrap_" and the symbol.
// NOLINTBEGIN(bugprone-reserved-identifier, readability-identifier-naming)
extern "C" void __wrap___register_frame_info(const void* /*tables*/, void* /*object*/) {}
extern "C" void* __wrap___deregister_frame_info(const void* /*tables*/) {
    return nullptr;
}
// NOLINTEND(bugprone-reserved-identifier, readability-identifier-naming)
