/*
 * Runs calls of a CNI executable at once, as the container runtime does, and measures each.
 *
 * burst <file for standard input> <program> <calls>
 *
 * A line of the file of calls has four words: command, container, path of the namespace, pod. Prints for each call, in
 * the order of the file, milliseconds from the first start to its start and to its end, and its exit status.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_CALLS 1000

struct call {
  char command[48], container[128], path[160], arguments[160];
  pid_t pid;
  double start, end;
  int status;
};

static struct call calls[MAX_CALLS];

static double now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int read_calls(const char *file) {
  FILE *lines = fopen(file, "r");
  char command[16], container[100], path[120], pod[64];
  int count = 0;
  if (lines == NULL) return 0;
  while (count < MAX_CALLS &&
         fscanf(lines, "%15s %99s %119s %63s", command, container, path, pod) == 4) {
    struct call *call = &calls[count++];
    snprintf(call->command, sizeof call->command, "CNI_COMMAND=%s", command);
    snprintf(call->container, sizeof call->container, "CNI_CONTAINERID=%s", container);
    snprintf(call->path, sizeof call->path, "CNI_NETNS=%s", path);
    snprintf(call->arguments, sizeof call->arguments,
             "CNI_ARGS=K8S_POD_NAMESPACE=default;K8S_POD_NAME=%s", pod);
  }
  fclose(lines);
  return count;
}

static void start(struct call *call, const char *input, const char *program) {
  char *variables[] = {call->command, call->container,  "CNI_IFNAME=eth0",
                       call->path,    call->arguments, NULL};
  call->start = now_ms();
  call->pid = vfork();
  if (call->pid == 0) {
    if (dup2(open(input, O_RDONLY), 0) < 0 || dup2(open("/dev/null", O_WRONLY), 1) < 0) _exit(126);
    execle(program, program, (char *)NULL, variables);
    _exit(127);
  }
}

int main(int count, char **arguments) {
  if (count != 4) return 1;
  int number = read_calls(arguments[3]);
  for (int i = 0; i < number; i++) start(&calls[i], arguments[1], arguments[2]);
  for (int ended = 0; ended < number; ended++) {
    int status = 0;
    pid_t pid = wait(&status);
    for (int i = 0; i < number; i++) {
      if (calls[i].pid != pid) continue;
      calls[i].end = now_ms();
      calls[i].status = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    }
  }
  for (int i = 0; i < number; i++)
    printf("%.3f %.3f %d\n", calls[i].start - calls[0].start, calls[i].end - calls[0].start,
           calls[i].status);
  return 0;
}
