#pragma once
// The leader's own machine, which it asks as any node: what changes something needs the right to do so.
#include <functional>
#include <memory>
#include <utility>

#include "libsvc/runtime/runtime.h"

namespace svc {

// What a call holds while it runs that may change something. Throws where this manager may not begin one.
using EnterCall = std::function<std::shared_ptr<void>()>;

// Thread-safe. `own` outlives it. A command of exec() is entered until it runs.
class LedRuntime final : public Runtime {
  public:
    LedRuntime(Runtime& own, EnterCall enter) : own_(own), enter_(std::move(enter)) {}
    void create(const ContainerSpec& spec) override;
    void recreate_spec(const ContainerSpec& spec) override;
    void start(std::string_view id) override;
    void stop(std::string_view id, Duration grace) override;
    void freeze(std::string_view id) override;
    void thaw(std::string_view id) override;
    int run_once(std::string_view id, const std::vector<std::string>& command, Duration limit,
                 std::stop_token stop) override;
    void remove(std::string_view id) override;
    void forward_from(std::string_view node, const std::string& public_address) override;
    std::unique_ptr<ExecProcess> exec(std::string_view id, const ExecSpec& spec) override;
    std::optional<ContainerInfo> inspect(std::string_view id) override { return own_.inspect(id); }
    std::vector<ContainerInfo> list() override { return own_.list(); }
    std::optional<ContainerSpec> specification(std::string_view id) override {
        return own_.specification(id);
    }
    std::vector<ContainerUsage> usage() override { return own_.usage(); }
    std::vector<LogFile> logs(std::string_view id) override { return own_.logs(id); }
    Capacity capacity() override { return own_.capacity(); }
    std::vector<RuntimeNode> nodes() override { return own_.nodes(); }
    void on_nodes_changed(std::function<void()> listener) override {
        own_.on_nodes_changed(std::move(listener));
    }
    void on_event(std::function<void(const RuntimeEvent&)> listener) override {
        own_.on_event(std::move(listener));
    }

  private:
    Runtime& own_;
    const EnterCall enter_;
};

// The same.
class LedLayers final : public LayerStore {
  public:
    LedLayers(LayerStore& own, EnterCall enter) : own_(own), enter_(std::move(enter)) {}
    void add(std::string_view name, const std::filesystem::path& package, const Progress& progress) override;
    void remove(std::string_view name) override;
    void capture(std::string_view name, std::string_view container,
                 const std::vector<std::string>& leave_out) override;
    void snapshot(std::string_view name, std::string_view container,
                  const std::vector<std::string>& leave_out, std::stop_token stop) override;
    void restore(std::string_view name, std::string_view container, std::stop_token stop) override;
    void unpack(std::string_view name, ArchiveStream& packed, std::stop_token stop) override;
    std::unique_ptr<ArchiveStream> export_archive(const ExportRequest& request) override {
        return own_.export_archive(request);
    }
    std::unique_ptr<ArchiveStream> pack(std::string_view name) override { return own_.pack(name); }
    bool contains(std::string_view name) override { return own_.contains(name); }
    std::uint64_t size(std::string_view name) override { return own_.size(name); }
    std::vector<std::string> list() override { return own_.list(); }

  private:
    LayerStore& own_;
    const EnterCall enter_;
};

}  // namespace svc
