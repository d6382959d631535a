// SPDX-License-Identifier: Apache-2.0
// NVTX 3: marks and ranges for a profiler. No profiler attaches to Strata, so each call does and returns what NVTX
// defines for that: pushes and pops answer NVTX_NO_PUSH_POP_TRACKING, handles and range numbers are 0.
#ifndef STRATA_NVTX3_NVTOOLSEXT_H
#define STRATA_NVTX3_NVTOOLSEXT_H
#pragma GCC system_header

#include <stddef.h>
#include <stdint.h>

#define NVTX_VERSION 3
#define NVTX_SUCCESS 0
#define NVTX_FAIL 1
#define NVTX_NO_PUSH_POP_TRACKING ((int)-2)
#define NVTX_INLINE_STATIC static inline
#define NVTX_DECLSPEC NVTX_INLINE_STATIC
#define NVTX_API

typedef enum nvtxColorType_t { NVTX_COLOR_UNKNOWN = 0, NVTX_COLOR_ARGB = 1 } nvtxColorType_t;
typedef enum nvtxMessageType_t {
  NVTX_MESSAGE_UNKNOWN = 0,
  NVTX_MESSAGE_TYPE_ASCII = 1,
  NVTX_MESSAGE_TYPE_UNICODE = 2,
  NVTX_MESSAGE_TYPE_REGISTERED = 3
} nvtxMessageType_t;
typedef enum nvtxPayloadType_t {
  NVTX_PAYLOAD_UNKNOWN = 0,
  NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 = 1,
  NVTX_PAYLOAD_TYPE_INT64 = 2,
  NVTX_PAYLOAD_TYPE_DOUBLE = 3,
  NVTX_PAYLOAD_TYPE_UNSIGNED_INT32 = 4,
  NVTX_PAYLOAD_TYPE_INT32 = 5,
  NVTX_PAYLOAD_TYPE_FLOAT = 6
} nvtxPayloadType_t;

typedef uint64_t nvtxRangeId_t;
typedef struct nvtxDomainRegistration_st *nvtxDomainHandle_t;
typedef struct nvtxStringRegistration_st *nvtxStringHandle_t;

typedef union nvtxMessageValue_t {
  const char *ascii;
  const wchar_t *unicode;
  nvtxStringHandle_t registered;
} nvtxMessageValue_t;

typedef struct nvtxEventAttributes_v2 {
  uint16_t version;  // NVTX_VERSION
  uint16_t size;     // NVTX_EVENT_ATTRIB_STRUCT_SIZE
  uint32_t category;
  int32_t colorType;  // nvtxColorType_t
  uint32_t color;
  int32_t payloadType;  // nvtxPayloadType_t
  int32_t reserved0;
  union payload_t {
    uint64_t ullValue;
    int64_t llValue;
    double dValue;
    uint32_t uiValue;
    int32_t iValue;
    float fValue;
  } payload;
  int32_t messageType;  // nvtxMessageType_t
  nvtxMessageValue_t message;
} nvtxEventAttributes_t;
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))

NVTX_DECLSPEC void nvtxInitialize(const void *reserved) { (void)reserved; }

NVTX_DECLSPEC void nvtxMarkEx(const nvtxEventAttributes_t *event) { (void)event; }
NVTX_DECLSPEC void nvtxMarkA(const char *message) { (void)message; }
NVTX_DECLSPEC void nvtxMarkW(const wchar_t *message) { (void)message; }
NVTX_DECLSPEC nvtxRangeId_t nvtxRangeStartEx(const nvtxEventAttributes_t *event) { return (void)event, 0; }
NVTX_DECLSPEC nvtxRangeId_t nvtxRangeStartA(const char *message) { return (void)message, 0; }
NVTX_DECLSPEC nvtxRangeId_t nvtxRangeStartW(const wchar_t *message) { return (void)message, 0; }
NVTX_DECLSPEC void nvtxRangeEnd(nvtxRangeId_t range) { (void)range; }
NVTX_DECLSPEC int nvtxRangePushEx(const nvtxEventAttributes_t *event) { return (void)event, NVTX_NO_PUSH_POP_TRACKING; }
NVTX_DECLSPEC int nvtxRangePushA(const char *message) { return (void)message, NVTX_NO_PUSH_POP_TRACKING; }
NVTX_DECLSPEC int nvtxRangePushW(const wchar_t *message) { return (void)message, NVTX_NO_PUSH_POP_TRACKING; }
NVTX_DECLSPEC int nvtxRangePop(void) { return NVTX_NO_PUSH_POP_TRACKING; }
NVTX_DECLSPEC void nvtxNameCategoryA(uint32_t category, const char *name) { (void)category, (void)name; }
NVTX_DECLSPEC void nvtxNameCategoryW(uint32_t category, const wchar_t *name) { (void)category, (void)name; }
NVTX_DECLSPEC void nvtxNameOsThreadA(uint32_t thread, const char *name) { (void)thread, (void)name; }
NVTX_DECLSPEC void nvtxNameOsThreadW(uint32_t thread, const wchar_t *name) { (void)thread, (void)name; }

NVTX_DECLSPEC nvtxDomainHandle_t nvtxDomainCreateA(const char *name) { return (void)name, (nvtxDomainHandle_t)0; }
NVTX_DECLSPEC nvtxDomainHandle_t nvtxDomainCreateW(const wchar_t *name) { return (void)name, (nvtxDomainHandle_t)0; }
NVTX_DECLSPEC void nvtxDomainDestroy(nvtxDomainHandle_t domain) { (void)domain; }
NVTX_DECLSPEC nvtxStringHandle_t nvtxDomainRegisterStringA(nvtxDomainHandle_t domain, const char *text) {
  return (void)domain, (void)text, (nvtxStringHandle_t)0;
}
NVTX_DECLSPEC nvtxStringHandle_t nvtxDomainRegisterStringW(nvtxDomainHandle_t domain, const wchar_t *text) {
  return (void)domain, (void)text, (nvtxStringHandle_t)0;
}
NVTX_DECLSPEC void nvtxDomainNameCategoryA(nvtxDomainHandle_t domain, uint32_t category, const char *name) {
  (void)domain, (void)category, (void)name;
}
NVTX_DECLSPEC void nvtxDomainNameCategoryW(nvtxDomainHandle_t domain, uint32_t category, const wchar_t *name) {
  (void)domain, (void)category, (void)name;
}
NVTX_DECLSPEC void nvtxDomainMarkEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event) {
  (void)domain, (void)event;
}
NVTX_DECLSPEC nvtxRangeId_t nvtxDomainRangeStartEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event) {
  return (void)domain, (void)event, 0;
}
NVTX_DECLSPEC void nvtxDomainRangeEnd(nvtxDomainHandle_t domain, nvtxRangeId_t range) { (void)domain, (void)range; }
NVTX_DECLSPEC int nvtxDomainRangePushEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event) {
  return (void)domain, (void)event, NVTX_NO_PUSH_POP_TRACKING;
}
NVTX_DECLSPEC int nvtxDomainRangePop(nvtxDomainHandle_t domain) { return (void)domain, NVTX_NO_PUSH_POP_TRACKING; }

#ifdef UNICODE
#define nvtxMark nvtxMarkW
#define nvtxRangeStart nvtxRangeStartW
#define nvtxRangePush nvtxRangePushW
#define nvtxNameCategory nvtxNameCategoryW
#define nvtxNameOsThread nvtxNameOsThreadW
#define nvtxDomainCreate nvtxDomainCreateW
#define nvtxDomainRegisterString nvtxDomainRegisterStringW
#define nvtxDomainNameCategory nvtxDomainNameCategoryW
#else
#define nvtxMark nvtxMarkA
#define nvtxRangeStart nvtxRangeStartA
#define nvtxRangePush nvtxRangePushA
#define nvtxNameCategory nvtxNameCategoryA
#define nvtxNameOsThread nvtxNameOsThreadA
#define nvtxDomainCreate nvtxDomainCreateA
#define nvtxDomainRegisterString nvtxDomainRegisterStringA
#define nvtxDomainNameCategory nvtxDomainNameCategoryA
#endif

#endif
