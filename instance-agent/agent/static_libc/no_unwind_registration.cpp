// Replacements, linked with --wrap into the static program alone. The start code of a static program
// registers its unwind tables, and the first exception sorts them: that took longer than everything else that
// the agent does before it reports. Without the registration the unwinder uses the index that the linker
// makes (--eh-frame-hdr), as in a dynamic program.

// The linker option --wrap demands these names: "__wrap_" and the symbol.
// NOLINTBEGIN(bugprone-reserved-identifier, readability-identifier-naming)
extern "C" void __wrap___register_frame_info(const void* /*tables*/, void* /*object*/) {}
extern "C" void* __wrap___deregister_frame_info(const void* /*tables*/) {
    return nullptr;
}
// NOLINTEND(bugprone-reserved-identifier, readability-identifier-naming)
