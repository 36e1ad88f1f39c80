#pragma once
// Changes inputs as libFuzzer does, but without knowing which code they reach: for the builds without it. The
// same seed makes the same inputs.
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace svc::fuzz {

class Mutator {
  public:
    // `words`: what the format is made of.
    Mutator(std::uint64_t seed, std::vector<std::string> corpus, std::vector<std::string> words);
    std::string next();

  private:
    std::size_t below(std::size_t bound) { return bound == 0 ? 0 : random_() % bound; }
    void change(std::string& text);
    void insert(std::string& text, const std::string& piece);
    std::string number();

    std::mt19937_64 random_;
    std::vector<std::string> corpus_, words_;
};

}  // namespace svc::fuzz
