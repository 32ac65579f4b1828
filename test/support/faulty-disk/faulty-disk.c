/*
 * A library to preload: a disk that fails. It acts on the files below the folder FAULTY_DISK_FOLDER
 * and is controlled through the file FAULTY_DISK_CONTROL, whose layout is `struct control`.
 *
 * It fails a call with an error, writes only a part of the data first, keeps failing (a full disk),
 * and records how much of each file was synced, so that a test can drop the rest as a loss of power
 * does. No call really syncs.
 *
 * LevelDB writes through stdio, whose own calls of write() cannot be replaced: its files are opened
 * as streams with a write function of this library.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WRITE = 1, SYNC = 2, OPEN = 4, RENAME = 8, TRUNCATE = 16, UNLINK = 32 };
#define MAX_FILES 1024
#define MAX_FDS 65536

struct control {
  /* set by the test */
  uint32_t calls;     /* which calls can fail */
  uint32_t countdown; /* the call that makes it 0 fails; 0: none */
  uint32_t error;     /* errno */
  uint32_t part;      /* thousandths of the data that the failing write writes */
  uint32_t sticky;    /* all such calls after that one fail, too */
  uint32_t lie;       /* a sync succeeds without syncing */
  /* set by the library */
  uint32_t failing; /* a sticky fault has begun */
  uint32_t faults;  /* number of calls that failed */
  uint32_t seen;    /* number of calls that could fail */
  uint32_t files;
  struct {
    uint64_t inode;
    uint64_t synced;
  } file[MAX_FILES];
};

static struct control *control;
static const char *folder;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned char is_tracked[MAX_FDS];

#define REAL(name) \
  static __typeof__(name) *real; \
  if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

__attribute__((constructor)) static void attach(void) {
  const char *path = getenv("FAULTY_DISK_CONTROL");
  folder = getenv("FAULTY_DISK_FOLDER");
  if (!path || !folder) return;
  int (*real_open)(const char *, int, ...) = dlsym(RTLD_NEXT, "open");
  int fd = real_open(path, O_RDWR);
  if (fd < 0) return;
  void *map = mmap(NULL, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (map != MAP_FAILED) control = map;
  close(fd);
}

static int is_below(const char *path) {
  if (!control) return 0;
  size_t length = strlen(folder);
  return strncmp(path, folder, length) == 0 && path[length] == '/';
}

static int is_tracked_fd(int fd) { return control && fd >= 0 && fd < MAX_FDS && is_tracked[fd]; }

static void track(int fd, int tracked) {
  if (fd >= 0 && fd < MAX_FDS) is_tracked[fd] = tracked;
}

/* 0, or the error with which the call fails. */
static int fault(uint32_t call) {
  int error = 0;
  pthread_mutex_lock(&mutex);
  if (control->calls & call) {
    control->seen++;
    if (control->failing) error = control->error;
    else if (control->countdown > 0 && --control->countdown == 0) {
      error = control->error;
      control->failing = control->sticky;
    }
    if (error) control->faults++;
  }
  pthread_mutex_unlock(&mutex);
  return error;
}

static void set_synced(int fd, int created) {
  struct stat status;
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) return;
  pthread_mutex_lock(&mutex);
  uint32_t at = 0;
  while (at < control->files && control->file[at].inode != status.st_ino) at++;
  if (at == control->files && created && at < MAX_FILES) {
    control->files++;
    control->file[at].inode = status.st_ino;
  }
  if (at < control->files) control->file[at].synced = created ? 0 : (uint64_t)status.st_size;
  pthread_mutex_unlock(&mutex);
}

static int fail(int error) {
  errno = error;
  return -1;
}

static int open_file(int (*real)(const char *, int, ...), const char *path, int flags, mode_t mode) {
  if (!is_below(path)) return real(path, flags, mode);
  int writes = (flags & O_ACCMODE) != O_RDONLY;
  if (writes) {
    int error = fault(OPEN);
    if (error) return fail(error);
  }
  struct stat status;
  int created = writes && ((flags & O_TRUNC) || ((flags & O_CREAT) && stat(path, &status) != 0));
  int fd = real(path, flags, mode);
  track(fd, fd >= 0);
  if (fd >= 0 && created) set_synced(fd, 1);
  return fd;
}

#define OPEN_FUNCTION(name) \
  int name(const char *path, int flags, ...) { \
    REAL(name); \
    va_list arguments; \
    va_start(arguments, flags); \
    mode_t mode = va_arg(arguments, mode_t); \
    va_end(arguments); \
    return open_file(real, path, flags, mode); \
  }
OPEN_FUNCTION(open)
OPEN_FUNCTION(open64)

int close(int fd) {
  REAL(close);
  track(fd, 0);
  return real(fd);
}

static ssize_t real_write(int fd, const void *data, size_t size) {
  REAL(write);
  return real(fd, data, size);
}

ssize_t write(int fd, const void *data, size_t size) {
  if (is_tracked_fd(fd)) {
    int error = fault(WRITE);
    if (error) {
      if (control->part) real_write(fd, data, size * control->part / 1000);
      return fail(error);
    }
  }
  return real_write(fd, data, size);
}

static ssize_t write_at(ssize_t (*real)(int, const void *, size_t, off64_t), int fd,
                        const void *data, size_t size, off64_t offset) {
  int error = is_tracked_fd(fd) ? fault(WRITE) : 0;
  if (!error) return real(fd, data, size, offset);
  if (control->part) real(fd, data, size * control->part / 1000, offset);
  return fail(error);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset) {
  REAL(pwrite64);
  return write_at(real, fd, data, size, offset);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset) {
  REAL(pwrite64);
  return write_at((void *)real, fd, data, size, offset);
}

static int sync_file(int fd, int (*real)(int)) {
  if (!is_tracked_fd(fd)) return real(fd);
  int error = fault(SYNC);
  if (error) return fail(error);
  if (!control->lie) set_synced(fd, 0);
  return 0;
}

int fsync(int fd) {
  REAL(fsync);
  return sync_file(fd, real);
}

int fdatasync(int fd) {
  REAL(fdatasync);
  return sync_file(fd, real);
}

int ftruncate64(int fd, off64_t length) {
  REAL(ftruncate64);
  int error = is_tracked_fd(fd) ? fault(TRUNCATE) : 0;
  return error ? fail(error) : real(fd, length);
}

int rename(const char *from, const char *to) {
  REAL(rename);
  int error = is_below(from) ? fault(RENAME) : 0;
  return error ? fail(error) : real(from, to);
}

int unlink(const char *path) {
  REAL(unlink);
  int error = is_below(path) ? fault(UNLINK) : 0;
  return error ? fail(error) : real(path);
}

/* Streams. */

struct stream {
  FILE *file;
  int fd;
  struct stream *next;
};
static struct stream *streams;

static ssize_t stream_write(void *cookie, const char *data, size_t size) {
  struct stream *stream = cookie;
  size_t length = size;
  int error = fault(WRITE);
  if (error) length = size * control->part / 1000;
  ssize_t written = length > 0 ? real_write(stream->fd, data, length) : 0;
  if (error) errno = error;
  /* less than `size` is a failure */
  return written < 0 ? 0 : written;
}

static int stream_close(void *cookie) {
  struct stream *stream = cookie;
  pthread_mutex_lock(&mutex);
  for (struct stream **link = &streams; *link; link = &(*link)->next)
    if (*link == stream) {
      *link = stream->next;
      break;
    }
  pthread_mutex_unlock(&mutex);
  int result = close(stream->fd);
  free(stream);
  return result;
}

FILE *fopen64(const char *path, const char *mode) {
  REAL(fopen64);
  const char *name = strrchr(path, '/');
  /* LOG is for people. */
  if (!is_below(path) || mode[0] == 'r' || (name && strncmp(name, "/LOG", 4) == 0))
    return real(path, mode);
  int flags = O_WRONLY | O_CREAT | (mode[0] == 'a' ? O_APPEND : O_TRUNC);
  int fd = open64(path, flags, 0644);
  if (fd < 0) return NULL;
  struct stream *stream = malloc(sizeof *stream);
  stream->fd = fd;
  cookie_io_functions_t functions = {NULL, stream_write, NULL, stream_close};
  stream->file = fopencookie(stream, mode, functions);
  pthread_mutex_lock(&mutex);
  stream->next = streams;
  streams = stream;
  pthread_mutex_unlock(&mutex);
  return stream->file;
}

int fileno(FILE *file) {
  REAL(fileno);
  int fd = -1;
  pthread_mutex_lock(&mutex);
  for (struct stream *stream = streams; stream; stream = stream->next)
    if (stream->file == file) fd = stream->fd;
  pthread_mutex_unlock(&mutex);
  return fd >= 0 ? fd : real(file);
}
