/* The operators of net.tdl, by the header that tdlc makes of it, and the version
 * of the library. */
#include <stdio.h>

#include <tdl/tdl.h>

#include "net.h"

int main(void)
{
	for (int i = 0; i < net_count; i++)
		printf("%s\n", net_names[i]);
	printf("libtdl %s\n", tdl_version());
	return 0;
}
