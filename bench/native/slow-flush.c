// A disk whose flushes take longer, for a program that is started with this library in LD_PRELOAD: fsync, fdatasync and
// msync wait FLUSH_DELAY_US microseconds before they do their work. The file FLUSH_LOG, if named, grows by a byte for each
// of them.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { MICROSECONDS = 1000000, NANOSECONDS_PER_MICROSECOND = 1000 };

static void count_flush(void) {
  const char *path = getenv("FLUSH_LOG");
  if (path == NULL) return;
  int file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (file < 0 || write(file, ".", 1) != 1) abort();
  close(file);
}

static void wait_as_a_disk_would(void) {
  count_flush();
  const char *text = getenv("FLUSH_DELAY_US");
  long us = text == NULL ? 0 : atol(text);
  struct timespec left = {us / MICROSECONDS, us % MICROSECONDS * NANOSECONDS_PER_MICROSECOND};
  while (us > 0 && nanosleep(&left, &left) < 0 && errno == EINTR) continue;
}

int fsync(int file) {
  static int (*next)(int);
  if (next == NULL) next = dlsym(RTLD_NEXT, "fsync");
  wait_as_a_disk_would();
  return next(file);
}

int fdatasync(int file) {
  static int (*next)(int);
  if (next == NULL) next = dlsym(RTLD_NEXT, "fdatasync");
  wait_as_a_disk_would();
  return next(file);
}

int msync(void *address, size_t length, int flags) {
  static int (*next)(void *, size_t, int);
  if (next == NULL) next = dlsym(RTLD_NEXT, "msync");
  wait_as_a_disk_would();
  return next(address, length, flags);
}
