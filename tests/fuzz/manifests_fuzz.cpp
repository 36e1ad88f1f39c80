// manifest.yaml of applications and addons, metadata.yaml of images: what is taken is written, and read again
// as the same.
#include <cstdlib>

#include "libsvc/base/error.h"
#include "libsvc/formats/yaml.h"
#include "libsvc/formats/yaml_line.h"
#include "libsvc/model/packages/image.h"
#include "libsvc/model/packages/manifest.h"
#include "tests/fuzz/refusals.h"
#include "tests/fuzz/target.h"

namespace svc::fuzz::manifests_target {

namespace {

void check_application(const Json& document) {
    const Json written = ApplicationManifest::parse(document).to_document();
    const std::string text = to_yaml(written);
    const Json again = ApplicationManifest::parse(parse_yaml(text, manifest_text_keys())).to_document();
    if (!(again == written)) std::abort();
}

}  // namespace

FUZZ_TARGET(manifests)(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    attempt([&] { check_application(parse_yaml(text, manifest_text_keys())); });
    attempt([&] { AddonManifest::parse(parse_yaml(text, manifest_text_keys())).hook_timeout_seconds(); });
    attempt([&] {
        const Json document = parse_yaml(text);
        ImageMetadata::parse(document);
        if (document.is_object() && !document.as_object().empty())
            yaml_line(text, document.as_object().back().first);
    });
    return 0;
}

}  // namespace svc::fuzz::manifests_target
