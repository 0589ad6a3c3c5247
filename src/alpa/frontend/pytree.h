#pragma once

#include <array>
#include <concepts>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "alpa/frontend/array.h"

/// Trees of arrays: an Array; vector, array, map, pair, tuple, optional of trees; and structs that list their fields:
///
///   struct Layer { alpa::Array w, b; int heads; ALPA_PYTREE(w, b, heads) };
///
/// Numbers, bools, enums and strings among the fields are part of the structure: two trees that differ in them are
/// different trees. ALPA_STATE is the same for a training state, which `parallelize` donates.
namespace alpa {

/// The way to a leaf, kept on the stack: text is made only for messages.
class KeyPath {
 public:
  explicit KeyPath(const char* root) : name_(root) {}
  KeyPath(const KeyPath& parent, const char* field) : parent_(&parent), name_(field) {}
  KeyPath(const KeyPath& parent, int64_t index) : parent_(&parent), index_(index) {}

  /// "state.params.layers[3].w".
  std::string to_string() const;

 private:
  const KeyPath* parent_ = nullptr;
  const char* name_ = nullptr;
  int64_t index_ = 0;
};

namespace frontend {

/// A function of the arrays of a tree, in order.
using FlatFunction = std::function<std::vector<Array>(const std::vector<Array>&)>;

template <typename T>
concept HasFields = requires(T& tree) { tree.alpa_fields([](const char*, auto&) {}); };

template <typename T>
struct IsVector : std::false_type {};
template <typename T>
struct IsVector<std::vector<T>> : std::true_type {};
template <typename T, size_t N>
struct IsVector<std::array<T, N>> : std::true_type {};
template <typename T>
struct IsMap : std::false_type {};
template <typename K, typename V>
struct IsMap<std::map<K, V>> : std::true_type {};
template <typename T>
struct IsOptional : std::false_type {};
template <typename T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <typename T>
struct IsTuple : std::false_type {};
template <typename... T>
struct IsTuple<std::tuple<T...>> : std::true_type {};
template <typename A, typename B>
struct IsTuple<std::pair<A, B>> : std::true_type {};

template <typename T>
concept StaticLeaf = std::is_arithmetic_v<T> || std::is_enum_v<T> || std::same_as<T, std::string>;

std::string structure_of(long double value);
std::string structure_of(int64_t value);

template <StaticLeaf T>
std::string static_text(const T& value) {
  if constexpr (std::same_as<T, std::string>)
    return std::to_string(value.size()) + ":" + value;
  else if constexpr (std::is_floating_point_v<T>)
    return structure_of(static_cast<long double>(value));
  else
    return structure_of(static_cast<int64_t>(value));
}

/// Walks a tree in order: `visitor.leaf(path, array)` for arrays, `visitor.mark(text)` for what shapes the structure.
template <typename Tree, typename Visitor>
void walk(Tree& tree, Visitor& visitor, const KeyPath& path) {
  using T = std::remove_cv_t<Tree>;
  if constexpr (std::same_as<T, Array>) {
    visitor.leaf(path, tree);
  } else if constexpr (StaticLeaf<T>) {
    visitor.mark(static_text(tree));
  } else if constexpr (IsVector<T>::value) {
    visitor.mark("[" + std::to_string(tree.size()));
    int64_t index = 0;
    if constexpr (std::same_as<typename T::value_type, bool>) {  // vector<bool> has no references to give
      for (const bool element : tree) visitor.mark(static_text(element));
    } else {
      for (auto& element : tree) walk(element, visitor, KeyPath(path, index++));
    }
  } else if constexpr (IsMap<T>::value) {
    visitor.mark("{" + std::to_string(tree.size()));
    for (auto& [key, value] : tree) {
      const std::string text = [&] {
        if constexpr (std::same_as<std::remove_cvref_t<decltype(key)>, std::string>)
          return key;
        else
          return static_text(key);
      }();
      visitor.mark(static_text(key));
      walk(value, visitor, KeyPath(path, text.c_str()));
    }
  } else if constexpr (IsOptional<T>::value) {
    visitor.mark(tree.has_value() ? "?1" : "?0");
    if (tree.has_value()) walk(*tree, visitor, path);
  } else if constexpr (IsTuple<T>::value) {
    visitor.mark("(");
    std::apply(
        [&](auto&... elements) {
          int64_t index = 0;
          (walk(elements, visitor, KeyPath(path, index++)), ...);
        },
        tree);
  } else if constexpr (std::is_pointer_v<T>) {
    static_assert(!std::is_pointer_v<T>, "a pointer is no pytree: hold the value itself");
  } else {
    static_assert(HasFields<T>, "not a pytree: list the fields of the struct with ALPA_PYTREE(...)");
    visitor.mark("<");
    tree.alpa_fields([&](const char* name, auto& field) { walk(field, visitor, KeyPath(path, name)); });
  }
}

/// True for types that can hold an Array.
template <typename T>
constexpr bool is_pytree() {
  return std::same_as<T, Array> || HasFields<T> || IsVector<T>::value || IsMap<T>::value || IsOptional<T>::value ||
         IsTuple<T>::value;
}

}  // namespace frontend

/// Arrays of a tree in order.
template <typename Tree>
std::vector<Array> tree_leaves(const Tree& tree) {
  struct {
    std::vector<Array> arrays;
    void leaf(const KeyPath&, const Array& array) { arrays.push_back(array); }
    void mark(std::string_view) {}
  } collector;
  frontend::walk(tree, collector, KeyPath(""));
  return std::move(collector.arrays);
}

/// Key paths of the arrays, in order, below `root`.
template <typename Tree>
std::vector<std::string> tree_paths(const Tree& tree, const char* root = "") {
  struct {
    std::vector<std::string> paths;
    void leaf(const KeyPath& path, const Array&) { paths.push_back(path.to_string()); }
    void mark(std::string_view) {}
  } collector;
  frontend::walk(tree, collector, KeyPath(root));
  return std::move(collector.paths);
}

/// Text that two trees share exactly if they differ in their arrays alone.
template <typename Tree>
std::string tree_structure(const Tree& tree) {
  struct {
    std::string text;
    void leaf(const KeyPath&, const Array&) { text += '*'; }
    void mark(std::string_view part) {
      text += part;
      text += ' ';
    }
  } collector;
  frontend::walk(tree, collector, KeyPath(""));
  return std::move(collector.text);
}

/// A copy with other arrays: `change(path, array)` gives each.
template <typename Tree, typename Change>
Tree tree_map_with_path(Tree tree, Change&& change, const char* root = "") {
  struct Changer {
    Change& change;
    void leaf(const KeyPath& path, Array& array) { array = change(path, static_cast<const Array&>(array)); }
    void mark(std::string_view) {}
  } changer{change};
  frontend::walk(tree, changer, KeyPath(root));
  return tree;
}

/// A copy with `change(array)` for each array.
template <typename Tree, typename Change>
Tree tree_map(Tree tree, Change&& change) {
  return tree_map_with_path(std::move(tree), [&](const KeyPath&, const Array& array) { return change(array); });
}

namespace frontend {
/// Errors: InvalidArgumentError that says the structures differ.
void require_same_structure(const std::string& a, const std::string& b);
}  // namespace frontend

/// A copy of `first` with `combine(array of first, array of second)`. Errors: InvalidArgumentError if they differ in
/// structure.
template <typename Tree, typename Combine>
Tree tree_map2(const Tree& first, const Tree& second, Combine&& combine) {
  frontend::require_same_structure(tree_structure(first), tree_structure(second));
  const std::vector<Array> others = tree_leaves(second);
  size_t next = 0;
  return tree_map(first, [&](const Array& array) { return combine(array, others[next++]); });
}

/// A copy of `like` with these arrays, in order; as many as it has.
template <typename Tree>
Tree tree_rebuild(const Tree& like, const std::vector<Array>& arrays) {
  size_t next = 0;
  return tree_map(like, [&](const Array&) { return arrays.at(next++); });
}

}  // namespace alpa

// Applies a macro to each of up to 64 arguments, separated by semicolons.
#define ALPA_PARENS ()
#define ALPA_EXPAND(...) ALPA_EXPAND2(ALPA_EXPAND2(ALPA_EXPAND2(ALPA_EXPAND2(__VA_ARGS__))))
#define ALPA_EXPAND2(...) ALPA_EXPAND1(ALPA_EXPAND1(ALPA_EXPAND1(ALPA_EXPAND1(__VA_ARGS__))))
#define ALPA_EXPAND1(...) __VA_ARGS__
#define ALPA_FOR_EACH(macro, ...) __VA_OPT__(ALPA_EXPAND(ALPA_FOR_EACH_NEXT(macro, __VA_ARGS__)))
#define ALPA_FOR_EACH_NEXT(macro, a, ...) macro(a) __VA_OPT__(ALPA_FOR_EACH_AGAIN ALPA_PARENS(macro, __VA_ARGS__))
#define ALPA_FOR_EACH_AGAIN() ALPA_FOR_EACH_NEXT
#define ALPA_FIELD(name) visit(#name, name);

/// Inside a struct: its fields that make it a tree.
#define ALPA_PYTREE(...)                   \
  template <typename Visit>                \
  void alpa_fields(Visit&& visit) {        \
    ALPA_FOR_EACH(ALPA_FIELD, __VA_ARGS__) \
  }                                        \
  template <typename Visit>                \
  void alpa_fields(Visit&& visit) const {  \
    ALPA_FOR_EACH(ALPA_FIELD, __VA_ARGS__) \
  }

/// The same for a training state, which `parallelize` donates unless told otherwise.
#define ALPA_STATE(...)                       \
  static constexpr bool alpa_is_state = true; \
  ALPA_PYTREE(__VA_ARGS__)
