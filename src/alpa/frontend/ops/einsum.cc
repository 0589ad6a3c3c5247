#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "alpa/base/error.h"
#include "alpa/frontend/node.h"
#include "alpa/frontend/ops/contraction.h"
#include "alpa/frontend/ops/creation.h"
#include "alpa/frontend/ops/elementwise.h"
#include "alpa/frontend/ops/reduction.h"
#include "alpa/frontend/ops/shape.h"

namespace alpa {
namespace {

/// An operand and a letter for each of its dims. The dims of "..." get letters of their own: '0', '1', ... from the
/// last.
struct Term {
  Array array;
  std::string letters;
};

class Einsum {
 public:
  Einsum(std::string_view subscripts, Where where) : subscripts_(subscripts), where_(where) {}

  Array run(const std::vector<Array>& operands) {
    std::string inputs = without_spaces(subscripts_);
    std::string output;
    const size_t arrow = inputs.find("->");
    const bool given = arrow != std::string::npos;
    if (given) {
      output = inputs.substr(arrow + 2);
      inputs.resize(arrow);
    }
    std::vector<Term> terms = parse(inputs, operands);
    output = given ? expand(output, most_dots_) : implied(terms);
    check_output(output, terms);
    for (Term& term : terms) term = diagonal(std::move(term));
    Term result = terms[0];
    for (size_t k = 1; k < terms.size(); ++k) {
      std::set<char> later(output.begin(), output.end());
      for (size_t rest = k + 1; rest < terms.size(); ++rest)
        later.insert(terms[rest].letters.begin(), terms[rest].letters.end());
      result = contract(result, terms[k], later);
    }
    result = sum_out(std::move(result), std::set<char>(output.begin(), output.end()));
    std::vector<int> order;
    for (const char letter : output) order.push_back(static_cast<int>(result.letters.find(letter)));
    return transpose({result.array, where_}, order);
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    raise<InvalidArgumentError>("einsum", "\"{}\" at {}: {}", subscripts_, frontend::to_string(where_), problem);
  }

  static std::string without_spaces(const std::string& text) {
    std::string result;
    for (const char c : text) {
      if (c != ' ') result += c;
    }
    return result;
  }

  // "..." as `count` letters '0' + count - 1, ..., '0'.
  std::string expand(std::string text, size_t count) const {
    const size_t dots = text.find("...");
    for (size_t k = 0; k < text.size(); ++k) {
      const bool dot = dots != std::string::npos && k >= dots && k < dots + 3;
      if (!dot && std::isalpha(static_cast<unsigned char>(text[k])) == 0)
        fail(fmt::format("'{}' is no letter", text[k]));
    }
    if (dots != std::string::npos) {
      std::string letters;
      for (size_t k = count; k-- > 0;) letters += static_cast<char>('0' + k);
      text.replace(dots, 3, letters);
    }
    return text;
  }

  std::vector<Term> parse(const std::string& inputs, const std::vector<Array>& operands) {
    std::vector<std::string> parts(1);
    for (const char c : inputs) {
      if (c == ',')
        parts.emplace_back();
      else
        parts.back() += c;
    }
    if (parts.size() != operands.size())
      fail(fmt::format("it names {} operands, {} are given", parts.size(), operands.size()));
    std::vector<Term> terms;
    for (size_t k = 0; k < parts.size(); ++k) {
      const bool dots = parts[k].find("...") != std::string::npos;
      const size_t named = parts[k].size() - (dots ? 3 : 0);
      const auto rank = static_cast<size_t>(operands[k].rank());
      if (rank < named || (!dots && rank != named) || (dots && rank - named > 10))
        fail(fmt::format("\"{}\" does not name the dims of {}", parts[k], tensor::to_string(operands[k].shape())));
      most_dots_ = std::max(most_dots_, rank - named);
      terms.push_back({operands[k], expand(parts[k], rank - named)});
      note_sizes(terms.back());
    }
    return terms;
  }

  void note_sizes(Term& term) {
    for (size_t k = 0; k < term.letters.size(); ++k) {
      const char letter = term.letters[k];
      const bool dot = letter >= '0' && letter <= '9';
      const int64_t size = term.array.dims()[k];
      const auto [entry, fresh] = sizes_.try_emplace(letter, size);
      if (fresh || entry->second == size || (dot && size == 1)) continue;
      if (dot && entry->second == 1)
        entry->second = size;
      else
        fail(fmt::format("{} has size {} and {} in {}", dot ? "a dim of \"...\"" : fmt::format("'{}'", letter),
                         entry->second, size, tensor::to_string(term.array.shape())));
    }
  }

  static std::string implied(const std::vector<Term>& terms) {
    std::map<char, int> count;
    for (const Term& term : terms) {
      for (const char letter : term.letters) ++count[letter];
    }
    std::string dots, letters;
    for (const auto& [letter, times] : count) {
      if (letter <= '9')
        dots.insert(dots.begin(), letter);
      else if (times == 1)
        letters += letter;
    }
    return dots + letters;
  }

  void check_output(const std::string& output, const std::vector<Term>& terms) const {
    std::set<char> known, seen;
    for (const Term& term : terms) known.insert(term.letters.begin(), term.letters.end());
    for (const char letter : output) {
      if (known.count(letter) == 0) fail(fmt::format("'{}' of the result is in no operand", letter));
      if (!seen.insert(letter).second) fail(fmt::format("'{}' is twice in the result", letter));
    }
  }

  // A letter that an operand has twice stands for its diagonal: all else is set to 0 and summed.
  static Term diagonal(Term term) {
    for (size_t a = 0; a < term.letters.size(); ++a) {
      const size_t b = term.letters.find(term.letters[a], a + 1);
      if (b == std::string::npos) continue;
      const Dims dims = term.array.dims();
      const Array keep = equal(iota(dims, static_cast<int>(a)), iota(dims, static_cast<int>(b)));
      const Array others = where(keep, term.array, zeros_like(term.array));
      term.array = sum(others, {static_cast<int>(b)}).astype(term.array.dtype());
      term.letters.erase(b, 1);
      --a;
    }
    return term;
  }

  // Dims that neither the result nor a later operand has are summed before they grow the product.
  Term sum_out(Term term, const std::set<char>& kept) const {
    std::vector<int> dims;
    std::string letters;
    for (size_t k = 0; k < term.letters.size(); ++k) {
      if (kept.count(term.letters[k]) == 0)
        dims.push_back(static_cast<int>(k));
      else
        letters += term.letters[k];
    }
    if (dims.empty()) return term;
    // Small integers stay small, as in a product.
    return {sum({term.array, where_}, dims).astype(term.array.dtype()), letters};
  }

  // Dims of "..." with size 1 that must broadcast are dropped where another operand has them whole.
  Term dropped_ones(Term term) const {
    for (size_t k = term.letters.size(); k-- > 0;) {
      if (term.array.dims()[k] != 1 || sizes_.at(term.letters[k]) == 1) continue;
      term.array = squeeze({term.array, where_}, {static_cast<int>(k)});
      term.letters.erase(k, 1);
    }
    return term;
  }

  Term contract(const Term& a, const Term& b, const std::set<char>& later) const {
    std::set<char> left_kept = later, right_kept = later;
    left_kept.insert(b.letters.begin(), b.letters.end());
    right_kept.insert(a.letters.begin(), a.letters.end());
    const Term left = dropped_ones(sum_out(a, left_kept));
    const Term right = dropped_ones(sum_out(b, right_kept));
    DotDims dims;
    std::string letters, left_free, right_free;
    for (size_t k = 0; k < left.letters.size(); ++k) {
      const size_t other = right.letters.find(left.letters[k]);
      if (other == std::string::npos) {
        left_free += left.letters[k];
        continue;
      }
      const bool batch = later.count(left.letters[k]) > 0;
      (batch ? dims.lhs_batch : dims.lhs_contracting).push_back(static_cast<int64_t>(k));
      (batch ? dims.rhs_batch : dims.rhs_contracting).push_back(static_cast<int64_t>(other));
      if (batch) letters += left.letters[k];
    }
    for (const char letter : right.letters) {
      if (left.letters.find(letter) == std::string::npos) right_free += letter;
    }
    return {dot_general({left.array, where_}, {right.array, where_}, dims), letters + left_free + right_free};
  }

  std::string subscripts_;
  Where where_;
  std::map<char, int64_t> sizes_;
  size_t most_dots_ = 0;
};

}  // namespace

Array einsum(std::string_view subscripts, const std::vector<Array>& operands, Where where) {
  require<InvalidArgumentError>(!operands.empty(), "einsum", "no operands given at {}", frontend::to_string(where));
  return Einsum(subscripts, where).run(operands);
}

}  // namespace alpa
