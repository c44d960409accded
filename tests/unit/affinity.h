/* The processors on which the process may run, as processors() sees them. */
#ifndef TDL_TESTS_UNIT_AFFINITY_H
#define TDL_TESTS_UNIT_AFFINITY_H

/* There are n of them; 0: as many as there are. */
void pretend_processors(int n);

#endif
