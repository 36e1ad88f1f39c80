// Images, addons and applications with their versions.
#include "tests/model/random_client.h"
#include "tests/support/application_package.h"

namespace svc::test {

namespace {

std::string any_image(RandomClient& client) {
    return client.pick_name("m", 3);
}
std::string any_addon(RandomClient& client) {
    return client.pick_name("d", 2);
}
std::string any_application(RandomClient& client) {
    return client.pick_name("a", 3);
}

const std::string& any_of(RandomClient& client, const std::vector<std::string>& packages) {
    return packages[static_cast<std::size_t>(client.pick(static_cast<int>(packages.size())))];
}

Json force(RandomClient& client) {
    return Json::object({{"force", client.chance(50)}});
}

void add_image(RandomClient& client) {
    const std::string name = any_image(client);
    client.upload("images.create", name, Method::post, "/1.0/images",
                  Json::object({{"name", name}, {"default", client.chance(20)}}).dump(),
                  any_of(client, client.material().images));
}

void update_image(RandomClient& client) {
    const std::string name = any_image(client);
    client.upload("images.update", name, Method::patch, "/1.0/images/" + name, "{}",
                  any_of(client, client.material().images));
}

void choose_default(RandomClient& client) {
    const std::string name = any_image(client);
    client.call("images.default", name, Method::patch, "/1.0/images/" + name,
                Json::object({{"default", true}}));
}

void delete_image(RandomClient& client) {
    const std::string name = any_image(client);
    client.call("images.delete", name, Method::delete_, "/1.0/images/" + name, force(client));
}

void delete_image_version(RandomClient& client) {
    const std::string name = any_image(client);
    client.call("images.delete_version", name, Method::delete_,
                "/1.0/images/" + name + "/" + std::to_string(client.pick(4)));
}

void show_image(RandomClient& client) {
    const std::string name = any_image(client);
    client.call("images.show", name, Method::get, "/1.0/images/" + name);
}

void list_images(RandomClient& client) {
    client.call("images.list", "", Method::get, "/1.0/images?recursion=1");
}

void add_addon(RandomClient& client) {
    const std::string name = any_addon(client);
    client.upload("addons.create", name, Method::post, "/1.0/addons", Json::object({{"name", name}}).dump(),
                  any_of(client, client.material().addons));
}

void update_addon(RandomClient& client) {
    const std::string name = any_addon(client);
    client.upload("addons.update", name, Method::patch, "/1.0/addons/" + name, "{}",
                  any_of(client, client.material().addons));
}

void delete_addon(RandomClient& client) {
    const std::string name = any_addon(client);
    client.call("addons.delete", name, Method::delete_, "/1.0/addons/" + name);
}

void delete_addon_version(RandomClient& client) {
    const std::string name = any_addon(client);
    client.call("addons.delete_version", name, Method::delete_,
                "/1.0/addons/" + name + "/" + std::to_string(client.pick(4)));
}

void list_addons(RandomClient& client) {
    client.call("addons.list", "", Method::get, "/1.0/addons?recursion=1");
}

std::string package_of(RandomClient& client, const std::string& name) {
    std::string keys = "version: \"" + std::to_string(client.pick(1000)) + "\"\n";
    if (client.chance(50)) keys += "image: " + client.pick_name("m", 2) + "\n";
    if (client.chance(25)) keys += "addons: [" + any_addon(client) + "]\n";
    if (client.chance(25)) keys += "services: [{name: web0, port: 90, protocols: [tcp]}]\n";
    return application_package(name, keys);
}

void add_application(RandomClient& client) {
    const std::string name = any_application(client);
    client.upload("applications.create", name, Method::post, "/1.0/applications", "",
                  package_of(client, name));
}

void update_application(RandomClient& client) {
    const std::string name = any_application(client);
    client.upload("applications.update", name, Method::patch, "/1.0/applications/" + name, "",
                  package_of(client, name));
}

void patch_application(RandomClient& client) {
    const std::string name = any_application(client);
    Json fields = Json::object();
    if (client.chance(50)) fields.set("tags", Json::array({client.pick_name("t", 3)}));
    if (client.chance(40)) fields.set("manifest_version", std::to_string(client.pick(1000)));
    if (client.chance(20)) fields.set("addons", Json::array({any_addon(client)}));
    if (client.chance(20)) fields.set("image", any_image(client));
    client.call("applications.update", name, Method::patch, "/1.0/applications/" + name, fields);
}

std::string any_version(RandomClient& client, const std::string& name) {
    return "/1.0/applications/" + name + "/" + std::to_string(client.pick(5));
}

void publish(RandomClient& client) {
    const std::string name = any_application(client);
    client.call("applications.publish", name, Method::patch, any_version(client, name),
                Json::object({{"published", client.chance(60)}}));
}

void delete_version(RandomClient& client) {
    const std::string name = any_application(client);
    client.call("applications.delete_version", name, Method::delete_, any_version(client, name));
}

void delete_application(RandomClient& client) {
    const std::string name = any_application(client);
    client.call("applications.delete", name, Method::delete_, "/1.0/applications/" + name, force(client));
}

void export_version(RandomClient& client) {
    const std::string name = any_application(client);
    client.call("applications.export", name, Method::get, any_version(client, name));
}

void read_manifest(RandomClient& client) {
    const std::string name = any_application(client);
    client.call("applications.manifest", name, Method::get, "/1.0/applications/" + name + "/manifest");
}

void show_application(RandomClient& client) {
    const std::string name = any_application(client);
    client.call("applications.show", name, Method::get, "/1.0/applications/" + name);
}

void list_applications(RandomClient& client) {
    client.call("applications.list", "", Method::get, "/1.0/applications?recursion=1");
}

}  // namespace

std::vector<CallKind> package_calls() {
    return {{4, add_image},
            {4, update_image},
            {2, choose_default},
            {1, delete_image},
            {4, delete_image_version},
            {2, show_image},
            {2, list_images},
            {3, add_addon},
            {4, update_addon},
            {2, delete_addon},
            {4, delete_addon_version},
            {2, list_addons},
            {5, add_application},
            {4, update_application},
            {5, patch_application},
            {5, publish},
            {2, delete_version},
            {1, delete_application},
            {1, export_version},
            {1, read_manifest},
            {3, show_application},
            {2, list_applications}};
}

}  // namespace svc::test
