/* The report of a plan, written to a file. */
#ifndef TDL_COMPILER_DRIVER_REPORT_H
#define TDL_COMPILER_DRIVER_REPORT_H

#include "compiler/driver/driver.h"

/* Writes the page of report_json()'s result to path, whole or not at all;
 * prints a failure. */
cli_status report_write(driver *d, const json_t *report, const char *path);

#endif
