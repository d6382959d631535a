// SPDX-License-Identifier: Apache-2.0
// The least PNG writer: 8-bit RGB, stored (uncompressed) deflate blocks. Source: PNG specification,
// RFC 1950, RFC 1951.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace png {

inline void big32(std::string &out, std::uint32_t v) {
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back((char)(v >> shift));
}

inline std::uint32_t crc32(const std::string &bytes) {
  std::uint32_t crc = ~0u;
  for (unsigned char b : bytes) {
    crc ^= b;
    for (int k = 0; k < 8; ++k) crc = crc & 1 ? 0xEDB88320u ^ (crc >> 1) : crc >> 1;
  }
  return ~crc;
}

inline void chunk(std::string &out, const std::string &typeAndData) {
  big32(out, (std::uint32_t)typeAndData.size() - 4);
  out += typeAndData;
  big32(out, crc32(typeAndData));
}

inline std::string zlibStored(const std::string &raw) {
  std::string out = "\x78\x01";
  std::uint32_t a = 1, b = 0;  // Adler-32
  for (unsigned char c : raw) {
    a = (a + c) % 65521;
    b = (b + a) % 65521;
  }
  for (std::size_t at = 0; at < raw.size();) {
    std::size_t n = std::min<std::size_t>(65535, raw.size() - at);
    out.push_back(at + n == raw.size());
    for (std::size_t v : {n, ~n}) {
      out.push_back((char)v);
      out.push_back((char)(v >> 8));
    }
    out.append(raw, at, n);
    at += n;
  }
  big32(out, b << 16 | a);
  return out;
}

}  // namespace png

// rgb: 3 bytes per pixel, row by row. False if the file cannot be written.
inline bool writePng(const char *path, const std::vector<unsigned char> &rgb, int width, int height) {
  std::string raw, header = "IHDR", out = "\x89PNG\r\n\x1a\n";
  for (int y = 0; y < height; ++y) {
    raw.push_back(0);  // filter: none
    raw.append((const char *)&rgb[(std::size_t)y * width * 3], (std::size_t)width * 3);
  }
  png::big32(header, width);
  png::big32(header, height);
  header += std::string("\x08\x02\x00\x00\x00", 5);
  png::chunk(out, header);
  png::chunk(out, "IDAT" + png::zlibStored(raw));
  png::chunk(out, "IEND");
  std::FILE *file = std::fopen(path, "wb");
  if (!file) return false;
  bool ok = std::fwrite(out.data(), 1, out.size(), file) == out.size();
  return std::fclose(file) == 0 && ok;
}
