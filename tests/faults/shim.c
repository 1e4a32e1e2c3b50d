/*
 * Records what a power cut is decided by: every write, truncation, creation, renaming, removal and
 * sync below one directory, and every request and answer on a socket, in one total order.
 *
 * Preloaded (LD_PRELOAD) into the server. SHIM_FOLDER names the directory, SHIM_RECORD the file to
 * record to. The layout of a record is `struct head`, then the path, then the data; its reader is
 * powercut/recording.rs.
 *
 * A write and a sync are recorded as they begin and again as they end, since between the two they
 * may have happened or not. A size is changed while no write is under way, so that a write which
 * grows the file again has its true place after that, however long its thread was kept from running.
 * What changes names is recorded under the lock that the change is made
 * under, so that its place in the order is the true one. A socket's answer is recorded before it
 * is sent: whoever has seen it, it is in the record.
 *
 * SHIM_FAIL_SYNC may name a file: once it is there and says "2 name", the second sync of the
 * database from then on, by a thread whose name begins so, fails, and the file is removed. As Linux
 * has it, such an error is reported once to each descriptor that was open by then, by its next sync,
 * by any thread, and to none opened later.
 *
 * Calls that bypass libc and writes through a mapping are not seen. The test finds them out, since
 * the record then does not add up to the directory as it lies there.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind {
    WRITE_BEGAN = 1,
    WRITE_ENDED,
    TRUNCATED,
    CREATED,
    CREATED_FOLDER,
    RENAMED,
    REMOVED,
    SYNC_BEGAN,
    SYNC_ENDED,
    RECEIVED,
    SENT,
};

struct head {
    uint32_t kind;
    uint32_t path_bytes;
    uint64_t call; /* the same for beginning and end */
    uint64_t offset;
    uint64_t data_bytes;
    int64_t result;
};

/* Enough of a request for its headers, and of an answer for its status. */
enum { KEPT_RECEIVED = 4096, KEPT_SENT = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Held by writes together, and by what changes a size alone. */
static pthread_rwlock_t sizes = PTHREAD_RWLOCK_INITIALIZER;
static int record_fd = -1;
static uint64_t calls;
static char folder[PATH_MAX];
static size_t folder_bytes;

static void fail(const char *what)
{
    dprintf(2, "shim: %s\n", what);
    abort();
}

/* The real function behind one of ours. */
#define REAL(name) \
    static __typeof__(name) *real; \
    if (!real && !(real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name))) \
        fail("no " #name)

__attribute__((constructor)) static void begin(void)
{
    const char *record = getenv("SHIM_RECORD"), *name = getenv("SHIM_FOLDER");
    if (!record || !name || strlen(name) >= sizeof folder)
        fail("SHIM_RECORD and SHIM_FOLDER must be set");
    strcpy(folder, name);
    folder_bytes = strlen(folder);
    record_fd = (int)syscall(SYS_openat, AT_FDCWD, record,
                             O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (record_fd < 0)
        fail("SHIM_RECORD cannot be opened");
}

/* Appends one record; the lock is held. */
static void append(enum kind kind, uint64_t call, const char *path, size_t path_bytes,
                   uint64_t offset, const struct iovec *data, int parts, uint64_t data_bytes,
                   int64_t result)
{
    struct head head = { kind, (uint32_t)path_bytes, call, offset, data_bytes, result };
    struct iovec all[2 + IOV_MAX];
    int count = 2;
    uint64_t left = data_bytes;
    all[0] = (struct iovec){ &head, sizeof head };
    all[1] = (struct iovec){ (void *)path, path_bytes };
    for (int i = 0; i < parts && left > 0 && count < IOV_MAX; i++) {
        size_t bytes = data[i].iov_len < left ? data[i].iov_len : left;
        all[count++] = (struct iovec){ data[i].iov_base, bytes };
        left -= bytes;
    }
    uint64_t whole = sizeof head + path_bytes + data_bytes;
    if (left > 0 || syscall(SYS_writev, record_fd, all, count) != (long)whole)
        fail("a record could not be written whole");
}

static uint64_t note(enum kind kind, uint64_t call, const char *path, uint64_t offset,
                     const struct iovec *data, int parts, uint64_t data_bytes, int64_t result)
{
    pthread_mutex_lock(&lock);
    if (call == 0)
        call = ++calls;
    append(kind, call, path, strlen(path), offset, data, parts, data_bytes, result);
    pthread_mutex_unlock(&lock);
    return call;
}

static uint64_t total(const struct iovec *data, int parts)
{
    uint64_t bytes = 0;
    for (int i = 0; i < parts; i++)
        bytes += data[i].iov_len;
    return bytes;
}

/* The part of an absolute path below the folder, "" for the folder itself, or nothing. */
static const char *below(const char *path)
{
    if (strncmp(path, folder, folder_bytes) != 0)
        return NULL;
    path += folder_bytes;
    if (*path == '\0')
        return path;
    return *path == '/' ? path + 1 : NULL;
}

/* What a descriptor is open on, now. */
static int object(int fd, char name[PATH_MAX])
{
    char link[64];
    int before = errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t bytes = readlink(link, name, PATH_MAX - 1);
    errno = before;
    if (bytes < 0)
        return 0;
    name[bytes] = '\0';
    return 1;
}

/* The path below the folder of what a descriptor is open on, or nothing. */
static const char *file_of(int fd, char name[PATH_MAX])
{
    const char *path = object(fd, name) ? below(name) : NULL;
    /* What has been removed can no longer matter. */
    return path && !strstr(path, " (deleted)") ? path : NULL;
}

static int is_socket(int fd, char name[PATH_MAX])
{
    struct stat status;
    int before = errno;
    int socket = fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode);
    errno = before;
    return socket && object(fd, name);
}

/* The absolute path of a name that may be relative to a directory. */
static const char *absolute(int dir_fd, const char *name, char buffer[PATH_MAX])
{
    char dir[PATH_MAX];
    int before = errno;
    if (name[0] == '/')
        return name;
    int known = dir_fd == AT_FDCWD ? getcwd(dir, sizeof dir) != NULL : object(dir_fd, dir);
    errno = before;
    if (!known || snprintf(buffer, PATH_MAX, "%s/%s", dir, name) >= PATH_MAX)
        fail("a path cannot be determined");
    return buffer;
}

/* --- writes ------------------------------------------------------------------------------- */

/* Runs a positioned write between its two records. */
#define RECORDED_WRITE(fd, data, parts, offset, call_it) do { \
    char name[PATH_MAX]; \
    const char *path = file_of(fd, name); \
    if (!path) \
        return call_it; \
    pthread_rwlock_rdlock(&sizes); \
    uint64_t call = note(WRITE_BEGAN, 0, path, (uint64_t)(offset), data, parts, \
                         total(data, parts), 0); \
    ssize_t result = call_it; \
    int after = errno; \
    note(WRITE_ENDED, call, "", 0, NULL, 0, 0, result); \
    pthread_rwlock_unlock(&sizes); \
    errno = after; \
    return result; \
} while (0)

ssize_t pwrite(int fd, const void *data, size_t bytes, off_t offset)
{
    REAL(pwrite);
    struct iovec part = { (void *)data, bytes };
    RECORDED_WRITE(fd, &part, 1, offset, real(fd, data, bytes, offset));
}

ssize_t pwrite64(int fd, const void *data, size_t bytes, off64_t offset)
{
    REAL(pwrite64);
    struct iovec part = { (void *)data, bytes };
    RECORDED_WRITE(fd, &part, 1, offset, real(fd, data, bytes, offset));
}

ssize_t pwritev(int fd, const struct iovec *data, int parts, off_t offset)
{
    REAL(pwritev);
    RECORDED_WRITE(fd, data, parts, offset, real(fd, data, parts, offset));
}

ssize_t pwritev64(int fd, const struct iovec *data, int parts, off64_t offset)
{
    REAL(pwritev64);
    RECORDED_WRITE(fd, data, parts, offset, real(fd, data, parts, offset));
}

/* Where a write without an offset goes. No other thread writes the same descriptor meanwhile. */
static off_t position(int fd)
{
    struct stat status;
    if (fcntl(fd, F_GETFL) & O_APPEND)
        return fstat(fd, &status) == 0 ? status.st_size : 0;
    return lseek(fd, 0, SEEK_CUR);
}

static void sent(int fd, const struct iovec *data, int parts)
{
    char name[PATH_MAX];
    uint64_t bytes = total(data, parts);
    if (is_socket(fd, name))
        note(SENT, 0, name, 0, data, parts, bytes < KEPT_SENT ? bytes : KEPT_SENT, 0);
}

ssize_t write(int fd, const void *data, size_t bytes)
{
    REAL(write);
    struct iovec part = { (void *)data, bytes };
    sent(fd, &part, 1);
    RECORDED_WRITE(fd, &part, 1, position(fd), real(fd, data, bytes));
}

ssize_t writev(int fd, const struct iovec *data, int parts)
{
    REAL(writev);
    sent(fd, data, parts);
    RECORDED_WRITE(fd, data, parts, position(fd), real(fd, data, parts));
}

/* --- sockets ------------------------------------------------------------------------------ */

ssize_t send(int fd, const void *data, size_t bytes, int flags)
{
    REAL(send);
    struct iovec part = { (void *)data, bytes };
    sent(fd, &part, 1);
    return real(fd, data, bytes, flags);
}

ssize_t sendto(int fd, const void *data, size_t bytes, int flags, const struct sockaddr *to,
               socklen_t to_bytes)
{
    REAL(sendto);
    struct iovec part = { (void *)data, bytes };
    sent(fd, &part, 1);
    return real(fd, data, bytes, flags, to, to_bytes);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    REAL(sendmsg);
    sent(fd, message->msg_iov, (int)message->msg_iovlen);
    return real(fd, message, flags);
}

static ssize_t received(int fd, const struct iovec *data, int parts, ssize_t result)
{
    char name[PATH_MAX];
    int after = errno;
    if (result > 0 && is_socket(fd, name))
        note(RECEIVED, 0, name, 0, data, parts,
             result < KEPT_RECEIVED ? (uint64_t)result : KEPT_RECEIVED, result);
    errno = after;
    return result;
}

ssize_t read(int fd, void *data, size_t bytes)
{
    REAL(read);
    struct iovec part = { data, bytes };
    return received(fd, &part, 1, real(fd, data, bytes));
}

ssize_t readv(int fd, const struct iovec *data, int parts)
{
    REAL(readv);
    return received(fd, data, parts, real(fd, data, parts));
}

ssize_t recv(int fd, void *data, size_t bytes, int flags)
{
    REAL(recv);
    struct iovec part = { data, bytes };
    return received(fd, &part, 1, real(fd, data, bytes, flags));
}

ssize_t recvfrom(int fd, void *data, size_t bytes, int flags, struct sockaddr *from,
                 socklen_t *from_bytes)
{
    REAL(recvfrom);
    struct iovec part = { data, bytes };
    return received(fd, &part, 1, real(fd, data, bytes, flags, from, from_bytes));
}

/* --- syncs -------------------------------------------------------------------------------- */

/* Write-back errors so far, and how many of them each descriptor has been reported of. */
enum { DESCRIPTORS = 4096 };
static uint64_t errors;
static uint64_t reported[DESCRIPTORS];

static int is_database(const char *path)
{
    size_t bytes = strlen(path);
    return bytes >= 3 && strcmp(path + bytes - 3, "/db") == 0;
}

/* Whether the calling thread's sync is the one that is to fail. The lock is held. */
static int ordered_to_fail(void)
{
    static unsigned seen;
    char text[32] = "", wanted[16] = "", name[17] = "";
    unsigned which;
    const char *order = getenv("SHIM_FAIL_SYNC");
    int fd = order ? (int)syscall(SYS_openat, AT_FDCWD, order, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return 0;
    long bytes = syscall(SYS_read, fd, text, sizeof text - 1);
    syscall(SYS_close, fd);
    if (bytes <= 0 || sscanf(text, "%u %15[^\n]", &which, wanted) != 2)
        fail("SHIM_FAIL_SYNC has no order in it");
    prctl(PR_GET_NAME, name);
    if (strncmp(name, wanted, strlen(wanted)) != 0 || ++seen < which)
        return 0;
    seen = 0;
    return syscall(SYS_unlinkat, AT_FDCWD, order, 0) == 0;
}

/* What a sync that the disk did is answered with. */
static int with_errors(int fd, const char *path, int result)
{
    if (!is_database(path))
        return result;
    if (fd >= DESCRIPTORS)
        fail("a descriptor is too large");
    pthread_mutex_lock(&lock);
    if (ordered_to_fail())
        errors++;
    if (reported[fd] < errors) {
        reported[fd] = errors;
        errno = EIO;
        result = -1;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

#define RECORDED_SYNC(fd, call_it) do { \
    char name[PATH_MAX]; \
    const char *path = file_of(fd, name); \
    if (!path) \
        return call_it; \
    uint64_t call = note(SYNC_BEGAN, 0, path, 0, NULL, 0, 0, 0); \
    int result = with_errors(fd, path, call_it); \
    int after = errno; \
    note(SYNC_ENDED, call, "", 0, NULL, 0, 0, result); \
    errno = after; \
    return result; \
} while (0)

int fsync(int fd)
{
    REAL(fsync);
    RECORDED_SYNC(fd, real(fd));
}

int fdatasync(int fd)
{
    REAL(fdatasync);
    RECORDED_SYNC(fd, real(fd));
}

/* --- sizes -------------------------------------------------------------------------------- */

/* Changes a size while no write is under way. */
#define RECORDED_SIZE(path, bytes, call_it) do { \
    pthread_rwlock_wrlock(&sizes); \
    pthread_mutex_lock(&lock); \
    int result = call_it; \
    int after = errno; \
    if (result == 0) \
        append(TRUNCATED, ++calls, path, strlen(path), (uint64_t)(bytes), NULL, 0, 0, 0); \
    pthread_mutex_unlock(&lock); \
    pthread_rwlock_unlock(&sizes); \
    errno = after; \
    return result; \
} while (0)

/* Runs a change under the lock and records it if it was made. */
#define RECORDED_CHANGE(kind, path, path_length, size, call_it) do { \
    pthread_mutex_lock(&lock); \
    int result = call_it; \
    int after = errno; \
    if (result == 0) \
        append(kind, ++calls, path, path_length, (uint64_t)(size), NULL, 0, 0, 0); \
    pthread_mutex_unlock(&lock); \
    errno = after; \
    return result; \
} while (0)

int ftruncate(int fd, off_t bytes)
{
    REAL(ftruncate);
    char name[PATH_MAX];
    const char *path = file_of(fd, name);
    if (!path)
        return real(fd, bytes);
    RECORDED_SIZE(path, bytes, real(fd, bytes));
}

int ftruncate64(int fd, off64_t bytes)
{
    REAL(ftruncate64);
    char name[PATH_MAX];
    const char *path = file_of(fd, name);
    if (!path)
        return real(fd, bytes);
    RECORDED_SIZE(path, bytes, real(fd, bytes));
}

/* Reserving space may change the size, and what a power cut leaves of that is not modelled. */
static void not_reserved(int fd)
{
    char name[PATH_MAX];
    if (file_of(fd, name))
        fail("fallocate is not modelled");
}

int fallocate64(int fd, int mode, off64_t offset, off64_t bytes)
{
    REAL(fallocate64);
    not_reserved(fd);
    return real(fd, mode, offset, bytes);
}

int fallocate(int fd, int mode, off_t offset, off_t bytes)
{
    REAL(fallocate);
    not_reserved(fd);
    return real(fd, mode, offset, bytes);
}

int posix_fallocate64(int fd, off64_t offset, off64_t bytes)
{
    REAL(posix_fallocate64);
    not_reserved(fd);
    return real(fd, offset, bytes);
}

int posix_fallocate(int fd, off_t offset, off_t bytes)
{
    REAL(posix_fallocate);
    not_reserved(fd);
    return real(fd, offset, bytes);
}

/* --- names -------------------------------------------------------------------------------- */

/* An error from before a descriptor was open is none of its. The lock is held. */
static void opened(int fd)
{
    if (0 <= fd && fd < DESCRIPTORS)
        reported[fd] = errors;
}

/* Opens under the lock, and records what that created or emptied. */
#define RECORDED_OPEN(dir_fd, file, flags, call_it) do { \
    char buffer[PATH_MAX]; \
    const char *path = flags & (O_CREAT | O_TRUNC) ? below(absolute(dir_fd, file, buffer)) : NULL; \
    if (!path) \
        return call_it; \
    pthread_mutex_lock(&lock); \
    int before = errno; \
    int existed = faccessat(dir_fd, file, F_OK, 0) == 0; \
    errno = before; \
    int fd = call_it; \
    int after = errno; \
    opened(fd); \
    if (fd >= 0 && !existed) \
        append(CREATED, ++calls, path, strlen(path), 0, NULL, 0, 0, 0); \
    else if (fd >= 0 && flags & O_TRUNC) \
        append(TRUNCATED, ++calls, path, strlen(path), 0, NULL, 0, 0, 0); \
    pthread_mutex_unlock(&lock); \
    errno = after; \
    return fd; \
} while (0)

static mode_t mode_of(int flags, va_list rest)
{
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
}

#define WITH_MODE(flags) \
    va_list rest; \
    va_start(rest, flags); \
    mode_t mode = mode_of(flags, rest); \
    va_end(rest)

int open(const char *file, int flags, ...)
{
    REAL(open);
    WITH_MODE(flags);
    RECORDED_OPEN(AT_FDCWD, file, flags, real(file, flags, mode));
}

int open64(const char *file, int flags, ...)
{
    REAL(open64);
    WITH_MODE(flags);
    RECORDED_OPEN(AT_FDCWD, file, flags, real(file, flags, mode));
}

int openat(int dir_fd, const char *file, int flags, ...)
{
    REAL(openat);
    WITH_MODE(flags);
    RECORDED_OPEN(dir_fd, file, flags, real(dir_fd, file, flags, mode));
}

int openat64(int dir_fd, const char *file, int flags, ...)
{
    REAL(openat64);
    WITH_MODE(flags);
    RECORDED_OPEN(dir_fd, file, flags, real(dir_fd, file, flags, mode));
}

#define RECORDED_NAME(kind, dir_fd, file, call_it) do { \
    char buffer[PATH_MAX]; \
    const char *path = below(absolute(dir_fd, file, buffer)); \
    if (!path) \
        return call_it; \
    RECORDED_CHANGE(kind, path, strlen(path), 0, call_it); \
} while (0)

int mkdir(const char *file, mode_t mode)
{
    REAL(mkdir);
    RECORDED_NAME(CREATED_FOLDER, AT_FDCWD, file, real(file, mode));
}

int mkdirat(int dir_fd, const char *file, mode_t mode)
{
    REAL(mkdirat);
    RECORDED_NAME(CREATED_FOLDER, dir_fd, file, real(dir_fd, file, mode));
}

int unlink(const char *file)
{
    REAL(unlink);
    RECORDED_NAME(REMOVED, AT_FDCWD, file, real(file));
}

int unlinkat(int dir_fd, const char *file, int flags)
{
    REAL(unlinkat);
    RECORDED_NAME(REMOVED, dir_fd, file, real(dir_fd, file, flags));
}

int rmdir(const char *file)
{
    REAL(rmdir);
    RECORDED_NAME(REMOVED, AT_FDCWD, file, real(file));
}

/* Both paths of a renaming, with a zero between them. */
static size_t both(int from_fd, const char *from, int to_fd, const char *to,
                   char paths[2 * PATH_MAX])
{
    char buffer[PATH_MAX];
    const char *path = below(absolute(from_fd, from, buffer));
    if (!path)
        return 0;
    size_t bytes = strlen(path) + 1;
    memcpy(paths, path, bytes);
    path = below(absolute(to_fd, to, buffer));
    if (!path)
        fail("a renaming out of the folder is not modelled");
    memcpy(paths + bytes, path, strlen(path));
    return bytes + strlen(path);
}

#define RECORDED_RENAME(from_fd, from, to_fd, to, call_it) do { \
    char paths[2 * PATH_MAX]; \
    size_t bytes = both(from_fd, from, to_fd, to, paths); \
    if (bytes == 0) \
        return call_it; \
    RECORDED_CHANGE(RENAMED, paths, bytes, 0, call_it); \
} while (0)

int rename(const char *from, const char *to)
{
    REAL(rename);
    RECORDED_RENAME(AT_FDCWD, from, AT_FDCWD, to, real(from, to));
}

int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
    REAL(renameat);
    RECORDED_RENAME(from_fd, from, to_fd, to, real(from_fd, from, to_fd, to));
}

int renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags)
{
    REAL(renameat2);
    RECORDED_RENAME(from_fd, from, to_fd, to, real(from_fd, from, to_fd, to, flags));
}
