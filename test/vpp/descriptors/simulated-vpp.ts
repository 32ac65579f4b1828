import { seededRandom } from '#infra/clock/manual.ts';
import { systemClock } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import { SimLinux } from '#simulator/linux/linux.ts';
import { SimVpp } from '#simulator/vpp/vpp.ts';
import type { Catalog } from '#vpp/binapi/catalog.ts';
import { BinapiClient } from '#vpp/binapi/client/client.ts';

export interface RunningSim {
  readonly client: BinapiClient;
  readonly linux: SimLinux;
  readonly vpp: SimVpp;
  stop(): Promise<void>;
}

/**
 * A simulated VPP on a simulated machine, and a client that is connected.
 * @param catalog of the release that it pretends to be; default: the one that is bundled
 */
export async function startSim(catalog?: Catalog): Promise<RunningSim> {
  const random = seededRandom(1);
  const linux = new SimLinux(random);
  const needs = { clock: systemClock, random, log: silentLogger };
  const vpp = new SimVpp({ host: linux, ...needs, ...(catalog && { catalog }) });
  const client = new BinapiClient({ connect: vpp.connect(), ...needs });
  client.start();
  await client.whenConnected();
  return {
    client,
    linux,
    vpp,
    async stop() {
      await client.close();
      vpp.crash();
    },
  };
}
