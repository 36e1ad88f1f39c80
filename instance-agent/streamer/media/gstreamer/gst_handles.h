#pragma once
// Owning pointers for GStreamer's reference counts, and signal handlers whose data lives as long as the
// connection. For media/ alone.
#include <gst/gst.h>

#include <memory>
#include <string>

#include "libsvc/base/error.h"

namespace svc::streamer {

struct Unref {
    void operator()(gpointer object) const { gst_object_unref(object); }
    void operator()(GstCaps* caps) const { gst_caps_unref(caps); }
    void operator()(GstPromise* promise) const { gst_promise_unref(promise); }
    void operator()(GstSample* sample) const { gst_sample_unref(sample); }
    void operator()(GstMessage* message) const { gst_message_unref(message); }
    void operator()(GstBuffer* buffer) const { gst_buffer_unref(buffer); }
};
template <class T>
using Ref = std::unique_ptr<T, Unref>;

// Frees memory that g_object_get() and the like return.
struct Free {
    void operator()(gpointer memory) const { g_free(memory); }
    void operator()(GError* error) const { g_error_free(error); }
};
using TextRef = std::unique_ptr<gchar, Free>;

// `callback` gets a std::weak_ptr<T>* as its last argument.
template <class T>
gulong connect(gpointer object, const char* signal, GCallback callback, const std::shared_ptr<T>& data) {
    const auto destroy = [](gpointer held, GClosure*) { delete static_cast<std::weak_ptr<T>*>(held); };
    return g_signal_connect_data(object, signal, callback, new std::weak_ptr<T>(data), destroy,
                                 GConnectFlags{});
}

template <class T>
std::shared_ptr<T> held(gpointer data) {
    return static_cast<std::weak_ptr<T>*>(data)->lock();
}

// `probe` gets a std::shared_ptr<T>* as its last argument.
template <class T>
void add_probe(GstPad* pad, GstPadProbeType type, GstPadProbeCallback probe, const std::shared_ptr<T>& data) {
    const auto destroy = [](gpointer held) { delete static_cast<std::shared_ptr<T>*>(held); };
    gst_pad_add_probe(pad, type, probe, new std::shared_ptr<T>(data), destroy);
}

inline Ref<GstCaps> caps_of(const std::string& text) {
    return Ref<GstCaps>(gst_caps_from_string(text.c_str()));
}

// A bin from a description in the syntax of gst-launch; its open ends become the pads `sink` and `src`.
// Throws unsupported when an element is not installed.
inline GstElement* make_bin(const std::string& description) {
    GError* error = nullptr;
    GstElement* bin = gst_parse_bin_from_description(description.c_str(), TRUE, &error);
    const std::unique_ptr<GError, Free> owned(error);
    if (bin != nullptr && error == nullptr) return bin;
    if (bin != nullptr) gst_object_unref(gst_object_ref_sink(bin));
    throw Error(ErrorCode::unsupported, std::string("media cannot be set up: ") + error->message);
}

inline Ref<GstElement> element_of(GstElement* bin, const char* name) {
    return Ref<GstElement>(gst_bin_get_by_name(GST_BIN(bin), name));
}

}  // namespace svc::streamer
