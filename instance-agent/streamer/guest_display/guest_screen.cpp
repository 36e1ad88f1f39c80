#include "instance-agent/streamer/guest_display/guest_screen.h"

#include <utility>

namespace svc::streamer {
namespace {

class GuestScreen final : public Screen {
  public:
    explicit GuestScreen(std::shared_ptr<GuestDisplay> display) : display_(std::move(display)) {}
    ScreenSize resize(ScreenSize wish) override {
        display_->set_size(wish.width, wish.height);
        return wish;
    }
    void set_density(int density) override { display_->set_density(density); }

  private:
    std::shared_ptr<GuestDisplay> display_;
};

}  // namespace

std::unique_ptr<Screen> make_guest_screen(std::shared_ptr<GuestDisplay> display) {
    return std::make_unique<GuestScreen>(std::move(display));
}

}  // namespace svc::streamer
