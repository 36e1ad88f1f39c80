// OCI image layouts, and what their layers make together.
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <map>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/json.h"
#include "libsvc/base/processes/process.h"
#include "libsvc/formats/archive_reader.h"
#include "libsvc/formats/archive_writer.h"
#include "libsvc/formats/block_compressor.h"
#include "libsvc/formats/oci/package.h"

using namespace svc;
namespace fs = std::filesystem;

namespace {

struct LayerItem {
    std::string path;
    EntryKind kind = EntryKind::file;
    std::string text;  // content of a file, target of a link
    unsigned mode = 0644;
};

LayerItem own_folder(const std::string& path, unsigned mode = 0755) {
    return {path, EntryKind::directory, "", mode};
}
LayerItem another_name(const std::string& path, const std::string& target) {
    return {path, EntryKind::hard_link, target};
}

struct Shipment {
    TemporaryDirectory place{fs::temp_directory_path(), "svc-oci-"};
    fs::path layout = place.path() / "layout";
    Json config = Json::parse(R"({"os":"linux","architecture":"amd64","created":"2026-11-27T10:00:00.5Z",
        "config":{"Entrypoint":["/bin/candy"],"Cmd":["--fast"],"Env":["A=b c"],"WorkingDir":"/srv","User":"7:8","StopSignal":"SIGQUIT"}})");
    std::string layer_type = "application/vnd.oci.image.layer.v1.tar+gzip";
    JsonArray layers, manifests;

    Shipment() {
        fs::create_directories(layout / "blobs/sha256");
        write_file_atomically(layout / "oci-layout", R"({"imageLayoutVersion":"1.0.0"})");
    }

    Json blob(const std::string& type, const std::string& bytes) const {
        write_file_atomically(layout / "blobs/sha256" / sha256_hex(bytes), bytes);
        return Json::object({{"mediaType", type},
                             {"digest", "sha256:" + sha256_hex(bytes)},
                             {"size", static_cast<std::int64_t>(bytes.size())}});
    }
    void add_layer(const std::vector<LayerItem>& items) {
        ArchiveWriter writer(std::make_unique<BlockCompressor>(Compression::gzip));
        for (const LayerItem& item : items) {
            ArchiveEntry entry;
            entry.path = item.path;
            entry.kind = item.kind;
            entry.mode = item.mode;
            if (item.kind == EntryKind::file) entry.size = item.text.size();
            entry.link_target = item.text;
            writer.begin(entry);
            if (item.kind == EntryKind::file) writer.write(item.text);
        }
        writer.finish();
        layers.push_back(blob(layer_type, writer.take(writer.ready())));
    }
    void add_image(const Json& extra = Json::object()) {
        const Json manifest =
            Json::object({{"schemaVersion", 2},
                          {"config", blob("application/vnd.oci.image.config.v1+json", config.dump())},
                          {"layers", layers}});
        Json descriptor = blob("application/vnd.oci.image.manifest.v1+json", manifest.dump());
        for (const auto& [key, value] : extra.as_object()) descriptor.set(key, value);
        manifests.push_back(descriptor);
        write_index();
    }
    void write_index() const {
        write_file_atomically(layout / "index.json", Json::object({{"manifests", manifests}}).dump());
    }
    OciImage image() const { return read_oci_layout(layout, "x86_64"); }
    std::string refusal() const {
        try {
            image();
        } catch (const Error& e) {
            return e.what();
        }
        return "";
    }
    // Of the package: "text" of a file, "/" of a directory, "-> target" of a symbolic, "= target" of a hard
    // link.
    std::map<std::string, std::string> package() const {
        const fs::path file = place.path() / ("package" + std::to_string(++packages));
        write_oci_package(image(), file);
        std::map<std::string, std::string> found;
        ArchiveReader reader(file);
        ArchiveEntry entry;
        while (reader.next(entry)) {
            INFO(entry.path);
            CHECK_FALSE(found.contains(entry.path));
            std::string& text = found[entry.path];
            if (entry.kind == EntryKind::directory) text = "/";
            if (entry.kind == EntryKind::symbolic_link) text = "-> " + entry.link_target;
            if (entry.kind == EntryKind::hard_link) text = "= " + entry.link_target;
            while (const auto block = reader.next_block()) text += block->bytes;
        }
        return found;
    }
    mutable int packages = 0;
};

}  // namespace

TEST_CASE("an OCI image becomes a package with its command") {
    Shipment shipment;
    shipment.add_layer({own_folder("bin"),
                        {".svc-init", EntryKind::file, "of an earlier conversion"},
                        {"bin/candy", EntryKind::file, "program", 0755},
                        {"bin/sugar", EntryKind::symbolic_link, "candy"}});
    shipment.add_image();
    const OciImage image = shipment.image();
    CHECK(image.command.arguments == std::vector<std::string>{"/bin/candy", "--fast"});
    CHECK(image.created == 1795773600);
    const auto package = shipment.package();
    const Json metadata = Json::parse(package.at("metadata.yaml"));
    CHECK(metadata.at("architecture").as_string() == "x86_64");
    CHECK(metadata.at("properties").at("init").as_string() == "/.svc-init");
    const std::string init = package.at("rootfs/.svc-init");
    const std::string first = "#!/var/lib/svc-agent/bin/svc-agent init\n";
    REQUIRE(init.starts_with(first));
    CHECK(
        Json::parse(init.substr(first.size())) ==
        Json::parse(
            R"({"arguments":["/bin/candy","--fast"],"environment":["A=b c"],"directory":"/srv","user":"7:8","stop_signal":"SIGQUIT"})"));
    CHECK(package.at("rootfs/bin/") == "/");
    CHECK(package.at("rootfs/bin/candy") == "program");
    CHECK(package.at("rootfs/bin/sugar") == "-> candy");
    for (const char* place : {"rootfs/dev/", "rootfs/proc/", "rootfs/sys/"}) CHECK(package.contains(place));
}

TEST_CASE("an OCI image of Android starts its own init, with the words of the image") {
    Shipment shipment;
    JsonArray entrypoint{"/init", "androidboot.hardware=pocket"};
    bool android = true;
    SECTION("by its command and its files") {}
    SECTION("but not where another program is first") {
        entrypoint = {"/bin/sh"};
        android = false;
    }
    shipment.config.set("config", Json::object({{"Entrypoint", entrypoint}, {"Cmd", JsonArray{"qemu=1"}}}));
    shipment.add_layer({own_folder("system"),
                        {"system/build.prop", EntryKind::file, "x"},
                        {"init", EntryKind::file, "x", 0755}});
    shipment.add_image();
    const auto package = shipment.package();
    const Json properties = Json::parse(package.at("metadata.yaml")).at("properties");
    CHECK(properties.at("profile").as_string() == (android ? "android" : "linux"));
    CHECK(properties.at("init").as_string() ==
          (android ? "/init androidboot.hardware=pocket qemu=1" : "/.svc-init"));
    CHECK(package.contains("rootfs/.svc-init") == !android);
}

TEST_CASE("what Android's init cannot be told on one line is refused") {
    Shipment shipment;
    shipment.config.set("config", Json::object({{"Entrypoint", JsonArray{"/init", "two words"}}}));
    shipment.add_layer({{"system/build.prop", EntryKind::file, "x"}});
    shipment.add_image();
    CHECK_THROWS_WITH(shipment.package(), Catch::Contains("'two words', which is no plain word"));
}

TEST_CASE("the command of an OCI image is read from the file that was written of it") {
    const OciCommand written{{"a", "b c"}, {"A=1"}, "/srv", "web", "QUIT"};
    const OciCommand command = OciCommand::parse(written.text());
    CHECK(command.arguments == written.arguments);
    CHECK(command.environment == written.environment);
    CHECK(command.directory == "/srv");
    CHECK(command.user == "web");
    CHECK(command.stop_signal == "QUIT");
    CHECK_THROWS_AS(OciCommand::parse("{}"), Error);
    CHECK_THROWS_AS(OciCommand::parse("#!/x init\n{\"arguments\":[]}"), Error);
    CHECK_THROWS_AS(OciCommand::parse("#!/x init\nnothing"), Error);
}

TEST_CASE("an init in the command of an OCI image is found, also behind a script") {
    const auto [arguments, init] = GENERATE(table<std::vector<std::string>, std::string>(
        {{{"/sbin/init"}, "/sbin/init"},
         {{"init"}, "init"},
         {{"/lib/systemd/systemd", "--system"}, "/lib/systemd/systemd"},
         {{"/entry.sh", "/usr/sbin/init"}, "/usr/sbin/init"},
         {{"terraform", "init"}, "none"},
         {{"/app/tool", "--config", "/etc/init"}, "none"},
         {{"/bin/initialise"}, "none"},
         {{"nginx", "-g", "daemon off;"}, "none"}}));
    const OciCommand command{arguments, {}, "", "", ""};
    CHECK((command.init() == nullptr ? "none" : *command.init()) == init);
}

TEST_CASE("signals of OCI images are names or numbers") {
    CHECK(signal_named("SIGQUIT") == SIGQUIT);
    CHECK(signal_named("TERM") == SIGTERM);
    CHECK(signal_named("SIGRTMIN+3") == SIGRTMIN + 3);
    CHECK(signal_named("9") == SIGKILL);
    CHECK(signal_named("sigterm") == SIGTERM);
    CHECK(signal_named("SIGCLD") == SIGCHLD);
    CHECK(signal_named("IO") == signal_named("POLL"));
    CHECK(signal_named("SIGIOT") == SIGABRT);
    CHECK(signal_named("RTMIN") == SIGRTMIN);
    CHECK(signal_named("SIGRTMAX") == SIGRTMAX);
    CHECK(signal_named("rtmax-2") == SIGRTMAX - 2);
    for (const char* wrong :
         {"", "SIG", "0", "SIGNONE", "RTMIN+99", "RTMAX-31", "RTMAX+1", "RTMIN-1", "RTMIN+", "-1", "65"})
        CHECK_THROWS_AS(signal_named(wrong), Error);
}

TEST_CASE("layers of an OCI image may be compressed by zstd, and not all in the same way") {
    Shipment shipment;
    shipment.add_layer({{"kept", EntryKind::file, "1"}, {"replaced", EntryKind::file, "old"}});
    const fs::path gzip =
        shipment.layout / "blobs/sha256" /
        shipment.layers.at(0).at("digest").as_string().substr(std::string("sha256:").size());
    const fs::path file = shipment.place.path() / "layer.tar.zst";
    REQUIRE(run_command({"/bin/sh", "-c", "gzip -dc \"$1\" | zstd -q -o \"$2\"", "sh", gzip, file},
                        std::chrono::minutes(1))
                .status.code == 0);
    shipment.layers = {shipment.blob("application/vnd.oci.image.layer.v1.tar+zstd", read_file(file))};
    shipment.add_layer({{"replaced", EntryKind::file, "new"}});
    shipment.add_image();
    auto package = shipment.package();
    CHECK(package["rootfs/kept"] == "1");
    CHECK(package["rootfs/replaced"] == "new");
}

TEST_CASE("higher layers of an OCI image replace, remove and empty what lower ones have") {
    Shipment shipment;
    shipment.add_layer({{"kept", EntryKind::file, "1"},
                        {"replaced", EntryKind::file, "old"},
                        {"removed", EntryKind::file, "x"},
                        own_folder("gone"),
                        {"gone/file", EntryKind::file, "x"},
                        {"gone-not", EntryKind::file, "1"},
                        own_folder("emptied"),
                        {"emptied/old", EntryKind::file, "x"},
                        own_folder("now-a-file"),
                        {"now-a-file/inside", EntryKind::file, "x"},
                        {"now-a-folder", EntryKind::file, "x"}});
    shipment.add_layer({{"replaced", EntryKind::file, "new"},
                        {".wh.removed", EntryKind::file, ""},
                        {".wh.gone", EntryKind::file, ""},
                        {"emptied/new", EntryKind::file, "1"},
                        {"emptied/.wh..wh..opq", EntryKind::file, ""},
                        {"now-a-file", EntryKind::file, "1"},
                        own_folder("now-a-folder"),
                        {"now-a-folder/inside", EntryKind::file, "1"},
                        {".wh..wh.plnk", EntryKind::file, ""}});
    shipment.add_image();
    auto package = shipment.package();
    std::erase_if(package, [](const auto& entry) { return !entry.first.starts_with("rootfs/"); });
    for (const char* made : {"rootfs/", "rootfs/.svc-init", "rootfs/dev/", "rootfs/proc/", "rootfs/sys/"})
        package.erase(made);
    CHECK(package == std::map<std::string, std::string>{{"rootfs/emptied/", "/"},
                                                        {"rootfs/emptied/new", "1"},
                                                        {"rootfs/gone-not", "1"},
                                                        {"rootfs/kept", "1"},
                                                        {"rootfs/now-a-file", "1"},
                                                        {"rootfs/now-a-folder/", "/"},
                                                        {"rootfs/now-a-folder/inside", "1"},
                                                        {"rootfs/replaced", "new"}});
}

TEST_CASE("names in layers of an OCI image go through the links of lower layers") {
    Shipment shipment;
    shipment.add_layer({own_folder("usr"),
                        own_folder("usr/lib"),
                        {"usr/lib/old", EntryKind::file, "old"},
                        {"usr/lib/gone", EntryKind::file, "x"},
                        {"lib", EntryKind::symbolic_link, "usr/lib"},
                        own_folder("etc"),
                        {"etc/up", EntryKind::symbolic_link, "../../../usr"},
                        {"srv", EntryKind::symbolic_link, "/etc/up/lib"},
                        {"now-a-folder", EntryKind::symbolic_link, "usr/lib"}});
    shipment.add_layer({{"lib/.wh.gone", EntryKind::file, ""},
                        {"/lib/new", EntryKind::file, "new"},
                        {"srv/far", EntryKind::file, "far"},
                        another_name("same", "/lib/old"),
                        {".wh.now-a-folder", EntryKind::file, ""},
                        {"now-a-folder/own", EntryKind::file, "own"}});
    shipment.add_image();
    const auto package = shipment.package();
    CHECK(package.at("rootfs/lib") == "-> usr/lib");
    CHECK(package.at("rootfs/usr/lib/new") == "new");
    CHECK(package.at("rootfs/usr/lib/far") == "far");
    CHECK(package.at("rootfs/same") == "= rootfs/usr/lib/old");
    CHECK(package.at("rootfs/now-a-folder/own") == "own");
    CHECK_FALSE(package.contains("rootfs/usr/lib/gone"));
    CHECK_FALSE(package.contains("rootfs/lib/new"));
}

TEST_CASE("folders that no layer names keep what is in them") {
    Shipment shipment;
    shipment.add_layer({{"a/b/file", EntryKind::file, "1"}});
    shipment.add_layer({own_folder("a"), own_folder("a/b"), {"a/b/more", EntryKind::file, "2"}});
    shipment.add_image();
    const auto package = shipment.package();
    CHECK(package.at("rootfs/a/b/file") == "1");
    CHECK(package.at("rootfs/a/b/more") == "2");
}

TEST_CASE("layers of an OCI image are refused beyond the limits of packages") {
    Shipment shipment;
    shipment.add_layer({{"a", EntryKind::file, std::string(60, 'x')}});
    shipment.add_layer({{"b", EntryKind::file, std::string(60, 'x')}});
    shipment.add_image();
    const auto refusal = [&](const ArchiveLimits& limits) {
        try {
            write_oci_package(shipment.image(), shipment.place.path() / "package", {}, limits);
        } catch (const Error& e) {
            return std::string(e.what());
        }
        return std::string();
    };
    CHECK(refusal({.max_entries = 1}) == "the OCI image has more than 1 entries");
    CHECK(refusal({.max_bytes = 100}) == "the OCI image unpacks to more than 100 bytes");
    CHECK_FALSE(fs::exists(shipment.place.path() / "package"));
}

TEST_CASE("a sparse file in a layer counts with its holes") {
    Shipment shipment;
    const fs::path tree = shipment.place.path() / "tree";
    fs::create_directories(tree);
    write_file_atomically(tree / "big", "x");
    fs::resize_file(tree / "big", std::uint64_t{4} << 30);
    const fs::path layer = shipment.place.path() / "sparse.tar";
    REQUIRE(std::system(("tar -C " + tree.string() + " -S -cf " + layer.string() + " big").c_str()) == 0);
    shipment.layers.push_back(shipment.blob(shipment.layer_type, read_file(layer)));
    shipment.add_image();
    CHECK_THROWS_WITH(shipment.package(), Catch::Contains("unpacks to more than"));
}

TEST_CASE("hard links of an OCI image keep their content when another layer replaces the file") {
    Shipment shipment;
    shipment.add_layer(
        {{"file", EntryKind::file, "old"}, another_name("a", "file"), another_name("b", "./a")});
    SECTION("nothing is replaced") {
        shipment.add_image();
        const auto package = shipment.package();
        CHECK(package.at("rootfs/file") == "old");
        CHECK(package.at("rootfs/a") == "= rootfs/file");
        CHECK(package.at("rootfs/b") == "= rootfs/file");
    }
    SECTION("the file is replaced") {
        shipment.add_layer({{"file", EntryKind::file, "new"}});
        shipment.add_image();
        const auto package = shipment.package();
        CHECK(package.at("rootfs/file") == "new");
        CHECK(package.at("rootfs/a") == "old");
        CHECK(package.at("rootfs/b") == "= rootfs/a");
    }
    SECTION("the link that the other one names is replaced") {
        shipment.add_layer({{"a", EntryKind::file, "new"}});
        shipment.add_image();
        const auto package = shipment.package();
        CHECK(package.at("rootfs/file") == "old");
        CHECK(package.at("rootfs/a") == "new");
        CHECK(package.at("rootfs/b") == "= rootfs/file");
    }
    SECTION("a higher layer links a file of a lower one") {
        shipment.add_layer({another_name("c", "b")});
        shipment.add_image();
        CHECK(shipment.package().at("rootfs/c") == "= rootfs/file");
    }
}

TEST_CASE("of an OCI index the image for the wanted processor is taken") {
    Shipment shipment;
    shipment.add_layer({{"file", EntryKind::file, "x"}});
    shipment.add_image(Json::parse(R"({"platform":{"os":"linux","architecture":"amd64"}})"));
    const Json right = shipment.manifests.at(0);
    shipment.config.set("architecture", "arm64");
    shipment.add_image(Json::parse(R"({"platform":{"os":"linux","architecture":"arm64"}})"));
    shipment.add_image(Json::parse(R"({"platform":{"os":"unknown","architecture":"unknown"}})"));
    CHECK(shipment.image().command.arguments.size() == 2);
    SECTION("also of an index in the index") {
        const std::string inner = Json::object({{"manifests", shipment.manifests}}).dump();
        shipment.manifests = {shipment.blob("application/vnd.oci.image.index.v1+json", inner)};
        shipment.write_index();
        CHECK(shipment.image().command.arguments.size() == 2);
    }
    SECTION("under two tags it is one") {
        shipment.manifests.push_back(right);
        shipment.write_index();
        CHECK(shipment.refusal().empty());
    }
    SECTION("two of them are one too many") {
        shipment.config.set("architecture", "amd64");
        shipment.add_layer({{"other", EntryKind::file, "x"}});
        shipment.add_image();
        CHECK_THAT(shipment.refusal(), Catch::Contains("holds several images"));
    }
    SECTION("attestations and other artifacts are none") {
        const Json config = shipment.blob("application/vnd.example.note", "{}");
        for (const char* const extra : {R"({})", R"({"artifactType":"application/vnd.example"})"}) {
            Json manifest = Json::parse(extra);
            manifest.set("config", config);
            shipment.manifests.push_back(
                shipment.blob("application/vnd.oci.image.manifest.v1+json", manifest.dump()));
        }
        shipment.write_index();
        CHECK(shipment.refusal().empty());
    }
    SECTION("none is told") {
        shipment.manifests = {shipment.manifests.at(1)};
        shipment.write_index();
        CHECK(shipment.refusal() ==
              "'" + shipment.layout.string() + "' has no image for amd64, but for arm64");
    }
}

TEST_CASE("an OCI layout that is damaged, or not supported, is refused") {
    Shipment shipment;
    shipment.add_layer({{"file", EntryKind::file, "x"}});
    SECTION("no layout") {
        fs::remove(shipment.layout / "oci-layout");
        CHECK_THAT(shipment.refusal(), Catch::Contains("has no file oci-layout"));
    }
    SECTION("another digest") {
        shipment.add_image();
        const std::string digest = shipment.layers.at(0).at("digest").as_string().substr(7);
        write_file_atomically(shipment.layout / "blobs/sha256" / digest, "other");
        CHECK(shipment.refusal() == "OCI image is malformed: layer " + digest + " has another digest");
    }
    SECTION("a digest that leads away") {
        Json layer = shipment.layers.at(0);
        layer.set("digest", "sha256:../../../etc/passwd");
        shipment.layers = {layer};
        shipment.add_image();
        CHECK_THAT(shipment.refusal(), Catch::Contains("is not sha256"));
    }
    SECTION("another compression") {
        shipment.layer_type = "application/vnd.oci.image.layer.v1.tar+lz4";
        shipment.add_layer({});
        shipment.add_image();
        CHECK_THAT(shipment.refusal(), Catch::Contains("is not supported: skopeo copy"));
    }
    SECTION("another system") {
        shipment.config.set("os", "windows");
        shipment.add_image();
        CHECK_THAT(shipment.refusal(), Catch::EndsWith("has no image for amd64, but for windows/amd64"));
    }
    SECTION("no command") {
        shipment.config.set("config", Json::object());
        shipment.add_image();
        CHECK_THROWS_WITH(shipment.package(), "the OCI image has neither an entry point nor a command");
    }
    SECTION("a name that leaves the tree") {
        shipment.add_layer({{"../out", EntryKind::file, "x"}});
        shipment.add_image();
        CHECK_THROWS_WITH(shipment.package(), Catch::Contains("has '..' in its name"));
    }
    SECTION("a name beneath a file") {
        shipment.add_layer({{"file/inside", EntryKind::file, "x"}});
        shipment.add_image();
        CHECK_THROWS_WITH(shipment.package(),
                          "OCI image is malformed: 'file/inside' is beneath 'file', which is no folder");
    }
    SECTION("a name that goes round") {
        shipment.add_layer({{"a", EntryKind::symbolic_link, "b"}, {"b", EntryKind::symbolic_link, "a"}});
        shipment.add_layer({{"a/file", EntryKind::file, "x"}});
        shipment.add_image();
        CHECK_THROWS_WITH(shipment.package(), "OCI image is malformed: 'a/file' goes round in links");
    }
    SECTION("too many layers") {
        shipment.layers = JsonArray(501, shipment.layers.at(0));
        shipment.add_image();
        CHECK(shipment.refusal() == "OCI image is malformed: it has more than 500 layers");
    }
    SECTION("too many documents") {
        for (int number = 0; number < 1001; ++number)
            shipment.manifests.push_back(
                Json::object({{"digest", "sha256:" + sha256_hex(std::to_string(number))}}));
        shipment.write_index();
        CHECK(shipment.refusal() == "OCI image is malformed: its indexes name more than 1000 documents");
    }
    SECTION("a link to nothing") {
        shipment.add_layer({another_name("a", "absent")});
        shipment.add_image();
        CHECK_THROWS_WITH(shipment.package(), Catch::Contains("which is not there"));
    }
}
