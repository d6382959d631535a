// SPDX-License-Identifier: Apache-2.0
// No include guard: ends each use of api.def.
#undef RT_TOPIC
#undef RT_UNPACK
#undef RT
#undef RT_STREAM
#undef RT_FORWARD
#undef RT_FORWARD_STREAM
#undef RT_PLAIN
#undef RT_ABSENT
#undef RT_ABSENT_STREAM
