/* The commands of tdlc that use the library through tdl.h alone. */
#ifndef TDL_COMPILER_DRIVER_COMMANDS_H
#define TDL_COMPILER_DRIVER_COMMANDS_H

#include "compiler/driver/page.h"

#define PAGE(name, synopsis, about) \
	cli_status command_##name(page *p, int argc, char **argv);
#define COMMAND(name, synopsis, about)
#include "compiler/driver/commands.def"
#undef PAGE
#undef COMMAND

#endif
