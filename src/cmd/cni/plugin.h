/* The IPAM plugin: another CNI executable, which the agent cannot run in its container. */
#ifndef PLUGIN_H
#define PLUGIN_H

#include <stddef.h>

/* The end of a plugin, as the agent reads it. */
enum {
  PLUGIN_EXITED = 'x',    /* with a status */
  PLUGIN_KILLED = 's',    /* by a signal */
  PLUGIN_NOT_FOUND = 'm', /* in CNI_PATH */
  PLUGIN_FAILED = 'f',    /* to start or to communicate; the output is the reason */
};

/* Runs the plugin and reports its end to the agent. Ends the program at the time limit. */
void run_plugin(const char *name, const char *command, const char *input, size_t length);

#endif
