#include "instance-agent/agent/devices/camera/jpeg.h"

#include <jpeglib.h>

#include <jerror.h>

#include <csetjmp>
#include <string>

#include "libsvc/base/error.h"

namespace svc::agent {
namespace {

constexpr int most_scans = 64;                   // of a progressive picture; ten are usual
constexpr long most_memory = 64L * 1024 * 1024;  // of the decoder itself

// Warnings of libjpeg that do not harm the picture.
bool is_harmless(int warning) {
    return warning == JWRN_EXTRANEOUS_DATA || warning == JWRN_ADOBE_XFORM || warning == JWRN_JFIF_MAJOR ||
           warning == JWRN_TOO_MUCH_DATA;
}

// libjpeg ends a failed call with longjmp(). So no function that it may leave holds an object with a
// destructor.
class Decoder {
  public:
    explicit Decoder(std::string_view data) : data_(data) {
        info_.err = jpeg_std_error(&errors_);
        errors_.error_exit = [](j_common_ptr info) { leave(info); };
        errors_.emit_message = [](j_common_ptr info, int level) {
            if (level < 0 && !is_harmless(info->err->msg_code)) leave(info);
        };
        errors_.output_message = [](j_common_ptr) {};
        info_.client_data = this;
    }
    ~Decoder() { jpeg_destroy_decompress(&info_); }
    Decoder(const Decoder&) = delete;
    Decoder& operator=(const Decoder&) = delete;

    // False: the data has no JPEG header.
    bool read_header() {
        if (setjmp(escape_) != 0) return false;
        jpeg_create_decompress(&info_);
        info_.mem->max_memory_to_use = most_memory;
        jpeg_mem_src(&info_, reinterpret_cast<const unsigned char*>(data_.data()), data_.size());
        return jpeg_read_header(&info_, TRUE) == JPEG_HEADER_OK;
    }
    Resolution size() const { return {info_.image_width, info_.image_height}; }
    bool is_cmyk() const { return info_.out_color_space == JCS_CMYK; }
    bool is_inverted() const { return info_.saw_Adobe_marker != 0; }

    // Decodes into `out`, which has room for the whole picture. False: the data is damaged.
    bool decode(unsigned char* out) {
        if (setjmp(escape_) != 0) return false;
        limit_scans();
        info_.out_color_space = has_black() ? JCS_CMYK : JCS_EXT_RGBA;
        jpeg_start_decompress(&info_);
        while (info_.output_scanline < info_.output_height) {
            JSAMPROW line = out + std::size_t{info_.output_scanline} * info_.output_width * pixel_bytes;
            jpeg_read_scanlines(&info_, &line, 1);
        }
        return jpeg_finish_decompress(&info_) != 0;
    }

  private:
    [[noreturn]] static void leave(j_common_ptr info) {
        std::longjmp(static_cast<Decoder*>(info->client_data)->escape_, 1);
    }
    bool has_black() const {
        return info_.jpeg_color_space == JCS_CMYK || info_.jpeg_color_space == JCS_YCCK;
    }
    // Each scan costs a pass over the whole picture, however few bytes it has.
    void limit_scans() {
        progress_.progress_monitor = [](j_common_ptr info) {
            if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number > most_scans) leave(info);
        };
        info_.progress = &progress_;
    }

    std::string_view data_;
    jpeg_decompress_struct info_{};
    jpeg_error_mgr errors_{};
    jpeg_progress_mgr progress_{};
    std::jmp_buf escape_{};
};

// CMYK pictures. Adobe's programs write each ink inverted.
void convert_inks(Picture& picture, bool inverted) {
    const auto white = [inverted](std::uint32_t ink) { return inverted ? ink : 255 - ink; };
    std::uint32_t* pixel = picture.pixels();
    for (std::size_t left = picture.size().pixels(); left > 0; --left, ++pixel) {
        const std::uint32_t light = white(*pixel >> 24);
        std::uint32_t converted = 0xFF000000;
        for (unsigned shift = 0; shift < 24; shift += 8)
            converted |= white(*pixel >> shift & 0xFF) * light / 255 << shift;
        *pixel = converted;
    }
}

[[noreturn]] void refuse_jpeg(const std::string& text) {
    throw Error(ErrorCode::invalid_argument, text);
}

}  // namespace

Picture decode_jpeg(std::string_view data) {
    if (data.empty()) refuse_jpeg("Image data is empty");
    Decoder decoder(data);
    if (!decoder.read_header()) refuse_jpeg("Image is not a valid JPEG");
    const Resolution size = decoder.size();
    if (!is_camera_resolution(size))
        refuse_jpeg("Image size " + std::to_string(size.width) + "x" + std::to_string(size.height) +
                    " is not supported");
    Picture picture(size);
    if (!decoder.decode(reinterpret_cast<unsigned char*>(picture.pixels())))
        refuse_jpeg("Image is not a valid JPEG");
    if (decoder.is_cmyk()) convert_inks(picture, decoder.is_inverted());
    return picture;
}

}  // namespace svc::agent
