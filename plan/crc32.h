/* The checksum of zip, PNG and zlib. */
#ifndef TDL_PLAN_CRC32_H
#define TDL_PLAN_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* The checksum of some bytes and n more; 0 for none. */
uint32_t crc32_add(uint32_t crc, const void *data, size_t n);

#endif
