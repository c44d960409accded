/* A hint to the processor that a loop waits for another thread. */
#ifndef TDL_BASE_PAUSE_H
#define TDL_BASE_PAUSE_H

static inline void pause_processor(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield" ::: "memory");
#endif
}

#endif
