// SPDX-License-Identifier: Apache-2.0
// The OpenCL peer (PoCL): the first CPU device found.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>

#include "case.h"

namespace bench {

inline void checkCl(cl_int status, const char *what) {
  if (status == CL_SUCCESS) return;
  std::fprintf(stderr, "bench: OpenCL: %s: %d\n", what, status);
  std::exit(1);
}

struct ClDevice {
  cl_device_id device{};
  cl_context context{};
  cl_command_queue queue{};

  static std::unique_ptr<ClDevice> open() {
    cl_uint count = 0;
    cl_platform_id platforms[8];
    if (clGetPlatformIDs(8, platforms, &count) != CL_SUCCESS) return nullptr;
    auto result = std::make_unique<ClDevice>();
    for (cl_uint p = 0; p < count; ++p) {
      if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_CPU, 1, &result->device, nullptr) != CL_SUCCESS) continue;
      result->context = clCreateContext(nullptr, 1, &result->device, nullptr, nullptr, nullptr);
      result->queue = clCreateCommandQueue(result->context, result->device, 0, nullptr);
      return result;
    }
    return nullptr;
  }
};

class ClRun {
public:
  ClRun(ClDevice &device, const Case &c) : device_(device), case_(c) {
    std::ifstream file(std::string(STRATA_BENCH_SOURCE) + "/" + c.name + "/" + c.name + ".cl");
    std::string source{std::istreambuf_iterator<char>(file), {}};
    const char *text = source.c_str();
    cl_int status;
    program_ = clCreateProgramWithSource(device.context, 1, &text, nullptr, &status);
    checkCl(clBuildProgram(program_, 1, &device.device, "-cl-fast-relaxed-math -cl-mad-enable", nullptr, nullptr),
            c.name.c_str());
    for (const Array &array : c.arrays) {
      buffers_.push_back(clCreateBuffer(device.context, CL_MEM_READ_WRITE, array.bytes.size(), nullptr, &status));
      checkCl(clEnqueueWriteBuffer(device.queue, buffers_.back(), CL_TRUE, 0, array.bytes.size(), array.bytes.data(), 0,
                                   nullptr, nullptr),
              "write");
    }
    for (const OpenCl::Launch &launch : c.opencl.launches) {
      kernels_.push_back(clCreateKernel(program_, launch.kernel.c_str(), &status));
      checkCl(status, launch.kernel.c_str());
      cl_uint index = 0;
      for (cl_mem &buffer : buffers_)
        checkCl(clSetKernelArg(kernels_.back(), index++, sizeof(cl_mem), &buffer), "argument");
      for (const OpenCl::Scalars *scalars : {&launch.scalars, &c.opencl.scalars})
        for (const auto &scalar : *scalars)
          checkCl(clSetKernelArg(kernels_.back(), index++, scalar.size(), scalar.data()), "argument");
    }
  }
  ~ClRun() {
    for (cl_mem buffer : buffers_) clReleaseMemObject(buffer);
    for (cl_kernel kernel : kernels_) clReleaseKernel(kernel);
    clReleaseProgram(program_);
  }
  void operator()() {
    for (std::size_t i = 0; i < kernels_.size(); ++i) {
      const OpenCl::Launch &launch = case_.opencl.launches[i];
      const std::vector<std::size_t> global(launch.global.begin(), launch.global.end()),
          local(launch.local.begin(), launch.local.end());
      checkCl(clEnqueueNDRangeKernel(device_.queue, kernels_[i], (cl_uint)global.size(), nullptr, global.data(),
                                     local.data(), 0, nullptr, nullptr),
              "launch");
    }
    checkCl(clFinish(device_.queue), "finish");
  }
  std::vector<std::vector<std::uint8_t>> results() {
    std::vector<std::vector<std::uint8_t>> copies;
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      copies.emplace_back(case_.arrays[i].bytes.size());
      checkCl(clEnqueueReadBuffer(device_.queue, buffers_[i], CL_TRUE, 0, copies.back().size(), copies.back().data(), 0,
                                  nullptr, nullptr),
              "read");
    }
    return copies;
  }

private:
  ClDevice &device_;
  const Case &case_;
  cl_program program_{};
  std::vector<cl_kernel> kernels_;
  std::vector<cl_mem> buffers_;
};

}  // namespace bench
