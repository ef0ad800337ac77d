/* shim: sees what a process does to the files below one folder, and spoils it when told to.
 *
 * Preloaded (LD_PRELOAD), it stands before the C library, so that SQLite's writes are seen as well as ours.
 * It sleeps until `shim_begin` names the folder. Operations are counted from 1; each has a letter:
 *
 *   o open (also for reading)   w write   t truncate   s sync   r rename   l link   u unlink   m mkdir   d rmdir
 *
 * The log, if asked for, has one line an operation that was carried out, in the order of the disk:
 *   letter, number, id of the open file, offset or flags, length, path, second path; then `length` bytes of data.
 * Fields are parted by tabs; paths are written as they are, so the tests use names without tabs and line ends.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#define FILES 4096
#define LONGEST 4096

enum how { NOTHING, FAIL, SHORT, KILL, TEAR };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char root[LONGEST];
static size_t root_length = 0;
static long opened[FILES]; /* id of each watched open file; 0 for all others */
static long next_id = 0, count = 0, fail_first = 0, fail_last = 0;
static int fail_errno = 0, log_file = -1;
static enum how how = NOTHING;
static char kinds[32];

#define REAL(result, name, ...)                                     \
    typedef result (*name##_type)(__VA_ARGS__);                     \
    static name##_type real_##name(void) {                          \
        static name##_type found = NULL;                            \
        if (!found) found = (name##_type)dlsym(RTLD_NEXT, #name);   \
        return found;                                               \
    }

REAL(int, open, const char *, int, ...)
REAL(int, open64, const char *, int, ...)
REAL(int, openat, int, const char *, int, ...)
REAL(int, openat64, int, const char *, int, ...)
REAL(int, creat, const char *, mode_t)
REAL(int, close, int)
REAL(ssize_t, write, int, const void *, size_t)
REAL(ssize_t, pwrite, int, const void *, size_t, off_t)
REAL(ssize_t, pwrite64, int, const void *, size_t, off64_t)
REAL(ssize_t, writev, int, const struct iovec *, int)
REAL(int, ftruncate, int, off_t)
REAL(int, ftruncate64, int, off64_t)
REAL(int, fsync, int)
REAL(int, fdatasync, int)
REAL(int, rename, const char *, const char *)
REAL(int, renameat, int, const char *, int, const char *)
REAL(int, link, const char *, const char *)
REAL(int, linkat, int, const char *, int, const char *, int)
REAL(int, unlink, const char *)
REAL(int, unlinkat, int, const char *, int)
REAL(int, mkdir, const char *, mode_t)
REAL(int, mkdirat, int, const char *, mode_t)
REAL(int, rmdir, const char *)

/* A fork while another thread is in here would leave the lock held for ever. */
static void hold(void) { pthread_mutex_lock(&lock); }
static void release(void) { pthread_mutex_unlock(&lock); }
__attribute__((constructor)) static void start(void) { pthread_atfork(hold, release, release); }

/* What the driver calls. */

void shim_begin(const char *folder, const char *log, const char *what, long first, long last, int error,
                const char *which) {
    pthread_mutex_lock(&lock);
    snprintf(root, sizeof root, "%s", folder);
    snprintf(kinds, sizeof kinds, "%s", which);
    memset(opened, 0, sizeof opened);
    count = next_id = 0;
    fail_first = first, fail_last = last, fail_errno = error;
    how = !strcmp(what, "fail") ? FAIL : !strcmp(what, "short") ? SHORT : !strcmp(what, "kill") ? KILL
        : !strcmp(what, "tear") ? TEAR : NOTHING;
    if (log_file >= 0) real_close()(log_file);
    log_file = -1;
    if (log && *log) {
        int made = real_open()(log, O_CREAT | O_TRUNC | O_WRONLY | O_APPEND, 0600);
        log_file = fcntl(made, F_DUPFD_CLOEXEC, 800); /* out of the way: the numbers of files stay as they are */
        real_close()(made);
    }
    root_length = strlen(root);
    pthread_mutex_unlock(&lock);
}

long shim_end(void) {
    pthread_mutex_lock(&lock);
    root_length = 0;
    pthread_mutex_unlock(&lock);
    return count;
}

static void put(const void *data, size_t length) {
    const char *next = data;
    while (length) {
        ssize_t done = real_write()(log_file, next, length);
        if (done <= 0) abort();
        next += done, length -= (size_t)done;
    }
}

static void tell(char letter, long id, long where, size_t length, const char *path, const char *other,
                 const void *data) {
    if (log_file < 0) return;
    char line[2 * LONGEST + 128];
    int size = snprintf(line, sizeof line, "%c\t%ld\t%ld\t%ld\t%zu\t%s\t%s\n", letter, count, id, where, length, path, other);
    put(line, (size_t)size);
    if (length) put(data, length);
}

void shim_mark(const char *text) {
    pthread_mutex_lock(&lock);
    tell('A', 0, 0, 0, text, "", NULL);
    pthread_mutex_unlock(&lock);
}

/* Which operations are ours. */

static int whole(char *out, int folder, const char *path) {
    char base[LONGEST];
    if (path[0] == '/') return snprintf(out, LONGEST, "%s", path);
    if (folder == AT_FDCWD) {
        if (!getcwd(base, sizeof base)) return -1;
    } else {
        char link[64];
        snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
        ssize_t length = readlink(link, base, sizeof base - 1);
        if (length < 0) return -1;
        base[length] = 0;
    }
    return snprintf(out, LONGEST, "%s/%s", base, path);
}

static int ours(char *out, int folder, const char *path) {
    if (!root_length || !path || whole(out, folder, path) < 0) return 0;
    return !strncmp(out, root, root_length) && (out[root_length] == '/' || !out[root_length]);
}

static int is_open(int file) { return root_length && file >= 0 && file < FILES && opened[file]; }

/* Count an operation; true if it is to be spoilt. A kill does not return; other signals may be handled. */
static int spoilt(char letter) {
    ++count;
    if (how == NOTHING || count < fail_first || count > fail_last || !strchr(kinds, letter)) return 0;
    if (how == KILL) {
        kill(getpid(), fail_errno ? fail_errno : SIGKILL);
        return 0;
    }
    return 1;
}

/* Files. */

static int note_open(int file, int flags, const char *path) {
    if (file >= 0 && file < FILES) {
        opened[file] = ++next_id;
        tell('o', opened[file], flags, 0, path, "", NULL);
    }
    return file;
}

static int any_open(int folder, const char *path, int flags, mode_t mode) {
    char full[LONGEST];
    pthread_mutex_lock(&lock);
    int result;
    if (!ours(full, folder, path)) {
        result = real_openat64()(folder, path, flags, mode);
        if (result >= 0 && result < FILES) opened[result] = 0;
    } else if (spoilt('o')) {
        errno = fail_errno, result = -1;
    } else {
        result = note_open(real_openat64()(folder, path, flags, mode), flags, full);
    }
    int kept = errno;
    pthread_mutex_unlock(&lock);
    errno = kept;
    return result;
}

#define MODE(last)                                       \
    mode_t mode = 0;                                     \
    if (flags & (O_CREAT | __O_TMPFILE)) {               \
        va_list given;                                   \
        va_start(given, last);                           \
        mode = va_arg(given, mode_t);                    \
        va_end(given);                                   \
    }

int open(const char *path, int flags, ...) { MODE(flags) return any_open(AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE(flags) return any_open(AT_FDCWD, path, flags, mode); }
int openat(int at, const char *path, int flags, ...) { MODE(flags) return any_open(at, path, flags, mode); }
int openat64(int at, const char *path, int flags, ...) { MODE(flags) return any_open(at, path, flags, mode); }
int creat(const char *path, mode_t mode) { return any_open(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }

int close(int file) {
    pthread_mutex_lock(&lock);
    if (file >= 0 && file < FILES) opened[file] = 0;
    pthread_mutex_unlock(&lock);
    return real_close()(file);
}

/* A write at `where`, or where the file stands if that is -1. */
static ssize_t any_write(int file, const void *data, size_t length, off64_t where) {
    ssize_t result;
    pthread_mutex_lock(&lock);
    if (!is_open(file)) {
        pthread_mutex_unlock(&lock); /* a pipe may block, and somebody else may be needed to empty it */
        return where < 0 ? real_write()(file, data, length) : real_pwrite64()(file, data, length, where);
    }
    int bad = spoilt('w');
    if (bad && how == FAIL) {
        errno = fail_errno, result = -1;
    } else {
        size_t part = bad ? length / 2 : length;
        off64_t from = where;
        if (where < 0) {
            struct stat64 found;
            int appends = fcntl(file, F_GETFL) & O_APPEND;
            from = appends && !fstat64(file, &found) ? found.st_size : lseek64(file, 0, SEEK_CUR);
        }
        result = where < 0 ? real_write()(file, data, part) : real_pwrite64()(file, data, part, where);
        if (result > 0) tell('w', opened[file], from, (size_t)result, "", "", data);
        if (bad && how == TEAR) kill(getpid(), SIGKILL);
    }
    int kept = errno;
    pthread_mutex_unlock(&lock);
    errno = kept;
    return result;
}

ssize_t write(int file, const void *data, size_t length) { return any_write(file, data, length, -1); }
ssize_t pwrite(int file, const void *data, size_t length, off_t at) { return any_write(file, data, length, at); }
ssize_t pwrite64(int file, const void *data, size_t length, off64_t at) { return any_write(file, data, length, at); }

ssize_t writev(int file, const struct iovec *parts, int number) {
    if (!is_open(file)) return real_writev()(file, parts, number);
    ssize_t done = 0;
    for (int part = 0; part < number; part++) {
        ssize_t one = any_write(file, parts[part].iov_base, parts[part].iov_len, -1);
        if (one < 0) return done ? done : one;
        done += one;
        if ((size_t)one < parts[part].iov_len) break;
    }
    return done;
}

/* The rest is of one shape: count, spoil or carry out and tell. */
#define CARRIED_OUT(watched, letter, call, id, where, path, other)        \
    do {                                                                  \
        int result;                                                       \
        pthread_mutex_lock(&lock);                                        \
        if (!(watched)) {                                                 \
            result = call;                                                \
        } else if (spoilt(letter)) {                                      \
            errno = fail_errno, result = -1;                              \
        } else {                                                          \
            result = call;                                                \
            if (!result) tell(letter, id, where, 0, path, other, NULL);   \
        }                                                                 \
        int kept = errno;                                                 \
        pthread_mutex_unlock(&lock);                                      \
        errno = kept;                                                     \
        return result;                                                    \
    } while (0)

int ftruncate(int file, off_t size) { CARRIED_OUT(is_open(file), 't', real_ftruncate()(file, size), opened[file], size, "", ""); }
int ftruncate64(int file, off64_t size) { CARRIED_OUT(is_open(file), 't', real_ftruncate64()(file, size), opened[file], size, "", ""); }
int fsync(int file) { CARRIED_OUT(is_open(file), 's', real_fsync()(file), opened[file], 0, "", ""); }
int fdatasync(int file) { CARRIED_OUT(is_open(file), 's', real_fdatasync()(file), opened[file], 0, "", ""); }

int renameat(int from, const char *one, int to, const char *other) {
    char a[LONGEST], b[LONGEST];
    CARRIED_OUT(ours(a, from, one) + ours(b, to, other), 'r', real_renameat()(from, one, to, other), 0, 0, a, b);
}
int rename(const char *one, const char *other) { return renameat(AT_FDCWD, one, AT_FDCWD, other); }

int linkat(int from, const char *one, int to, const char *other, int flags) {
    char a[LONGEST], b[LONGEST];
    CARRIED_OUT(ours(a, from, one) + ours(b, to, other), 'l', real_linkat()(from, one, to, other, flags), 0, 0, a, b);
}
int link(const char *one, const char *other) { return linkat(AT_FDCWD, one, AT_FDCWD, other, 0); }

int unlinkat(int at, const char *path, int flags) {
    char a[LONGEST];
    CARRIED_OUT(ours(a, at, path), flags & AT_REMOVEDIR ? 'd' : 'u', real_unlinkat()(at, path, flags), 0, 0, a, "");
}
int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }

int mkdirat(int at, const char *path, mode_t mode) {
    char a[LONGEST];
    CARRIED_OUT(ours(a, at, path), 'm', real_mkdirat()(at, path, mode), 0, 0, a, "");
}
int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }
