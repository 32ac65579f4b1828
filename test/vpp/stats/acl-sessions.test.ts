/** How often VPP is asked for its table of ACL sessions, and what is reported. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { ManualClock } from '#infra/clock/manual.ts';
import type { Logger } from '#infra/log/log.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { VppClient } from '#vpp/binapi/api.ts';
import { AclSessionTable } from '#vpp/stats/acl-sessions.ts';

const LIMIT = 1000;

describe('the table of ACL sessions', () => {
  let inTable = 0;
  let reads = 0;
  let warnings: string[] = [];
  let clock = new ManualClock();
  let generation = 1;
  let table: AclSessionTable;

  beforeEach(() => {
    inTable = 0;
    reads = 0;
    warnings = [];
    clock = new ManualClock();
    generation = 1;
    const client = {
      get generation() {
        return generation;
      },
      has: () => true,
      async request(name: string) {
        if (name !== 'cli_inband') return { conn_table_max_entries: BigInt(LIMIT) };
        reads++;
        const counts = [
          `    sw_if_index 3: add ${inTable} - del 0 = ${inTable}; epoch chg: 0`,
          '    sw_if_index 4: add 9 - del 9 = 0; epoch chg: 0',
        ];
        return {
          reply: [`Sessions total: add 9999 - del 1 = ${inTable}`, 'Thread #0:', ...counts].join(
            '\n',
          ),
        };
      },
      dump: async () => [{ interface_name: 'tap3', tag: 'tap-pod' }],
    } as unknown as VppClient;
    const log = {
      ...silentLogger,
      warn: ({ err }: { err: Error }) => void warnings.push(`${err}`),
    } as unknown as Logger;
    table = new AclSessionTable({ client, clock, log });
  });

  it('is not read while the sessions that were made cannot fill it', async () => {
    assert.deepEqual(await table.read(100), { atMost: 100, limit: LIMIT });
    assert.deepEqual(await table.read(899), { atMost: 899, limit: LIMIT });
    assert.equal(reads, 0);
  });

  it('is read when they may, and counted on from there', async () => {
    inTable = 20;
    assert.deepEqual(await table.read(900), { atMost: 20, limit: LIMIT });
    assert.deepEqual(await table.read(1000), { atMost: 120, limit: LIMIT });
    assert.equal(reads, 1);
    assert.deepEqual(warnings, []);
  });

  it('is reported once when it is nearly full, with the interface, and read once a minute', async () => {
    inTable = 950;
    await table.read(950);
    await table.read(1100);
    assert.equal(reads, 1);
    assert.equal(warnings.length, 1);
    assert.match(
      warnings[0]!,
      /950 of 1000 sessions; interface tap3 tap-pod has most of them, 950/,
    );
    await clock.advance(60_000);
    inTable = 940;
    assert.deepEqual(await table.read(1200), { atMost: 940, limit: LIMIT });
    assert.equal(warnings.length, 1);
    await clock.advance(60_000);
    inTable = 100;
    assert.deepEqual(await table.read(1300), { atMost: 100, limit: LIMIT });
    assert.equal(reads, 3);
  });

  it('begins at zero with another VPP, and continues when its counters are cleared', async () => {
    await table.read(500);
    assert.deepEqual(await table.read(10), { atMost: 510, limit: LIMIT });
    generation++;
    assert.deepEqual(await table.read(10), { atMost: 10, limit: LIMIT });
  });
});
