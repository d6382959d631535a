// SPDX-License-Identifier: Apache-2.0
// A libcuda that computes nothing: two devices of capability 9.0 whose memory is the host's. It keeps the
// calls it receives, one line each, for the tests to compare.
#pragma once

#include <string>
#include <vector>

#include "toolkit/include/cuda.h"

struct MockDriver {
  std::vector<std::string> calls;  // "name(argument, …)", for the calls that tests look at
  std::string failing;             // this entry returns `failure`, until cleared
  CUresult failure = CUDA_SUCCESS;
  std::string lastImage;  // the text of the last module loaded
  int modulesLoaded = 0, modulesAlive = 0;

  decltype(&cuCtxGetCurrent) getCurrent = nullptr;
  decltype(&cuCtxSetCurrent) setCurrent = nullptr;

  std::vector<std::string> take() {
    std::vector<std::string> taken;
    taken.swap(calls);
    return taken;
  }
};

extern "C" MockDriver *mockDriver();
