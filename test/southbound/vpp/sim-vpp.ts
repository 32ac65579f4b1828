import { seededRandom } from '#infra/clock/manual.ts';
import { systemClock } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import { SimLinux } from '#sim/linux/linux.ts';
import { SimVpp } from '#sim/vpp/vpp.ts';
import type { Catalogue } from '#southbound/vpp/binapi/catalogue.ts';
import { BinapiClient } from '#southbound/vpp/binapi/client/client.ts';

export interface RunningSim {
  readonly client: BinapiClient;
  readonly linux: SimLinux;
  readonly vpp: SimVpp;
  stop(): Promise<void>;
}

/**
 * A simulated VPP on a simulated machine, and a client that is connected.
 * @param catalogue of the release that it pretends to be; default: the one that is bundled
 */
export async function startSim(catalogue?: Catalogue): Promise<RunningSim> {
  const random = seededRandom(1);
  const linux = new SimLinux(random);
  const needs = { clock: systemClock, random, log: silentLogger };
  const vpp = new SimVpp({ host: linux, ...needs, ...(catalogue && { catalogue }) });
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
