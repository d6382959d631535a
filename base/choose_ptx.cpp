// SPDX-License-Identifier: Apache-2.0
#include "base/choose_ptx.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace strata::fatbin {

char targetSuffix(const Entry &entry) {
  std::string_view text(reinterpret_cast<const char *>(entry.payload.data()), entry.payload.size());
  std::size_t at = text.find(".target");
  if (at != text.npos) at = text.find("sm_", at);
  if (at != text.npos) at = text.find_first_not_of("0123456789", at + 3);
  return at != text.npos && (text[at] == 'a' || text[at] == 'f') ? text[at] : 0;
}

namespace {

bool runsOn(const Entry &entry, unsigned capability) {
  switch (targetSuffix(entry)) {
    case 'a': return entry.arch == capability;
    case 'f': return entry.arch / 10 == capability / 10 && entry.arch <= capability;
    default: return entry.arch <= capability;
  }
}

const Entry *best(const std::vector<const Entry *> &entries, unsigned capability) {
  const Entry *best = nullptr;
  for (const Entry *entry : entries) {
    if (!runsOn(*entry, capability)) continue;
    // Of two with one architecture the specific one may use more.
    bool better = !best || entry->arch > best->arch || (entry->arch == best->arch && !targetSuffix(*best));
    if (better) best = entry;
  }
  return best;
}

// Entries that exclude each other: relocatable ones of one name, or all whole ones.
struct Group {
  std::string name;
  std::vector<const Entry *> entries;
};

std::vector<Group> groupsOf(const std::vector<Entry> &entries, bool relocatable) {
  std::vector<Group> groups;
  for (const Entry &entry : entries) {
    if (entry.kind != Kind::ptx || entry.relocatable != relocatable) continue;
    const std::string name = relocatable ? entry.name : "";
    auto group = std::find_if(groups.begin(), groups.end(), [&](const Group &g) { return g.name == name; });
    if (group == groups.end()) group = groups.insert(groups.end(), {name, {}});
    group->entries.push_back(&entry);
  }
  return groups;
}

}  // namespace

std::vector<std::string> ChosenPtx::texts() const {
  std::vector<std::string> texts;
  for (const Entry *entry : entries) texts.emplace_back(entry->payload.begin(), entry->payload.end());
  return texts;
}

std::vector<std::string> ChosenPtx::names() const {
  std::vector<std::string> names;
  for (const Entry *entry : entries) names.push_back(entry->name);
  return names;
}

ChosenPtx choosePtx(const std::vector<Entry> &entries, unsigned capability) {
  ChosenPtx chosen;
  std::vector<Group> groups = groupsOf(entries, true);
  chosen.relocatable = !groups.empty();
  if (groups.empty()) groups = groupsOf(entries, false);
  for (const Group &group : groups) {
    const Entry *entry = best(group.entries, capability);
    if (!entry) return {{}, chosen.relocatable};
    chosen.entries.push_back(entry);
  }
  return chosen;
}

}  // namespace strata::fatbin
