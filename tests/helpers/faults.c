/* A disk that fails, for tests: preloaded (LD_PRELOAD), it counts the calls of the C library that change what lies under
 * one folder, and makes one of them fail, be short, wait, or be the last of the process.
 *
 * FAULT_UNDER   folder, an absolute path; nothing is counted without it
 * FAULT_AT      number of the call, from 1; 0 counts only
 * FAULT_KIND    eio, enospc: the call fails so. full: from this call on, whatever needs room fails with ENOSPC.
 *               short: half of what is to be written is. kill: half is, then SIGKILL; other calls are not made.
 *               pause: makes FAULT_FLAG.there, and waits for FAULT_FLAG.go
 * FAULT_READS   1: opening a file to read it counts too
 * FAULT_LOG     gets a line for each call that was made and succeeded: number, name, path, second path
 *
 * fault_reload() reads them again, in a process that was forked.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { NONE, EIO_KIND, ENOSPC_KIND, FULL, SHORT, KILL, PAUSE };
/* What a call is: one that needs room on the disk, one that writes, or another. */
enum class { OTHER, ROOM, WRITES };

static char under[PATH_MAX], flag[PATH_MAX];
static long at;
static enum kind kind;
static int log_fd = -1, reads;
static atomic_long calls;

void fault_reload(void)
{
	static const char *const names[] = { "none", "eio", "enospc", "full", "short", "kill", "pause" };
	const char *text;

	snprintf(under, sizeof(under), "%s", (text = getenv("FAULT_UNDER")) ? text : "");
	snprintf(flag, sizeof(flag), "%s", (text = getenv("FAULT_FLAG")) ? text : "");
	at = (text = getenv("FAULT_AT")) ? atol(text) : 0;
	reads = (text = getenv("FAULT_READS")) && *text == '1';
	kind = NONE;
	text = getenv("FAULT_KIND");
	for (size_t i = 0; text && i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(text, names[i]))
			kind = (enum kind)i;
	if (log_fd >= 0)
		syscall(SYS_close, log_fd);
	text = getenv("FAULT_LOG");
	log_fd = text ? (int)syscall(SYS_openat, AT_FDCWD, text, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644) : -1;
	atomic_store(&calls, 0);
}

__attribute__((constructor)) static void start(void)
{
	fault_reload();
}

/* The absolute path of `path` beside folder `dirfd`, of the file of `dirfd` where there is no path. */
static void absolute(char *buffer, int dirfd, const char *path)
{
	char link[64];
	ssize_t len = 0;

	buffer[0] = '\0';
	if (path && path[0] == '/') {
		snprintf(buffer, PATH_MAX, "%s", path);
		return;
	}
	if (dirfd == AT_FDCWD) {
		if (!getcwd(buffer, PATH_MAX))
			buffer[0] = '\0';
		len = (ssize_t)strlen(buffer);
	} else {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", dirfd);
		len = readlink(link, buffer, PATH_MAX - 1);
		buffer[len > 0 ? len : 0] = '\0';
	}
	if (path && len > 0)
		snprintf(buffer + len, PATH_MAX - (size_t)len, "/%s", path);
}

static int is_under(const char *path)
{
	size_t len = strlen(under);

	return len && !strncmp(path, under, len) && (path[len] == '\0' || path[len] == '/');
}

static void wait_for_go(void)
{
	char name[PATH_MAX + 8];
	int fd;

	snprintf(name, sizeof(name), "%s.there", flag);
	fd = (int)syscall(SYS_openat, AT_FDCWD, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (fd >= 0)
		syscall(SYS_close, fd);
	snprintf(name, sizeof(name), "%s.go", flag);
	while (access(name, F_OK))
		usleep(2000);
}

/* The number of a call; 0 for one that does not count. `*fault` is what is to become of it. */
static long number(enum class what, const char *path, enum kind *fault)
{
	long n;

	*fault = NONE;
	if (!is_under(path))
		return 0;
	n = atomic_fetch_add(&calls, 1) + 1;
	if (kind == FULL && n >= at && what != OTHER)
		*fault = ENOSPC_KIND;
	else if (n == at && kind != FULL)
		*fault = kind;
	if (*fault == SHORT && what != WRITES)
		*fault = NONE;
	if (*fault == PAUSE) {
		wait_for_go();
		*fault = NONE;
	}
	return n;
}

static void logged(long n, const char *name, const char *path, const char *other)
{
	char line[3 * PATH_MAX];
	int len, before = errno;

	if (!n || log_fd < 0)
		return;
	len = snprintf(line, sizeof(line), "%ld\t%s\t%s\t%s\n", n, name, path, other ? other : "");
	syscall(SYS_write, log_fd, line, (size_t)len);
	errno = before;
}

/* Whether the call fails now, with errno set; a killed one does not come back. */
static int fails(enum kind fault)
{
	if (fault == KILL)
		syscall(SYS_kill, getpid(), SIGKILL);
	if (fault != EIO_KIND && fault != ENOSPC_KIND)
		return 0;
	errno = fault == EIO_KIND ? EIO : ENOSPC;
	return 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* A call on a path, or on two. */
#define ON_PATH(result, name, parameters, arguments, what, dirfd, path)                                                        \
	result name parameters                                                                                               \
	{                                                                                                                    \
		char full[PATH_MAX];                                                                                         \
		enum kind fault;                                                                                             \
		long n;                                                                                                      \
		result done;                                                                                                 \
		absolute(full, dirfd, path);                                                                                 \
		n = number(what, full, &fault);                                                                              \
		if (fails(fault))                                                                                            \
			return -1;                                                                                           \
		done = REAL(name) arguments;                                                                                 \
		if (done >= 0)                                                                                               \
			logged(n, #name, full, NULL);                                                                        \
		return done;                                                                                                 \
	}

#define ON_PATHS(name, parameters, arguments, from_fd, from, to_fd, to)                                                        \
	int name parameters                                                                                                  \
	{                                                                                                                    \
		char full[PATH_MAX], other[PATH_MAX];                                                                        \
		enum kind fault;                                                                                             \
		long n;                                                                                                      \
		int done;                                                                                                    \
		absolute(full, from_fd, from);                                                                               \
		absolute(other, to_fd, to);                                                                                  \
		n = number(OTHER, other, &fault);                                                                            \
		if (fails(fault))                                                                                            \
			return -1;                                                                                           \
		done = REAL(name) arguments;                                                                                 \
		if (!done)                                                                                                   \
			logged(n, #name, full, other);                                                                       \
		return done;                                                                                                 \
	}

ON_PATH(int, fsync, (int fd), (fd), ROOM, fd, NULL)
ON_PATH(int, fdatasync, (int fd), (fd), ROOM, fd, NULL)
ON_PATH(int, ftruncate, (int fd, off_t size), (fd, size), OTHER, fd, NULL)
ON_PATH(int, ftruncate64, (int fd, off64_t size), (fd, size), OTHER, fd, NULL)
ON_PATH(int, unlink, (const char *path), (path), OTHER, AT_FDCWD, path)
ON_PATH(int, unlinkat, (int dirfd, const char *path, int flags), (dirfd, path, flags), OTHER, dirfd, path)
ON_PATH(int, rmdir, (const char *path), (path), OTHER, AT_FDCWD, path)
ON_PATH(int, mkdir, (const char *path, mode_t mode), (path, mode), ROOM, AT_FDCWD, path)
ON_PATH(int, mkdirat, (int dirfd, const char *path, mode_t mode), (dirfd, path, mode), ROOM, dirfd, path)
ON_PATHS(rename, (const char *from, const char *to), (from, to), AT_FDCWD, from, AT_FDCWD, to)
ON_PATHS(renameat, (int a, const char *from, int b, const char *to), (a, from, b, to), a, from, b, to)
ON_PATHS(renameat2, (int a, const char *from, int b, const char *to, unsigned int flags), (a, from, b, to, flags), a, from, b, to)
ON_PATHS(link, (const char *from, const char *to), (from, to), AT_FDCWD, from, AT_FDCWD, to)
ON_PATHS(linkat, (int a, const char *from, int b, const char *to, int flags), (a, from, b, to, flags), a, from, b, to)

/* Opening to write; to read, where that counts. */
#define OPENS(name, parameters, arguments, dirfd)                                                                              \
	int name parameters                                                                                                  \
	{                                                                                                                    \
		char full[PATH_MAX];                                                                                         \
		enum kind fault = NONE;                                                                                      \
		mode_t mode = 0;                                                                                             \
		long n = 0;                                                                                                  \
		int done;                                                                                                    \
		va_list rest;                                                                                                \
		va_start(rest, flags);                                                                                       \
		if (flags & (O_CREAT | __O_TMPFILE))                                                                         \
			mode = va_arg(rest, mode_t);                                                                         \
		va_end(rest);                                                                                                \
		if (reads || (flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC))) {                                            \
			absolute(full, dirfd, path);                                                                         \
			n = number(flags & O_CREAT ? ROOM : OTHER, full, &fault);                                            \
			if (fails(fault))                                                                                    \
				return -1;                                                                                   \
		}                                                                                                            \
		done = REAL(name) arguments;                                                                                 \
		if (done >= 0)                                                                                               \
			logged(n, #name, full, NULL);                                                                        \
		return done;                                                                                                 \
	}

OPENS(open, (const char *path, int flags, ...), (path, flags, mode), AT_FDCWD)
OPENS(open64, (const char *path, int flags, ...), (path, flags, mode), AT_FDCWD)
OPENS(openat, (int dirfd, const char *path, int flags, ...), (dirfd, path, flags, mode), dirfd)
OPENS(openat64, (int dirfd, const char *path, int flags, ...), (dirfd, path, flags, mode), dirfd)

/* Writing `bytes` bytes; `half` writes the first part of them. */
#define WRITES_BYTES(name, parameters, arguments, bytes, half)                                                                 \
	ssize_t name parameters                                                                                              \
	{                                                                                                                    \
		char full[PATH_MAX];                                                                                         \
		enum kind fault = NONE;                                                                                      \
		long n = 0;                                                                                                  \
		ssize_t done;                                                                                                \
		if (under[0]) {                                                                                              \
			absolute(full, fd, NULL);                                                                            \
			n = number(WRITES, full, &fault);                                                                    \
		}                                                                                                            \
		if ((fault == SHORT || fault == KILL) && (bytes) > 1) {                                                      \
			done = half;                                                                                         \
			if (fault == SHORT) {                                                                                \
				logged(n, #name, full, NULL);                                                                \
				return done;                                                                                 \
			}                                                                                                    \
		}                                                                                                            \
		if (fails(fault))                                                                                            \
			return -1;                                                                                           \
		done = REAL(name) arguments;                                                                                 \
		if (done >= 0)                                                                                               \
			logged(n, #name, full, NULL);                                                                        \
		return done;                                                                                                 \
	}

WRITES_BYTES(write, (int fd, const void *data, size_t size), (fd, data, size), size, REAL(write)(fd, data, size / 2))
WRITES_BYTES(pwrite, (int fd, const void *data, size_t size, off_t place), (fd, data, size, place), size,
	     REAL(pwrite)(fd, data, size / 2, place))
WRITES_BYTES(pwrite64, (int fd, const void *data, size_t size, off64_t place), (fd, data, size, place), size,
	     REAL(pwrite64)(fd, data, size / 2, place))
WRITES_BYTES(writev, (int fd, const struct iovec *parts, int count), (fd, parts, count), parts[0].iov_len,
	     REAL(write)(fd, parts[0].iov_base, parts[0].iov_len / 2))
WRITES_BYTES(copy_file_range, (int from, off64_t *from_at, int fd, off64_t *to_at, size_t size, unsigned int flags),
	     (from, from_at, fd, to_at, size, flags), size, REAL(copy_file_range)(from, from_at, fd, to_at, size / 2, flags))
