#include "tests/streamer/media/fake_encoder.h"

#include <gst/gst.h>

#include <map>

namespace svc::streamer {
namespace {

std::map<std::string, FakeDevice>& fakes() {
    static std::map<std::string, FakeDevice> devices;
    return devices;
}

GstElement* inner_of(GObject* object) {
    return static_cast<GstElement*>(g_object_get_data(object, "inner"));
}

// What svc-streamer sets of such elements; the bit rate alone changes something.
constexpr const char* numbers[] = {"target-usage", "b-frames", "ref-frames", "key-int-max", "gop-size"};
constexpr const char* words[] = {"rate-control", "rc-mode", "preset", "zerolatency"};
constexpr guint bitrate_property = 1;

void set_property(GObject* object, guint id, const GValue* value, GParamSpec*) {
    if (id == bitrate_property) g_object_set_property(G_OBJECT(inner_of(object)), "bitrate", value);
}

void get_property(GObject* object, guint id, GValue* value, GParamSpec*) {
    if (id == bitrate_property) g_object_get_property(G_OBJECT(inner_of(object)), "bitrate", value);
}

GstElementClass* parent_class = nullptr;

GstStateChangeReturn change_state(GstElement* element, GstStateChange change) {
    const std::string name = GST_OBJECT_NAME(gst_element_get_factory(element));
    if (change == GST_STATE_CHANGE_NULL_TO_READY) {
        if (fakes()[name] == FakeDevice::absent) return GST_STATE_CHANGE_FAILURE;
        const bool high = fakes()[name] == FakeDevice::of_high_profile;
        gst_util_set_object_arg(G_OBJECT(g_object_get_data(G_OBJECT(element), "filter")), "caps",
                                high ? "video/x-h264,profile=high" : "video/x-h264");
    }
    return parent_class->change_state(element, change);
}

void add_pad(GstElement* bin, GstElement* inner, const char* name) {
    GstPad* const target = gst_element_get_static_pad(inner, name);
    gst_element_add_pad(bin, gst_ghost_pad_new(name, target));
    gst_object_unref(target);
}

void init_instance(GTypeInstance* instance, gpointer) {
    GstElement* const inner = gst_element_factory_make("x264enc", nullptr);
    gst_util_set_object_arg(G_OBJECT(inner), "tune", "zerolatency");
    gst_util_set_object_arg(G_OBJECT(inner), "speed-preset", "ultrafast");
    gst_util_set_object_arg(G_OBJECT(inner), "threads", "1");
    GstElement* const filter = gst_element_factory_make("capsfilter", nullptr);
    gst_bin_add_many(GST_BIN(instance), inner, filter, nullptr);
    gst_element_link(inner, filter);
    g_object_set_data(G_OBJECT(instance), "inner", inner);
    g_object_set_data(G_OBJECT(instance), "filter", filter);
    add_pad(GST_ELEMENT(instance), inner, "sink");
    add_pad(GST_ELEMENT(instance), filter, "src");
}

void init_class(gpointer klass, gpointer) {
    GObjectClass* const object = G_OBJECT_CLASS(klass);
    parent_class = static_cast<GstElementClass*>(g_type_class_peek_parent(klass));
    object->set_property = set_property;
    object->get_property = get_property;
    GST_ELEMENT_CLASS(klass)->change_state = change_state;
    const auto flags = static_cast<GParamFlags>(G_PARAM_READWRITE);
    guint id = bitrate_property;
    g_object_class_install_property(object, id++,
                                    g_param_spec_uint("bitrate", "", "", 1, G_MAXINT, 2048, flags));
    for (const char* name : numbers)
        g_object_class_install_property(object, id++, g_param_spec_uint(name, "", "", 0, G_MAXINT, 0, flags));
    for (const char* name : words)
        g_object_class_install_property(object, id++, g_param_spec_string(name, "", "", "", flags));
    gst_element_class_set_static_metadata(GST_ELEMENT_CLASS(klass), "fake encoder", "Encoder/Video",
                                          "for tests", "tests");
}

}  // namespace

bool provide_fake_encoder(const std::string& name, FakeDevice device) {
    const bool is_new = !fakes().contains(name);
    if (is_new) {
        if (GstElementFactory* const real = gst_element_factory_find(name.c_str()))
            return gst_object_unref(real), false;
        const GTypeInfo info{sizeof(GstBinClass), nullptr, nullptr,       init_class, nullptr, nullptr,
                             sizeof(GstBin),      0,       init_instance, nullptr};
        const GType type =
            g_type_register_static(GST_TYPE_BIN, ("SvcFake_" + name).c_str(), &info, GTypeFlags(0));
        gst_element_register(nullptr, name.c_str(), GST_RANK_NONE, type);
    }
    fakes()[name] = device;
    return true;
}

}  // namespace svc::streamer
