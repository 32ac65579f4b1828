/**
 * The thread that talks to the kernel: it enters namespaces and waits in system calls, which the main
 * thread must not. It answers each batch with the outcomes of its commands.
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { Command } from './commands.ts';
import { execute } from './execution.ts';
import { OpenNamespaces } from './open-namespaces.ts';
import { SocketRegister } from './socket-register.ts';

const register = new SocketRegister(workerData as SharedArrayBuffer);

parentPort!.on('message', (batch: readonly Command[]) => {
  const namespaces = new OpenNamespaces(register);
  const outcomes = batch.map((command) => execute(command, namespaces));
  namespaces.close();
  parentPort!.postMessage(outcomes);
});
