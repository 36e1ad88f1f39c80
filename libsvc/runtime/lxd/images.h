#pragma once
// Layers as LXD's images. An image is whole: the one of the topmost layer has what lies below in it. A layer
// is an alias, made last, whose description tells the layers below and the size.
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "libsvc/runtime/lxd/instances.h"
#include "libsvc/runtime/runtime.h"

namespace svc::lxd {

// Thread-safe.
class Images final : public LayerStore {
  public:
    Images(Connection& lxd, Instances& instances, const LxdOptions& options);

    void add(std::string_view name, const std::filesystem::path& package, const Progress& progress) override;
    void remove(std::string_view name) override;
    void capture(std::string_view name, std::string_view container,
                 const std::vector<std::string>& leave_out) override;
    void snapshot(std::string_view name, std::string_view container,
                  const std::vector<std::string>& leave_out, std::stop_token stop) override;
    void restore(std::string_view name, std::string_view container, std::stop_token stop) override;
    std::unique_ptr<ArchiveStream> export_archive(const ExportRequest& request) override;
    bool contains(std::string_view name) override;
    std::uint64_t size(std::string_view name) override;
    std::vector<std::string> list() override;

    // The image that has all of `layers`; throws not_found, unsupported where the topmost is not made of the
    // others.
    std::string image_of(const std::vector<std::string>& layers);
    // The layers cannot be removed until the returned value is gone. Throws not_found.
    std::shared_ptr<void> hold(const std::vector<std::string>& layers);

  private:
    struct Layer {
        std::string image;
        std::vector<std::string> below;
        std::uint64_t bytes = 0;
    };
    struct Source {
        std::filesystem::path file;
        std::set<std::string> left_out;  // paths in the archive, with all below
        bool hostile = false;            // device nodes are refused instead of left out
        std::string metadata;
        Compression compression = Compression::gzip;  // of what is made of it
    };
    class Repacked;
    std::string metadata() const;
    void remove_leftovers();
    void upload_image(const ClientRequest& request, const std::string& image);
    void name_image(const std::string& name, const std::string& image, const std::string& description);
    std::string alias(std::string_view name) const;
    Layer get(const std::string& name);
    void download(const std::string& image, const std::filesystem::path& file);
    void keep(const std::string& name, const Source& source, const std::vector<std::string>& below,
              const Progress& progress);
    void drop_image(const std::string& image);
    void publish(const std::string& name, const Instance& instance, const std::vector<std::string>& leave_out,
                 std::stop_token stop);

    Connection& lxd_;
    Instances& instances_;
    const LxdOptions& options_;
    std::mutex mutex_;  // around a removal and a new hold
    std::map<std::string, unsigned> held_;
};

}  // namespace svc::lxd
