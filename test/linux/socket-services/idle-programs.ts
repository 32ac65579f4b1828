import type { SocketPrograms } from '#linux/socket-services/kernel-table.ts';

/** Programs that run, and are not looked at. */
export const idlePrograms: SocketPrograms = {
  areActive: true,
  activate: () => undefined,
  lostParts: () => [],
  restore: () => undefined,
  uninstall: () => undefined,
};
