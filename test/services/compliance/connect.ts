/** Connections of a client over TCP and UDP. */
import type { Answer, Place, ServiceCluster } from '../service-cluster.ts';
import { both } from './records.ts';

/** @param count connections for each protocol */
export async function connectBoth(
  cluster: ServiceCluster,
  from: Place,
  address: string,
  port: number,
  count = 1,
): Promise<readonly Answer[]> {
  const answers = await Promise.all(
    both.map((protocol) => cluster.connect(from, { address, port, protocol }, count)),
  );
  return answers.flat();
}
