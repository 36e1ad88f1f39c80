#pragma once
// Keeps layers from being removed while no record refers to them yet.
#include <memory>
#include <string>
#include <vector>

#include "libsvc/services/common/content.h"

namespace svc {

// Holds the layers that were added until it is destroyed. One thread.
class LayerHold {
  public:
    explicit LayerHold(Content& content) : content_(content) {}
    ~LayerHold();  // an error is logged; the next garbage collection removes what is left
    LayerHold(const LayerHold&) = delete;
    LayerHold& operator=(const LayerHold&) = delete;
    void add(const std::vector<std::string>& layers);

  private:
    Content& content_;
    std::vector<std::string> layers_;
};

// The archive, which keeps the layers that it is made of until it is destroyed.
std::unique_ptr<ArchiveStream> held_archive(std::unique_ptr<LayerHold> hold,
                                            std::unique_ptr<ArchiveStream> archive);

}  // namespace svc
