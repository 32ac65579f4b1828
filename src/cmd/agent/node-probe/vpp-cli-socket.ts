/**
 * One command on the CLI socket of VPP. A command that waits, such as `ping`, must not run over the binary API: VPP
 * loses the requests that arrive there meanwhile. On this socket each connection has a process of its own.
 */
import { connect } from 'node:net';
import type { Clock } from '#infra/clock/clock.ts';
import { defineError, errorText } from '#infra/errors/errors.ts';

/** VPP cannot be asked on its CLI socket, or does not answer there. */
export const VppCliSocketError = defineError({
  name: 'VppCliSocketError',
  code: 'CV_VPP_CLI_SOCKET',
  status: 503,
  remedy:
    'Check that VPP runs, and that its startup configuration has cli-listen with cli.sock beside the socket of the binary API, in a folder that the agent sees.',
});

export interface CliCommand {
  /** Path of the socket. */
  readonly socket: string;
  readonly command: string;
  /** The output is complete when it matches. */
  readonly end: RegExp;
  readonly timeoutMs: number;
  readonly clock: Clock;
}

/** @returns the output, with the echo and the banner of a terminal @throws VppCliSocketError */
export async function runCliCommand(deps: CliCommand): Promise<string> {
  const { socket: where, command, end, timeoutMs, clock } = deps;
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const fail = (text: string, cause?: unknown): void =>
    reject(new VppCliSocketError(text, { where, cause }));
  const socket = connect(where);
  const timer = clock.timer(timeoutMs, () => fail(`no answer within ${timeoutMs / 1000} s`));
  let output = '';
  // It begins with options of telnet, which are no UTF-8.
  socket.setEncoding('latin1');
  socket.on('data', (piece: string) => {
    output += piece;
    if (end.test(output)) resolve(output);
  });
  socket.on('error', (thrown) => fail(errorText(thrown), thrown));
  socket.on('close', () => fail('VPP closed the connection'));
  socket.write(`${command}\n`);
  try {
    return await promise;
  } finally {
    timer.cancel();
    socket.destroy();
  }
}
