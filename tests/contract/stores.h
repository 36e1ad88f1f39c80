#pragma once
// The stores that a program of the store's contract is for.
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "libsvc/store/store.h"

namespace svc::test {

struct StoreKind {
    std::string name;
    std::function<std::unique_ptr<Store>(const std::filesystem::path& directory)> open;  // an empty one
};

std::vector<StoreKind> stores();

}  // namespace svc::test
