#include "libsvc/runtime/cdi.h"

#include <catch2/catch.hpp>

#include "libsvc/base/file.h"

using namespace svc;

namespace {

constexpr const char* two_gpus = R"(cdiVersion: "0.5.0"
kind: nvidia.com/gpu
containerEdits:
  deviceNodes: [{path: /dev/nvidiactl}, {path: /dev/nvidia-uvm, hostPath: /host/uvm}]
  env: [NVIDIA_VISIBLE_DEVICES=void]
  hooks: [{hookName: createContainer, path: /usr/bin/nvidia-ctk, args: [hook]}]
  mounts: [{hostPath: /usr/lib/libcuda.so.535, containerPath: /usr/lib/libcuda.so.535, options: [ro, bind]}]
devices:
- name: all
  containerEdits: {deviceNodes: [{path: /dev/nvidia0}, {path: /dev/nvidia1}, {path: /dev/dri/renderD128}, {path: /dev/dri/renderD129}]}
- name: "0"
  containerEdits: {deviceNodes: [{path: /dev/nvidia0}, {path: /dev/dri/card1}, {path: /dev/dri/renderD128}]}
- name: "1"
  containerEdits: {deviceNodes: [{path: /dev/nvidia1}, {path: /dev/dri/card2}, {path: /dev/dri/renderD129}]}
)";

struct Folders {
    TemporaryDirectory place{std::filesystem::temp_directory_path(), "svc-cdi-"};

    void write(const std::string& name, const std::string& text) const {
        make_directories((place.path() / name).parent_path());
        write_file_atomically(place.path() / name, text);
    }
    CdiDevices devices() const { return CdiDevices({place.path() / "etc", place.path() / "run"}); }
    std::string fault(const std::string& edits) const {
        write("etc/wrong.yaml", "kind: a/b\ndevices: [{name: x, containerEdits: " + edits + "}]\n");
        const Json described = devices().described({});
        const Json* const fault = described.find((place.path() / "etc/wrong.yaml").native());
        return fault == nullptr ? "" : fault->as_string();
    }
};

}  // namespace

TEST_CASE_METHOD(Folders,
                 "a GPU brings what the device with its render node has, and what all of them have") {
    write("etc/nvidia.yaml", two_gpus);
    CHECK(devices().device_of("D128") == "nvidia.com/gpu=0");
    CHECK(devices().device_of("D129") == "nvidia.com/gpu=1");
    CHECK(devices().device_of("D130").empty());
    const CdiEdits edits = devices().edits({"D129", "D130"});
    CHECK(edits.nodes == std::vector<CdiNode>{{"/dev/nvidiactl", "/dev/nvidiactl"},
                                              {"/dev/nvidia-uvm", "/host/uvm"},
                                              {"/dev/nvidia1", "/dev/nvidia1"}});
    CHECK(edits.mounts == std::vector<CdiMount>{{"/usr/lib/libcuda.so.535", "/usr/lib/libcuda.so.535"}});
    CHECK(edits.environment == std::vector<std::string>{"NVIDIA_VISIBLE_DEVICES=void"});
    CHECK(devices().edits({"D128", "D129"}).nodes.size() == 4);
    CHECK(devices().edits({}).nodes.empty());
}

TEST_CASE_METHOD(Folders, "JSON says the same as YAML, and a later folder overrides an earlier one") {
    write("etc/nvidia.yaml", two_gpus);
    write("run/nvidia.json", R"({"kind": "nvidia.com/gpu", "devices": [{"name": "0", "containerEdits":
        {"deviceNodes": [{"path": "/dev/nvidia7"}, {"path": "/dev/dri/renderD128"}]}}]})");
    CHECK(devices().edits({"D128"}).nodes == std::vector<CdiNode>{{"/dev/nvidia7", "/dev/nvidia7"}});
    CHECK(devices().described({"D128", "D129", "D130"}) ==
          Json::object({{"D128", "nvidia.com/gpu=0"}, {"D129", "nvidia.com/gpu=1"}}));
}

TEST_CASE_METHOD(Folders, "a file that has no sense is told and passed over, others count") {
    write("etc/nvidia.yaml", two_gpus);
    CHECK(fault("{}").empty());
    for (const char* edits :
         {"{deviceNodes: [{path: /dev/../etc/x}]}", "{deviceNodes: [{path: /etc/shadow}]}",
          "{deviceNodes: [{path: 3}]}", "{mounts: [{hostPath: /x}]}",
          "{mounts: [{hostPath: x, containerPath: /x}]}", "{env: [NAME]}", "{env: [\"A=\\n\"]}", "[", "3"}) {
        INFO(edits);
        CHECK_FALSE(fault(edits).empty());
    }
    CHECK(devices().device_of("D128") == "nvidia.com/gpu=0");
}
