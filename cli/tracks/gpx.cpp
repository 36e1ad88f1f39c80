#include <expat.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>

#include "cli/tracks/track.h"
#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc::cli {
namespace {

constexpr std::size_t most_points = 1'000'000;

[[noreturn]] void refuse(const std::string& why) {
    throw Error(ErrorCode::invalid_argument, "GPX: " + why);
}

std::optional<double> read_number(std::string_view text) {
    text = trim(text);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
        return std::nullopt;
    return value;
}

// The name of an element without its namespace prefix: "gpxtpx:speed" is "speed".
std::string_view local_name(std::string_view name) {
    const auto colon = name.rfind(':');
    return colon == std::string_view::npos ? name : name.substr(colon + 1);
}

// Collects points in Expat's callbacks. The callbacks must not throw: the first fault stops the parser.
class GpxReader {
  public:
    explicit GpxReader(XML_Parser parser) : parser_(parser) {
        XML_SetUserData(parser, this);
        XML_SetElementHandler(
            parser,
            [](void* self, const XML_Char* name, const XML_Char** attributes) {
                static_cast<GpxReader*>(self)->guard([&](GpxReader& r) { r.begin(name, attributes); });
            },
            [](void* self, const XML_Char* name) {
                static_cast<GpxReader*>(self)->guard([&](GpxReader& r) { r.end(local_name(name)); });
            });
        XML_SetCharacterDataHandler(parser, [](void* self, const XML_Char* text, int size) {
            static_cast<GpxReader*>(self)->guard(
                [&](GpxReader& r) { r.take(std::string_view(text, static_cast<std::size_t>(size))); });
        });
        // A GPX file declares no entities. A file that does is an attempt to exhaust memory.
        XML_SetEntityDeclHandler(
            parser, [](void* self, const XML_Char*, int, const XML_Char*, int, const XML_Char*,
                       const XML_Char*, const XML_Char*, const XML_Char*) {
                static_cast<GpxReader*>(self)->guard([](GpxReader&) { refuse("entities are not allowed"); });
            });
    }

    Track result() {
        if (failure_) std::rethrow_exception(failure_);
        for (auto* points : {&track_, &route_, &places_})
            if (!points->empty()) return {std::move(*points), 0};
        refuse("there is no point in it");
    }
    void check() const {
        if (failure_) std::rethrow_exception(failure_);
    }

  private:
    template <class Work>
    void guard(const Work& work) noexcept {
        if (failure_) return;
        try {
            work(*this);
        } catch (...) {
            failure_ = std::current_exception();
            XML_StopParser(parser_, XML_FALSE);
        }
    }

    std::vector<TrackPoint>* list_of(std::string_view element) {
        if (element == "trkpt") return &track_;
        if (element == "rtept") return &route_;
        return element == "wpt" ? &places_ : nullptr;
    }

    std::string line() const { return "line " + std::to_string(XML_GetCurrentLineNumber(parser_)) + ": "; }

    void begin(std::string_view name, const XML_Char** attributes) {
        const std::string_view element = local_name(name);
        if (!seen_root_ && element != "gpx") refuse("the file is something else");
        seen_root_ = true;
        text_.clear();
        if (list_of(element) == nullptr) return;
        if (track_.size() + route_.size() + places_.size() >= most_points)
            refuse("there are too many points");
        open_ = TrackPoint{};
        open_->latitude = coordinate(attributes, "lat", 90);
        open_->longitude = coordinate(attributes, "lon", 180);
    }

    double coordinate(const XML_Char** attributes, std::string_view name, double limit) const {
        for (; *attributes != nullptr; attributes += 2) {
            if (name != attributes[0]) continue;
            const auto value = read_number(attributes[1]);
            if (!value || std::abs(*value) > limit)
                refuse(line() + std::string(name) + " " + quoted(attributes[1]) + " is nowhere");
            return *value;
        }
        refuse(line() + "a point has no " + std::string(name));
    }

    void take(std::string_view text) {
        constexpr std::size_t most_text = 256;  // longer texts are descriptions
        if (open_ && text_.size() < most_text) text_.append(text);
    }

    void end(std::string_view element) {
        if (!open_) return;
        if (auto* list = list_of(element)) {
            list->push_back(*open_);
            open_.reset();
        } else if (element == "time") {
            open_->time = time();
        } else if (element == "ele") {
            open_->altitude = number(element);
        } else if (element == "speed") {
            open_->speed = std::max(0.0, number(element));
        } else if (element == "course") {
            open_->bearing = std::fmod(std::fmod(number(element), 360) + 360, 360);
        }
        text_.clear();
    }

    double number(std::string_view element) const {
        const auto value = read_number(text_);
        if (!value) refuse(line() + std::string(element) + " " + quoted(text_) + " is not a number");
        return *value;
    }

    std::int64_t time() const try {
        const auto since = from_rfc3339(trim(text_)).time_since_epoch();
        return std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
    } catch (const Error&) {
        refuse(line() + quoted(text_) + " is not a time");
    }

    const XML_Parser parser_;
    bool seen_root_ = false;
    std::optional<TrackPoint> open_;
    std::string text_;  // text of the open element
    std::vector<TrackPoint> track_, route_, places_;
    std::exception_ptr failure_;
};

}  // namespace

Track read_gpx(std::string_view text) {
    constexpr std::size_t piece = 1U << 20;
    const std::unique_ptr<XML_ParserStruct, decltype(&XML_ParserFree)> parser(XML_ParserCreate(nullptr),
                                                                              XML_ParserFree);
    if (!parser) throw std::bad_alloc();
    GpxReader reader(parser.get());
    do {
        const std::string_view part = text.substr(0, piece);
        text.remove_prefix(part.size());
        const auto status =
            XML_Parse(parser.get(), part.data(), static_cast<int>(part.size()), text.empty() ? 1 : 0);
        reader.check();
        if (status != XML_STATUS_OK)
            refuse("line " + std::to_string(XML_GetCurrentLineNumber(parser.get())) + ": " +
                   XML_ErrorString(XML_GetErrorCode(parser.get())));
    } while (!text.empty());
    return reader.result();
}

}  // namespace svc::cli
