#pragma once
// A runtime that knows which instances have a container on a node that cannot be asked: a runtime that was
// just started has never seen them, and would call them gone.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/runtime/runtime.h"
#include "libsvc/services/common/records.h"

namespace svc {

// Thread-safe. Everything is asked of `inner`. What that does not know is unreadable where the record of the
// instance says that it is on a node which is not online: calls throw unavailable "node m2 is offline".
class PlacedContainers final : public Runtime {
  public:
    PlacedContainers(Runtime& inner, const Instances& instances, const Nodes& nodes)
        : inner_(inner), instances_(instances), nodes_(nodes) {}

    void create(const ContainerSpec& spec) override { inner_.create(spec); }
    void recreate_spec(const ContainerSpec& spec) override;
    void start(std::string_view id) override;
    void stop(std::string_view id, Duration grace) override;
    void freeze(std::string_view id) override;
    void thaw(std::string_view id) override;
    int run_once(std::string_view id, const std::vector<std::string>& command, Duration limit,
                 std::stop_token stop) override;
    void remove(std::string_view id) override;
    std::optional<ContainerInfo> inspect(std::string_view id) override;
    std::vector<ContainerInfo> list() override;
    std::optional<ContainerSpec> specification(std::string_view id) override {
        return inner_.specification(id);
    }
    std::vector<ContainerUsage> usage() override { return inner_.usage(); }
    std::unique_ptr<ExecProcess> exec(std::string_view id, const ExecSpec& spec) override;
    std::vector<LogFile> logs(std::string_view id) override { return inner_.logs(id); }
    Capacity capacity() override { return inner_.capacity(); }
    std::vector<RuntimeNode> nodes() override { return inner_.nodes(); }
    void forward_from(std::string_view node, const std::string& public_address) override {
        inner_.forward_from(node, public_address);
    }
    void on_nodes_changed(std::function<void()> listener) override {
        inner_.on_nodes_changed(std::move(listener));
    }
    void on_event(std::function<void(const RuntimeEvent&)> listener) override {
        inner_.on_event(std::move(listener));
    }

  private:
    using Faults = std::map<std::string, std::string, std::less<>>;  // of each machine; "": online
    Faults faults() const;
    static std::string fault_of(const Faults& faults, const std::string& node);
    std::string fault_of(std::string_view id) const;
    template <class Call>
    auto ask(std::string_view id, Call call);

    Runtime& inner_;
    const Instances& instances_;
    const Nodes& nodes_;
};

}  // namespace svc
