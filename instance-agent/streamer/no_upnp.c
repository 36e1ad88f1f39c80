// Takes the place of libgupnp-igd in the addon. The streamer asks no router for ports, but libnice is linked
// with that library, and with it come an XML parser, an HTTP client and the tables of all the world's
// alphabets: half of the addon.
#include <stddef.h>

size_t gupnp_simple_igd_get_type(void) {
    return 0;
}
void* gupnp_simple_igd_thread_new(void) {
    return NULL;
}
void gupnp_simple_igd_add_port(void) {}
void gupnp_simple_igd_remove_port_local(void) {}
