/** The part of an event loop that never has anything to do, for a watcher whose events a test takes itself. */
export const idleLoop = {
  isIdle: true,
  queueLength: 0,
  whenShorterThan: async (): Promise<void> => undefined,
} as const;
