/* The commands of tdlc. */
#ifndef TDL_COMPILER_DRIVER_COMMANDS_H
#define TDL_COMPILER_DRIVER_COMMANDS_H

#include "compiler/driver/page.h"

#define PAGE(name, synopsis, about) \
	cli_status command_##name(page *p, int argc, char **argv);
#include "compiler/driver/commands.def"
#undef PAGE

#endif
