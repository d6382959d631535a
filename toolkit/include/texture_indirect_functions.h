/* SPDX-License-Identifier: Apache-2.0 */
/* Texture and surface functions of device code, so that a program that uses them is told what is missing. */
#ifndef __TEXTURE_INDIRECT_FUNCTIONS_H__
#define __TEXTURE_INDIRECT_FUNCTIONS_H__
#pragma GCC system_header

#if defined(__cplusplus) && defined(__CUDACC__)
#define STRATA_MISSING(name)                                                                                 \
  template <typename T = void, typename... Arguments>                                                        \
  __device__ T name(Arguments...) __attribute__((unavailable("textures and surfaces are not supported by Strata yet")));

STRATA_MISSING(tex1Dfetch)
STRATA_MISSING(tex1D)
STRATA_MISSING(tex1DLod)
STRATA_MISSING(tex1DGrad)
STRATA_MISSING(tex1DLayered)
STRATA_MISSING(tex1DLayeredLod)
STRATA_MISSING(tex1DLayeredGrad)
STRATA_MISSING(tex2D)
STRATA_MISSING(tex2DLod)
STRATA_MISSING(tex2DGrad)
STRATA_MISSING(tex2Dgather)
STRATA_MISSING(tex2DLayered)
STRATA_MISSING(tex2DLayeredLod)
STRATA_MISSING(tex2DLayeredGrad)
STRATA_MISSING(tex3D)
STRATA_MISSING(tex3DLod)
STRATA_MISSING(tex3DGrad)
STRATA_MISSING(texCubemap)
STRATA_MISSING(texCubemapLod)
STRATA_MISSING(texCubemapLayered)
STRATA_MISSING(texCubemapLayeredLod)
STRATA_MISSING(surf1Dread)
STRATA_MISSING(surf1Dwrite)
STRATA_MISSING(surf1DLayeredread)
STRATA_MISSING(surf1DLayeredwrite)
STRATA_MISSING(surf2Dread)
STRATA_MISSING(surf2Dwrite)
STRATA_MISSING(surf2DLayeredread)
STRATA_MISSING(surf2DLayeredwrite)
STRATA_MISSING(surf3Dread)
STRATA_MISSING(surf3Dwrite)
STRATA_MISSING(surfCubemapread)
STRATA_MISSING(surfCubemapwrite)
STRATA_MISSING(surfCubemapLayeredread)
STRATA_MISSING(surfCubemapLayeredwrite)
#undef STRATA_MISSING
#endif

#endif
