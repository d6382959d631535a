// SPDX-License-Identifier: Apache-2.0
#include "driver/launch_operation.h"

#include <atomic>

#include "driver/memory.h"
#include "driver/scheduler.h"

namespace strata::driver {

namespace {

std::atomic<std::uint64_t> nextGridId{1};

}  // namespace

bool LaunchOperation::start(Turn &turn) {
  Memory::get().ranges().seal();
  simt::LaunchRequest request;
  request.kernel = std::move(launch_.kernel);
  for (int i = 0; i < 3; ++i) {
    request.gridDim[i] = launch_.gridDim[i];
    request.blockDim[i] = launch_.blockDim[i];
    request.clusterDim[i] = launch_.clusterDim[i];
  }
  request.dynamicShared = launch_.dynamicShared;
  request.params = std::move(launch_.params);
  request.globals = launch_.module->globals;
  request.gridId = nextGridId.fetch_add(1, std::memory_order_relaxed);
  request.cooperative = launch_.cooperative;
  request.explicitCluster = launch_.explicitCluster;
  request.group = turn.group;
  turn.context.device.engine().submit(std::move(request), [&turn](const simt::Fault &fault) {
    if (fault.kind != simt::FaultKind::none) turn.context.poison(fault);
    turn.complete();
  });
  return false;
}

}  // namespace strata::driver
