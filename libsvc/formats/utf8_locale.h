#pragma once
// The locale in which libarchive reads names.
#include <locale.h>

namespace svc {

// While it lives, the locale of the thread that made it has UTF-8 names: names in archives are UTF-8 in any
// environment, and libarchive uses the thread's locale. The same thread must destroy it.
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
