/**
 * A thread that talks to the kernel: it enters namespaces and waits in system calls, which the main
 * thread must not. It says when it has started, and answers each command of a batch with its outcome.
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { Command, Outcome, ThreadMessage } from './commands.ts';
import { execute } from './execution.ts';
import { OpenNamespaces } from './open-namespaces.ts';
import { SocketRegister } from './socket-register.ts';

const register = new SocketRegister(workerData as SharedArrayBuffer);

const answer = (outcome: Outcome): void => parentPort!.postMessage(outcome satisfies ThreadMessage);

parentPort!.on('message', (batch: readonly Command[]) => {
  const namespaces = new OpenNamespaces(register);
  for (const command of batch) execute(command, namespaces, answer);
  namespaces.close();
});

parentPort!.postMessage('ready' satisfies ThreadMessage);
