/** A host with a simulated VPP and a client that is connected to it, and what several tests send. */
import assert from 'node:assert/strict';
import { ManualClock, seededRandom } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import { SimLinux } from '#simulator/linux/linux.ts';
import { SimVpp } from '#simulator/vpp/vpp.ts';
import { fibPath } from '#test/vpp/descriptors/messages.ts';
import { toAddress, toPrefix } from '#vpp/binapi/addresses.ts';
import { BinapiClient } from '#vpp/binapi/client/client.ts';
import { VppRefusedError } from '#vpp/binapi/retval-error.ts';

export const NONE = 0xffff_ffff;
export const noMac = new Uint8Array(6);
export const allInterfaces = { sw_if_index: NONE, name_filter_valid: false, name_filter: '' };

export async function machine() {
  const clock = new ManualClock();
  const host = new SimLinux(seededRandom(1));
  const vpp = new SimVpp({ host, clock, random: seededRandom(2), log: silentLogger });
  const client = new BinapiClient({
    connect: vpp.connect(),
    clock,
    random: seededRandom(3),
    log: silentLogger,
  });
  client.start();
  await client.whenConnected();
  return { clock, host, vpp, client };
}

export type Machine = Awaited<ReturnType<typeof machine>>;

export function refusedWith(retval: number) {
  return (error: unknown) => {
    assert.ok(error instanceof VppRefusedError, String(error));
    assert.equal(error.retval, retval);
    return true;
  };
}

export function routeTo(prefix: string, sw_if_index: number, hop: string) {
  return {
    is_add: true,
    is_multipath: true,
    route: {
      table_id: 0,
      stats_index: 0,
      prefix: toPrefix(prefix),
      paths: [fibPath({ sw_if_index }, toAddress(hop).un)],
    },
  };
}
