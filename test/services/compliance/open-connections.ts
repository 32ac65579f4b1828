/** Connections that stay open while services change. */
import assert from 'node:assert/strict';
import { eventually } from '#test/support/wait.ts';
import type { OpenConnections, Place, ServiceCluster } from '../service-cluster.ts';
import { answered } from './answers.ts';
import { both } from './records.ts';

/** The first of the connections of `openFifty`; as many follow over UDP. */
const TCP_CONNECTIONS = 25;

/** 25 connections over each protocol. */
export async function openFifty(
  cluster: ServiceCluster,
  from: Place,
  address: string,
  port = 80,
): Promise<OpenConnections> {
  const parts: OpenConnections[] = [];
  for (const protocol of both)
    parts.push(await cluster.open(from, { address, port, protocol }, TCP_CONNECTIONS));
  return {
    answers: parts.flatMap(({ answers }) => answers),
    broken: async () => (await Promise.all(parts.map((one) => one.broken()))).flat(),
    close: async () => void (await Promise.all(parts.map((one) => one.close()))),
  };
}

/** Names of the backends that answered, in the order of the answers. */
export function backendNames(answers: OpenConnections['answers']): string[] {
  return answered(answers).map(({ backend }) => backend);
}

/**
 * Exactly the connections of `openFifty` to removed backends are broken. At sockets, those over TCP are connections of the
 * client with the backend, which continue; the kernel ends what stays connected over UDP, shortly after the change.
 */
export async function assertBrokenBy(
  removed: readonly string[],
  cluster: ServiceCluster,
  connections: OpenConnections,
): Promise<void> {
  const ends = (name: string, at: number): boolean =>
    removed.includes(name) && !(cluster.hasSockets && at < TCP_CONNECTIONS);
  const expected = backendNames(connections.answers).filter(ends).sort();
  const check = async (): Promise<void> =>
    assert.deepEqual(backendNames(await connections.broken()).sort(), expected);
  await (cluster.hasSockets ? eventually(check) : check());
}
