/*
 * Fails one file operation of the process that it is preloaded into. Operations below FAULT_ROOT are logged to FAULT_LOG
 * as "NAME PATH". The FAULT_AT-th one with the name FAULT_NAME fails with the error FAULT_ERRNO, or kills the process:
 * before it (FAULT_KILL=1) or, for a write, halfway through it (FAULT_KILL=2). With FAULT_LASTING=1 every later one of
 * that name fails as well. Children start without it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static char root[4096], failing[16];
static size_t root_length;
static int log_fd = -1, error_number, kill_mode, lasting;
static long fail_at;
static atomic_long counter;

static long number_from(const char *name) {
  const char *text = getenv(name);
  return text == NULL ? 0 : atol(text);
}

__attribute__((constructor)) static void start(void) {
  const char *folder = getenv("FAULT_ROOT"), *log = getenv("FAULT_LOG");
  if (folder != NULL && log != NULL) {
    snprintf(root, sizeof root, "%s", folder);
    root_length = strlen(root);
    fail_at = number_from("FAULT_AT");
    snprintf(failing, sizeof failing, "%s", getenv("FAULT_NAME") == NULL ? "" : getenv("FAULT_NAME"));
    error_number = (int)number_from("FAULT_ERRNO");
    kill_mode = (int)number_from("FAULT_KILL");
    lasting = (int)number_from("FAULT_LASTING");
    log_fd = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  }
  const char *names[] = {"LD_PRELOAD", "FAULT_ROOT", "FAULT_LOG", "FAULT_AT", "FAULT_NAME", "FAULT_ERRNO", "FAULT_KILL", "FAULT_LASTING"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) unsetenv(names[i]);
}

static int is_inside(const char *path) {
  return log_fd >= 0 && path != NULL && (path[0] != '/' || strncmp(path, root, root_length) == 0);
}

static void end_here(void) {
  syscall(SYS_kill, getpid(), SIGKILL);
  for (;;) pause();
}

/* Counts an operation. Returns 1 if it has to fail, with errno set. */
static int fails(const char *name, const char *path) {
  if (!is_inside(path)) return 0;
  char line[4400];
  int length = snprintf(line, sizeof line, "%s %s\n", name, path);
  if (length >= (int)sizeof line) length = sizeof line - 1;
  syscall(SYS_write, log_fd, line, (size_t)length);
  if (strcmp(name, failing) != 0) return 0;
  long number = atomic_fetch_add(&counter, 1) + 1;
  if (number != fail_at && !(lasting && number > fail_at)) return 0;
  if (kill_mode == 1) end_here();
  if (error_number == 0) return 0;
  errno = error_number;
  return 1;
}

/* The file that a descriptor stands for; NULL if it is not below the root. */
static const char *path_of(int fd, char *path, size_t size) {
  if (log_fd < 0) return NULL;
  char entry[40];
  snprintf(entry, sizeof entry, "/proc/self/fd/%d", fd);
  ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, entry, path, size - 1);
  if (length <= 0) return NULL;
  path[length] = 0;
  return path[0] == '/' && is_inside(path) ? path : NULL;
}

/* Writes one half and ends the process, if this is the write to be torn. */
static void tear(int fd, const void *data, size_t size) {
  if (kill_mode != 2 || strcmp(failing, "write") != 0 || atomic_load(&counter) != fail_at) return;
  syscall(SYS_write, fd, data, size / 2);
  end_here();
}

#define ORIGINAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int opened(int folder, const char *path, int flags, mode_t mode) {
  if (fails((flags & (O_WRONLY | O_RDWR)) != 0 ? "open" : "read", path)) return -1;
  return (int)syscall(SYS_openat, folder, path, flags, mode);
}

#define OPEN(name)                                   \
  int name(const char *path, int flags, ...) {       \
    va_list rest;                                    \
    va_start(rest, flags);                           \
    mode_t mode = va_arg(rest, mode_t);              \
    va_end(rest);                                    \
    return opened(AT_FDCWD, path, flags, mode);      \
  }
OPEN(open)
OPEN(open64)

ssize_t write(int fd, const void *data, size_t size) {
  char buffer[4096];
  const char *path = path_of(fd, buffer, sizeof buffer);
  if (path != NULL && fails("write", path)) return -1;
  if (path != NULL) tear(fd, data, size);
  return syscall(SYS_write, fd, data, size);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset) {
  char buffer[4096];
  const char *path = path_of(fd, buffer, sizeof buffer);
  if (path != NULL && fails("write", path)) return -1;
  if (path != NULL) tear(fd, data, size);
  return syscall(SYS_pwrite64, fd, data, size, offset);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
  char buffer[4096];
  const char *path = path_of(fd, buffer, sizeof buffer);
  if (path != NULL && fails("write", path)) return -1;
  if (path != NULL && count > 0) tear(fd, parts[0].iov_base, parts[0].iov_len);
  return syscall(SYS_writev, fd, parts, count);
}

int fsync(int fd) {
  char buffer[4096];
  const char *path = path_of(fd, buffer, sizeof buffer);
  return path != NULL && fails("fsync", path) ? -1 : (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd) {
  char buffer[4096];
  const char *path = path_of(fd, buffer, sizeof buffer);
  return path != NULL && fails("fsync", path) ? -1 : (int)syscall(SYS_fdatasync, fd);
}

int ftruncate64(int fd, off64_t size) {
  char buffer[4096];
  const char *path = path_of(fd, buffer, sizeof buffer);
  return path != NULL && fails("truncate", path) ? -1 : (int)syscall(SYS_ftruncate, fd, size);
}

int rename(const char *from, const char *to) {
  return fails("rename", to) ? -1 : ORIGINAL(rename)(from, to);
}

int link(const char *from, const char *to) {
  return fails("link", to) ? -1 : ORIGINAL(link)(from, to);
}

int unlink(const char *path) {
  return fails("unlink", path) ? -1 : ORIGINAL(unlink)(path);
}

int mkdir(const char *path, mode_t mode) {
  return fails("mkdir", path) ? -1 : ORIGINAL(mkdir)(path, mode);
}
