// SPDX-License-Identifier: Apache-2.0
#include "fused.h"

#include <ATen/ATen.h>
#include <ATen/OpMathType.h>

#include <array>
#include <limits>
#include <optional>
#include <tuple>
#include <vector>

namespace strata_cuda {
namespace {

// ---- Attention: the CPU's fused form where it applies, with its gradient; else the one that is written in operators
// --

bool fits(const at::Tensor &query, const at::Tensor &key, const at::Tensor &value,
          const std::optional<at::Tensor> &mask, double dropout, bool grouped) {
  const auto plain = [&](const at::Tensor &t) {
    return t.dim() == 4 && t.numel() > 0 && t.size(-1) == query.size(-1) && t.stride(-1) == 1 &&
           t.scalar_type() == query.scalar_type();
  };
  const auto type = query.scalar_type();
  return dropout == 0 && !grouped && plain(query) && plain(key) && plain(value) && query.size(0) == key.size(0) &&
         query.size(1) == key.size(1) &&
         (type == at::kFloat || type == at::kBFloat16 || type == at::kHalf || type == at::kDouble) &&
         (!mask || !mask->defined() || (!mask->requires_grad() && (mask->dim() == 2 || mask->dim() == 4)));
}

at::Tensor attention(const at::Tensor &query, const at::Tensor &key, const at::Tensor &value,
                     const std::optional<at::Tensor> &mask, double dropout, bool causal, std::optional<double> scale,
                     bool grouped) {
  if (!fits(query, key, value, mask, dropout, grouped))
    return std::get<0>(
        at::_scaled_dot_product_attention_math(query, key, value, mask, dropout, causal, std::nullopt, scale, grouped));
  std::optional<at::Tensor> added = mask;
  if (mask && mask->defined() && mask->scalar_type() == at::kBool)
    added = at::zeros(mask->sizes(), query.options().requires_grad(false))
                .masked_fill_(mask->logical_not(), -std::numeric_limits<double>::infinity());
  return std::get<0>(at::_scaled_dot_product_flash_attention_for_cpu(query, key, value, dropout, causal, added, scale));
}

// ---- Cells and norms

using OptionalTensor = std::optional<at::Tensor>;

at::Tensor withBias(const at::Tensor &gates, const OptionalTensor &bias) {
  return bias && bias->defined() ? gates + *bias : gates;
}

// Workspace: the gates after their functions, which the gradient needs.
std::tuple<at::Tensor, at::Tensor, at::Tensor> lstmCell(const at::Tensor &inputGates, const at::Tensor &hiddenGates,
                                                        const at::Tensor &cx, const OptionalTensor &inputBias,
                                                        const OptionalTensor &hiddenBias) {
  std::vector<at::Tensor> g = (withBias(inputGates, inputBias) + withBias(hiddenGates, hiddenBias)).chunk(4, 1);
  const at::Tensor i = g[0].sigmoid(), f = g[1].sigmoid(), c = g[2].tanh(), o = g[3].sigmoid();
  const at::Tensor cy = f * cx + i * c;
  return {o * cy.tanh(), cy, at::cat({i, f, c, o}, 1)};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> lstmCellBackward(const OptionalTensor &gradHy,
                                                                const OptionalTensor &gradCy, const at::Tensor &cx,
                                                                const at::Tensor &cy, const at::Tensor &workspace,
                                                                bool hasBias) {
  std::vector<at::Tensor> g = workspace.chunk(4, 1);
  const at::Tensor &i = g[0], &f = g[1], &c = g[2], &o = g[3];
  const at::Tensor t = cy.tanh();
  at::Tensor gradC = gradCy && gradCy->defined() ? *gradCy : at::zeros_like(cy);
  at::Tensor gradO = at::zeros_like(o);
  if (gradHy && gradHy->defined()) {
    gradO = *gradHy * t * o * (1 - o);
    gradC = gradC + *gradHy * o * (1 - t * t);
  }
  const at::Tensor gates =
      at::cat({gradC * c * i * (1 - i), gradC * cx * f * (1 - f), gradC * i * (1 - c * c), gradO}, 1);
  return {gates, gradC * f, hasBias ? gates.sum(0) : at::Tensor()};
}

// Workspace: reset gate, input gate, new gate, the old state, and the hidden part of the new gate.
std::tuple<at::Tensor, at::Tensor> gruCell(const at::Tensor &inputGates, const at::Tensor &hiddenGates,
                                           const at::Tensor &hx, const OptionalTensor &inputBias,
                                           const OptionalTensor &hiddenBias) {
  std::vector<at::Tensor> x = withBias(inputGates, inputBias).chunk(3, 1),
                          h = withBias(hiddenGates, hiddenBias).chunk(3, 1);
  const at::Tensor r = (x[0] + h[0]).sigmoid(), z = (x[1] + h[1]).sigmoid(), n = (x[2] + r * h[2]).tanh();
  return {(hx - n) * z + n, at::cat({r, z, n, hx, h[2]}, 1)};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor> gruCellBackward(const at::Tensor &gradHy,
                                                                                       const at::Tensor &workspace,
                                                                                       bool hasBias) {
  std::vector<at::Tensor> w = workspace.chunk(5, 1);
  const at::Tensor &r = w[0], &z = w[1], &n = w[2], &hx = w[3], &h = w[4];
  const at::Tensor gradZ = gradHy * (hx - n) * z * (1 - z), gradN = gradHy * (1 - z) * (1 - n * n);
  const at::Tensor gradR = gradN * h * r * (1 - r);
  const at::Tensor input = at::cat({gradR, gradZ, gradN}, 1), hidden = at::cat({gradR, gradZ, gradN * r}, 1);
  return {input, hidden, gradHy * z, hasBias ? input.sum(0) : at::Tensor(), hasBias ? hidden.sum(0) : at::Tensor()};
}

// Over the last dimensions; `rstd` is of the type that sums are taken in.
std::tuple<at::Tensor, at::Tensor> rmsNorm(const at::Tensor &input, at::IntArrayRef shape, const OptionalTensor &weight,
                                           std::optional<double> eps) {
  const auto sumType = at::toOpMathType(input.scalar_type());
  std::vector<std::int64_t> dimensions;
  for (std::int64_t d = input.dim() - static_cast<std::int64_t>(shape.size()); d < input.dim(); ++d)
    dimensions.push_back(d);
  const at::Tensor x = input.to(sumType);
  const double least =
      sumType == at::kDouble ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
  const at::Tensor rstd = (x * x).mean(dimensions, /*keepdim=*/true).add(eps.value_or(least)).rsqrt();
  at::Tensor y = x * rstd;
  if (weight && weight->defined()) y = y * weight->to(sumType);
  return {y.to(input.scalar_type()), rstd};
}

std::tuple<at::Tensor, at::Tensor> rmsNormBackward(const at::Tensor &grad, const at::Tensor &input,
                                                   at::IntArrayRef shape, const at::Tensor &rstd,
                                                   const OptionalTensor &weight, std::array<bool, 2> wanted) {
  const auto sumType = rstd.scalar_type();
  const std::int64_t outer = input.dim() - static_cast<std::int64_t>(shape.size());
  std::vector<std::int64_t> inner, rows;
  for (std::int64_t d = 0; d < input.dim(); ++d) (d < outer ? rows : inner).push_back(d);
  const at::Tensor g = grad.to(sumType), normal = input.to(sumType) * rstd;
  const at::Tensor weighted = weight && weight->defined() ? g * weight->to(sumType) : g;
  at::Tensor gradInput, gradWeight;
  if (wanted[0])
    gradInput = (rstd * (weighted - normal * (weighted * normal).mean(inner, true))).to(input.scalar_type());
  if (wanted[1] && weight && weight->defined())
    gradWeight = (rows.empty() ? g * normal : (g * normal).sum(rows)).to(weight->scalar_type());
  return {gradInput, gradWeight};
}

at::Tensor mmAs(const at::Tensor &a, const at::Tensor &b, at::ScalarType type) {
  return at::mm(a.to(type), b.to(type));
}
at::Tensor bmmAs(const at::Tensor &a, const at::Tensor &b, at::ScalarType type) {
  return at::bmm(a.to(type), b.to(type));
}
at::Tensor addmmAs(const at::Tensor &c, const at::Tensor &a, const at::Tensor &b, at::ScalarType type,
                   const at::Scalar &beta, const at::Scalar &alpha) {
  return at::addmm(c.to(type), a.to(type), b.to(type), beta, alpha);
}
at::Tensor baddbmmAs(const at::Tensor &c, const at::Tensor &a, const at::Tensor &b, at::ScalarType type,
                     const at::Scalar &beta, const at::Scalar &alpha) {
  return at::baddbmm(c.to(type), a.to(type), b.to(type), beta, alpha);
}

}  // namespace

void addFused(torch::Library &cuda, torch::Library &autograd) {
  const auto no = [](const at::Tensor &, const at::Tensor &, at::IntArrayRef, at::IntArrayRef, std::int64_t) {
    return false;
  };
  const auto noFromTensors = [](const at::Tensor &, const at::Tensor &, const at::Tensor &, const at::Tensor &,
                                std::int64_t) { return false; };
  cuda.impl("_use_cudnn_ctc_loss", no);
  cuda.impl("_use_cudnn_ctc_loss.Tensor", noFromTensors);
  cuda.impl("_thnn_fused_lstm_cell", &lstmCell);
  cuda.impl("_thnn_fused_lstm_cell_backward_impl", &lstmCellBackward);
  cuda.impl("_thnn_fused_gru_cell", &gruCell);
  cuda.impl("_thnn_fused_gru_cell_backward", &gruCellBackward);
  cuda.impl("_fused_rms_norm", &rmsNorm);
  cuda.impl("_fused_rms_norm_backward", &rmsNormBackward);
  cuda.impl("scaled_dot_product_attention", &attention);
  autograd.impl("scaled_dot_product_attention", &attention);
  cuda.impl("mm.dtype", &mmAs);
  cuda.impl("mm.dtype_out",
            [](const at::Tensor &a, const at::Tensor &b, at::ScalarType type, at::Tensor &out) -> at::Tensor & {
              return at::mm_out(out, a.to(type), b.to(type));
            });
  cuda.impl("bmm.dtype", &bmmAs);
  cuda.impl("addmm.dtype", &addmmAs);
  cuda.impl("baddbmm.dtype", &baddbmmAs);
}

}  // namespace strata_cuda
