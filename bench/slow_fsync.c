/* Preloaded into a server to stand for a slower disk: each fsync takes DELAY_US longer. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

static void wait_a_little(void) {
    static long delay = -1;
    if (delay < 0) {
        const char *text = getenv("DELAY_US");
        delay = text ? atol(text) : 0;
    }
    if (delay > 0) usleep((useconds_t)delay);
}

int fsync(int fd) {
    static int (*real)(int);
    if (!real) real = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    wait_a_little();
    return real(fd);
}

int fdatasync(int fd) {
    static int (*real)(int);
    if (!real) real = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
    wait_a_little();
    return real(fd);
}
