import { connect } from 'node:net';

/** Whether a process listens on a unix socket; false for a stale socket. */
export async function isAnswered(path: string): Promise<boolean> {
  return (await answer(path)) === CONNECTED;
}

/** Whether no process listens on a unix socket for certain; false where others may not connect. */
export async function isUnanswered(path: string): Promise<boolean> {
  return ['ENOENT', 'ENOTDIR', 'ECONNREFUSED'].includes(await answer(path));
}

const CONNECTED = '';

/** @returns code of the failure */
function answer(path: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(CONNECTED);
    });
    socket.once('error', ({ code = 'unknown' }: NodeJS.ErrnoException) => resolve(code));
  });
}
