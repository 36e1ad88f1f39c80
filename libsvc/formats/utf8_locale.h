#pragma once
#include <locale.h>

namespace svc {

// Names in archives are UTF-8 whatever the process was started with; libarchive asks the thread's locale, so
// this sets it for the thread that makes the object, until that thread destroys it.
class Utf8Locale {
  public:
    Utf8Locale() : utf8_(newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)), before_(uselocale(nullptr)) {
        if (utf8_ != nullptr) uselocale(utf8_);
    }
    ~Utf8Locale() {
        uselocale(before_);
        if (utf8_ != nullptr) freelocale(utf8_);
    }
    Utf8Locale(const Utf8Locale&) = delete;
    Utf8Locale& operator=(const Utf8Locale&) = delete;

  private:
    locale_t utf8_;
    locale_t before_;
};

}  // namespace svc
