#pragma once
// The command line of svc-bench: "--name value" pairs and "--name" alone.
#include <map>
#include <string>
#include <vector>

namespace svc::bench {

// Throws invalid_argument for what is not understood.
class Arguments {
  public:
    explicit Arguments(const std::vector<std::string>& words);
    bool has(const std::string& name) const { return values_.contains(name); }
    std::string text(const std::string& name) const;  // required
    std::string text(const std::string& name, const std::string& otherwise) const;
    unsigned number(const std::string& name, unsigned otherwise) const;
    std::vector<unsigned> numbers(const std::string& name, const std::string& otherwise) const;  // "1,16,64"

  private:
    std::map<std::string, std::string> values_;
};

}  // namespace svc::bench
