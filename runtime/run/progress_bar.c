#include "config.h"

#include "runtime/run/progress_bar.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { NARROW = 80, WIDEST_BAR = 40, MOST_TAIL = 42 };

static int columns(void)
{
	struct winsize w;
	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &w) != 0 || w.ws_col == 0)
		return NARROW;
	return w.ws_col;
}

/* "1:02:03", "2:03" */
static const char *duration(arena *a, double seconds)
{
	if (!(seconds >= 0 && seconds < 1e9))
		return "?";
	long n = lround(seconds), h = n / 3600, m = n / 60 % 60;
	return h > 0 ? arena_printf(a, "%ld:%02ld:%02ld", h, m, n % 60) :
		       arena_printf(a, "%ld:%02ld", m, n % 60);
}

/* "[=====>    ]", shorter in a narrow window. */
static const char *drawn(arena *a, const progress_bar_line *x, int width)
{
	char bar[WIDEST_BAR + 1];
	if (width > WIDEST_BAR)
		width = WIDEST_BAR;
	if (width < 3)
		return "";
	int done = (int)((double)width * (double)x->step / (double)x->steps);
	memset(bar, ' ', (size_t)width);
	memset(bar, '=', (size_t)done);
	if (done < width)
		bar[done] = '>';
	bar[width] = '\0';
	return arena_printf(a, " [%s]", bar);
}

void progress_bar_show(const session *s, const progress_bar_line *x)
{
	if (!session_has_progress(s))
		return;
	arena *work = arena_new();
	double left = (double)(x->steps - x->step) * (double)x->batch /
		      x->samples_per_second;
	const char *all = arena_printf(work, "%" PRId64, x->steps);
	const char *at = arena_printf(work, "step %*" PRId64 " of %s",
				      (int)strlen(all), x->step, all);
	const char *head = arena_printf(work, "epoch %" PRId64 ", %s",
					x->epoch, at);
	const char *tail = isnan(x->loss) ? "" :
			   arena_printf(work, " loss %.4g", x->loss);
	tail = arena_printf(work, "%s %.4g samples/s, %s left", tail,
			    x->samples_per_second, duration(work, left));
	/* The bar keeps its width although the numbers change theirs. */
	int used = (int)strlen(tail);
	used = used > MOST_TAIL ? used : MOST_TAIL;
	int room = columns() - (int)strlen(head) - used - 4;
	session_progress(s, "%s%s%s", head, drawn(work, x, room), tail);
	arena_free(work);
}
