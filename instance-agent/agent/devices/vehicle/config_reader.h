#pragma once
// Reads members of one object of a vehicle configuration and collects faults instead of throwing.
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/json.h"

namespace svc::agent {

// `object` and `faults` outlive the reader. A number may be written as a constant: "VehicleUnit::CELSIUS".
class ConfigReader {
  public:
    ConfigReader(const Json& object, std::string path, std::vector<std::string>& faults);

    bool has(std::string_view key) const { return object_.find(key) != nullptr; }
    // Nothing: absent or faulty; a fault is added to the list.
    std::optional<std::int64_t> integer(std::string_view key, std::int64_t low, std::int64_t high) const;
    std::optional<std::int32_t> int32(std::string_view key) const;
    std::optional<float> number(std::string_view key) const;
    std::optional<std::string> text(std::string_view key) const;
    std::optional<bool> flag(std::string_view key) const;
    template <class T>
    std::vector<T> integers(std::string_view key, std::size_t most) const;
    std::vector<float> numbers(std::string_view key, std::size_t most) const;
    // The objects of an array. Any other item is a fault; with `required`, so is an absent array.
    std::vector<ConfigReader> objects(std::string_view key, std::size_t most, bool required = false) const;
    std::optional<ConfigReader> object(std::string_view key) const;

    void fault(std::string_view key, std::string_view what) const;
    const Json* raw(std::string_view key) const { return object_.find(key); }
    const std::string& path() const { return path_; }

  private:
    std::string path_of(std::string_view key) const;
    const JsonArray* array(std::string_view key, std::size_t most) const;
    std::optional<std::int64_t> integer_of(const Json& value, std::string_view key, std::int64_t low,
                                           std::int64_t high) const;
    std::optional<float> number_of(const Json& value, std::string_view key) const;

    const Json& object_;
    std::string path_;
    std::vector<std::string>& faults_;
};

template <class T>
std::vector<T> ConfigReader::integers(std::string_view key, std::size_t most) const {
    std::vector<T> read;
    const JsonArray* items = array(key, most);
    if (items == nullptr) return read;
    for (std::size_t i = 0; i < items->size(); ++i) {
        const std::string item = std::string(key) + "[" + std::to_string(i) + "]";
        const auto number =
            integer_of((*items)[i], item, std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
        if (number) read.push_back(static_cast<T>(*number));
    }
    return read;
}

}  // namespace svc::agent
