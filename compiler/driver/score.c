/* tdlc score: a plan of one's own beside the planners', or a placement. */
#include "config.h"

#include "compiler/driver/compare.h"
#include "compiler/driver/place.h"

cli_status command_score(driver *d, int argc, char **argv)
{
	return place_is_meant(argc, argv) ? place_score(d, argc, argv) :
					    compare_planners(d, argc, argv,
							     true);
}
