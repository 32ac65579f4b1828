import { defineError } from '#infra/errors/errors.ts';
import type { SocketTable } from '#linux/socket-services/api.ts';
import { problemText } from '#plugins/controller/problems.ts';

export const SocketProgramsLostError = defineError({
  name: 'SocketProgramsLostError',
  code: 'CV_SOCKET_PROGRAMS_LOST',
  unavailable: 'environment',
  remedy:
    'Find the process that has removed them from the bpf file system of the host, or has unmounted it. A resync makes them again: POST /controller/resync.',
});

/** Why sockets are not translated although the table is filled; undefined: they are, or there is no table. */
export function lostPartsProblem(
  table: Pick<SocketTable, 'lostParts'> | undefined,
): string | undefined {
  const lost = table?.lostParts() ?? [];
  if (lost.length === 0) return undefined;
  return problemText(new SocketProgramsLostError(lost.join('; ')));
}
