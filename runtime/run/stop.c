#include "config.h"

#include "runtime/run/stop.h"

#include <pthread.h>
#include <stddef.h>
#include <time.h>

static sigset_t both(void)
{
	sigset_t s;
	sigemptyset(&s);
	sigaddset(&s, SIGINT);
	sigaddset(&s, SIGTERM);
	return s;
}

void stop_hold(sigset_t *before)
{
	sigset_t s = both();
	pthread_sigmask(SIG_BLOCK, &s, before);
}

int stop_asked(void)
{
	const struct timespec at_once = { 0 };
	sigset_t s = both();
	int signal = sigtimedwait(&s, NULL, &at_once);
	return signal > 0 ? signal : 0;
}

void stop_release(const sigset_t *before)
{
	pthread_sigmask(SIG_SETMASK, before, NULL);
}

void stop_now(int signal)
{
	sigset_t s = both();
	struct sigaction action = { .sa_handler = SIG_DFL };
	sigaction(signal, &action, NULL);
	pthread_sigmask(SIG_UNBLOCK, &s, NULL);
	raise(signal);
}
