/** Connections that stay open while services change. */
import type { OpenConnections, Place, ServiceCluster } from '../service-cluster.ts';
import { answered } from './answers.ts';
import { both } from './records.ts';

/** 25 connections over each protocol. */
export async function openFifty(
  cluster: ServiceCluster,
  from: Place,
  address: string,
  port = 80,
): Promise<OpenConnections> {
  const parts: OpenConnections[] = [];
  for (const protocol of both)
    parts.push(await cluster.open(from, { address, port, protocol }, 25));
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
