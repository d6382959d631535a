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
    case 'a':
      return entry.arch == capability;
    case 'f':
      return entry.arch / 10 == capability / 10 && entry.arch <= capability;
    default:
      return entry.arch <= capability;
  }
}

}  // namespace

const Entry *bestPtx(const std::vector<const Entry *> &entries, unsigned capability) {
  const Entry *best = nullptr;
  for (const Entry *entry : entries) {
    if (!runsOn(*entry, capability)) continue;
    // Of two with one architecture the specific one may use more.
    bool better = !best || entry->arch > best->arch || (entry->arch == best->arch && !targetSuffix(*best));
    if (better) best = entry;
  }
  return best;
}

bool chooseRelocatable(const std::vector<Entry> &entries, unsigned capability,
                       std::vector<const Entry *> &chosen) {
  std::vector<std::pair<std::string, std::vector<const Entry *>>> groups;
  for (const Entry &entry : entries) {
    if (!entry.relocatable || entry.kind != Kind::ptx) continue;
    auto group = std::find_if(groups.begin(), groups.end(), [&](auto &g) { return g.first == entry.name; });
    if (group == groups.end()) group = groups.insert(groups.end(), {entry.name, {}});
    group->second.push_back(&entry);
  }
  for (auto &group : groups) {
    const Entry *best = bestPtx(group.second, capability);
    if (!best) return false;
    chosen.push_back(best);
  }
  return true;
}

std::vector<const Entry *> wholePtx(const std::vector<Entry> &entries) {
  std::vector<const Entry *> whole;
  for (const Entry &entry : entries)
    if (entry.kind == Kind::ptx && !entry.relocatable) whole.push_back(&entry);
  return whole;
}

}  // namespace strata::fatbin
