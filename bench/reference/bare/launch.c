/*
 * Runs programs in turn, as the container runtime runs contiv-cni, and measures each.
 *
 * launch <rounds> <file for standard input> <program>...
 *
 * Prints for each run the number of the program, milliseconds from start to end, milliseconds of processor time,
 * peak memory in kB (ru_maxrss), and the exit status. It is linked statically and small, because the peak of a
 * program includes that of the process which started it.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static double milliseconds(struct timeval time) {
  return (double)time.tv_sec * 1e3 + (double)time.tv_usec / 1e3;
}

static void run(int number, const char *input, const char *program) {
  int status = 0;
  struct rusage usage;
  double start = now_ms();
  pid_t pid = vfork();
  if (pid == 0) {
    if (dup2(open(input, O_RDONLY), 0) < 0 || dup2(open("/dev/null", O_WRONLY), 1) < 0) _exit(126);
    execl(program, program, (char *)NULL);
    _exit(127);
  }
  wait4(pid, &status, 0, &usage);
  printf("%d %.3f %.3f %ld %d\n", number, now_ms() - start,
         milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime), usage.ru_maxrss,
         WIFEXITED(status) ? WEXITSTATUS(status) : 128);
}

int main(int count, char **arguments) {
  if (count < 4) return 1;
  for (int round = 0; round < atoi(arguments[1]); round++)
    for (int program = 3; program < count; program++)
      run(program - 3, arguments[2], arguments[program]);
  return 0;
}
