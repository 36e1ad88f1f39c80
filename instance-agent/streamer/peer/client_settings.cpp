// Reads the client's `settings` message.
#include <algorithm>
#include <array>
#include <cctype>

#include "instance-agent/streamer/peer/peer.h"
#include "libsvc/base/enum_table.h"
#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc::streamer {
namespace {

constexpr std::size_t most_channels = 5;
constexpr std::size_t most_name = 32;
constexpr std::array<EnumName<VideoCodec>, 4> codec_names{{{VideoCodec::h264, "H264"},
                                                           {VideoCodec::vp8, "VP8"},
                                                           {VideoCodec::vp9, "VP9"},
                                                           {VideoCodec::av1, "AV1"}}};

bool is_channel_name(std::string_view name) {
    const auto allowed = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; };
    return !name.empty() && name.size() <= most_name && std::all_of(name.begin(), name.end(), allowed);
}

// The names `control` (opened by the client) and `bootstrap` (opened by the streamer) are reserved.
void check_channels(const std::vector<std::string>& names) {
    if (names.size() > most_channels) throw_invalid("data_channels", "at most 5 channels");
    for (const std::string& name : names) {
        if (!is_channel_name(name))
            throw_invalid("data_channels", "a name has 1 to 32 letters, digits, '_' and '-'");
        if (name == "control" || name == "bootstrap")
            throw_invalid("data_channels", quoted(name) + " is reserved");
        if (std::count(names.begin(), names.end(), name) > 1)
            throw_invalid("data_channels", quoted(name) + " is named twice");
    }
}

std::vector<VideoCodec> read_codecs(const JsonFields& fields) {
    std::vector<VideoCodec> codecs;
    const auto video = fields.object("video");
    const auto names = video ? video->strings("preferred_decoder_codecs") : std::nullopt;
    for (const std::string& name : names.value_or(std::vector<std::string>()))
        if (const auto codec = enum_value<VideoCodec>(codec_names, name);
            codec && std::find(codecs.begin(), codecs.end(), *codec) == codecs.end())
            codecs.push_back(*codec);
    return codecs;
}

}  // namespace

std::string_view to_text(VideoCodec codec) {
    return enum_text<VideoCodec>(codec_names, codec);
}

std::vector<VideoCodec> preferred_first(std::vector<VideoCodec> codecs,
                                        const std::vector<VideoCodec>& preferred) {
    const auto place = [&](VideoCodec codec) {
        return std::find(preferred.begin(), preferred.end(), codec) - preferred.begin();
    };
    std::stable_sort(codecs.begin(), codecs.end(),
                     [&](VideoCodec a, VideoCodec b) { return place(a) < place(b); });
    return codecs;
}

ClientSettings ClientSettings::from_json(const JsonFields& fields) {
    ClientSettings settings;
    settings.speaker = fields.boolean("enable_speaker").value_or(settings.speaker);
    settings.microphone = fields.boolean("enable_microphone").value_or(settings.microphone);
    settings.video = fields.boolean("enable_video").value_or(settings.video);
    settings.camera = fields.boolean("enable_camera").value_or(settings.camera);
    settings.data_channels = fields.strings("data_channels").value_or(std::vector<std::string>());
    check_channels(settings.data_channels);
    settings.preferred_codecs = read_codecs(fields);
    return settings;
}

}  // namespace svc::streamer
